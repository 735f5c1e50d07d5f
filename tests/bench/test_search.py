# SPDX-License-Identifier: MIT
"""tools/bench search: as many settings of every system, drawn alike, the best chosen, nothing run twice, what it refuses."""
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import cells  # noqa: E402
import choice  # noqa: E402
import grid  # noqa: E402
import keep  # noqa: E402
import search  # noqa: E402
from lab import LabError  # noqa: E402


def draw(system: str, count: int = 12, seed: int = 1, kernel: str = "6.12"):
    return grid.draw(system, count, seed, kernel)


def run(pace: float) -> Dict[str, Any]:
    """A run with only what a score reads."""
    return {"commit": "c", "figures": {choice.PACE: pace}}


class Draw(unittest.TestCase):
    def test_the_same_seed_draws_the_same_settings_and_another_others(self):
        for system in grid.GRIDS:
            self.assertEqual(draw(system), draw(system))
            self.assertNotEqual(draw(system), draw(system, seed=2))

    def test_more_settings_begin_with_the_fewer(self):
        for system in grid.GRIDS:
            self.assertEqual(draw(system, 20)[:12], draw(system))

    def test_every_system_has_the_same_number_of_different_settings(self):
        for count in (1, 5, 12, 40):
            for system in grid.GRIDS:
                self.assertEqual(len({setting.variant for setting in draw(system, count)}), count, system)

    def test_every_system_with_knobs_is_searched_ours_too(self):
        self.assertEqual(set(grid.GRIDS), set(cells.NAMED))
        self.assertEqual(set(grid.GRIDS), set(cells.SYSTEMS) - {"first-touch", "oracle"})

    def test_what_people_recommend_is_tried_first(self):
        self.assertEqual([setting.name for setting in draw("damon")][:6],
                         ["default", "by-hand", "damo", "damo-slow", "hmsdk", "drawn"])

    def test_drawn_settings_lie_on_the_grid(self):
        for system in grid.GRIDS:
            for setting in draw(system, 30):
                if setting.name == "drawn":
                    left = dict(setting.knobs)
                    for axis in grid.axes(system, "6.12"):
                        taken = next(part for part in sorted(axis, key=len, reverse=True) if part.items() <= left.items())
                        left = {name: value for name, value in left.items() if name not in taken}
                    self.assertEqual(left, {}, system)

    def test_what_only_newer_kernels_have_is_drawn_there_only(self):
        names = {kernel: {name for setting in draw("damon", 40, kernel=kernel) if setting.name == "drawn"
                          for name in setting.knobs} for kernel in ("6.12", "newest")}
        self.assertEqual(names["newest"] - names["6.12"], {"goals", "tune"})


class Choice(unittest.TestCase):
    HOW = choice.Procedure(("a", "b"), 3, 1, 1, "6.12")

    def rows(self):
        tried = draw("damon", 3)
        bases = {"a": [run(100.0)], "b": [run(1000.0)]}
        found: List[Dict[str, List[Dict[str, Any]]]] = [
            {"a": [run(50.0)], "b": [run(2000.0)]}, {"a": [run(90.0)], "b": [run(900.0)]}, {"a": [run(1.0)], "b": []}]
        return [choice.row(setting, runs, bases) for setting, runs in zip(tried, found)]

    def test_a_score_is_the_geometric_mean_of_the_times_over_first_touchs(self):
        self.assertEqual([one["score"] and round(one["score"], 6) for one in self.rows()], [1.0, 0.9, None])

    def test_the_median_of_repeats_counts(self):
        one = choice.row(draw("damon")[0], {"a": [run(10.0), run(90.0), run(20.0)]}, {"a": [run(100.0)]})
        self.assertAlmostEqual(one["score"], 0.2)

    def test_runs_of_different_models_are_not_compared(self):
        newer = {"commit": "c", "figures": {choice.PACE: 50.0, "model": 2}}
        self.assertIsNone(choice.row(draw("damon")[0], {"a": [newer]}, {"a": [run(100.0)]})["score"])

    def test_the_best_is_chosen_and_never_one_without_a_result(self):
        self.assertEqual(choice.best(self.rows())["damon"]["setting"], "by-hand")

    def test_the_page_shows_every_setting_the_best_first(self):
        lines = [line for line in choice.page(self.rows(), self.HOW).splitlines() if line.startswith("| ")][1:]
        self.assertEqual([line.split(" | ")[:2] for line in lines],
                         [["| **by-hand**", "0.900"], ["| default", "1.000"], ["| damo", "no result"]])

    def test_what_is_chosen_is_what_placement_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "settings.json"
            file.write_text(cells.CHOSEN.read_text(encoding="utf-8"), encoding="utf-8")
            choice.save(file, {"damon": {**self.rows()[1], "knobs": {"sample_us": 7}}}, self.HOW)
            held = json.loads(file.read_text(encoding="utf-8"))
            with mock.patch.object(cells, "CHOSEN", file):
                cells._chosen.cache_clear()
                self.addCleanup(cells._chosen.cache_clear)
                self.assertEqual(cells.variants("damon")["tuned"], {"sample_us": 7})
                self.assertEqual(cells.variants("hm-keeper")[""], held["hm-keeper"]["knobs"])
        self.assertIn("--settings 3 --seed 1", held["damon"]["from"])

    def test_settings_that_cannot_be_read_are_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            for text in ("", "{}", '{"damon": 1}'):
                file = Path(folder) / "settings.json"
                file.write_text(text, encoding="utf-8")
                with mock.patch.object(cells, "CHOSEN", file), self.assertRaises(LabError) as refused:
                    cells._chosen.cache_clear()
                    cells.variants("damon")
                self.assertRegex(str(refused.exception), rf"^{file}: [^\n]*tools/bench search[^\n]*$")

    def test_every_chosen_setting_says_where_it_is_from(self):
        held = json.loads(cells.CHOSEN.read_text(encoding="utf-8"))
        self.assertEqual([system for system in cells.NAMED if not held[system]["from"]], [])


class Search(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name)

    def run_search(self, *words: str):
        said, told = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
            code = search.main([*words, "--out", str(self.out), "--chosen", str(self.out / "settings.json"), "--jobs", "1"])
        return code, told.getvalue(), said.getvalue()

    def test_what_was_run_is_not_run_again(self):
        args = search.parse(["--settings", "2", "--system", "damon,hm-keeper", "--window", "6"])
        store = keep.Store(self.out / args.machine.stem)
        for number, setting in enumerate((None, *search.draw(args))):
            for name in search.TRAINING:
                for cell in search.cells_of(setting, name, args):
                    store.write(cell, {"cell": {"knobs": {**cell.knobs, cells.LEFT_OUT: ["tune"]}}, **run(100.0 - number)})
        code, told, _ = self.run_search("--settings", "2", "--system", "damon,hm-keeper", "--window", "6",
                                        "--json", str(self.out / "search.json"), "--report", str(self.out / "search.md"))
        rows = json.loads((self.out / "search.json").read_text(encoding="utf-8"))
        self.assertEqual((code, [round(one["score"], 2) for one in rows]), (0, [.99, .98, .97, .96]))
        self.assertEqual((self.out / "search.md").read_text(encoding="utf-8").strip(), told.strip())
        held = json.loads((self.out / "settings.json").read_text(encoding="utf-8"))
        self.assertEqual({system: one["setting"] for system, one in held.items()}, {"damon": "by-hand", "hm-keeper": "shipped"})

    def test_a_cell_that_ran_with_other_knobs_is_another_cell(self):
        cell, store = cells.Cell("w", "damon", "tuned", "6.12", "4K", 1, 6.0, {"sample_us": 1}), keep.Store(self.out)
        store.write(cell, {"cell": {"knobs": {"sample_us": 2}}})
        self.assertFalse(store.has(cell))
        store.write(cell, {"cell": {"knobs": {"sample_us": 1}}})
        self.assertTrue(store.has(cell))

    def test_refusals_are_one_line(self):
        for words, told in ((["--settings", "0"], "--settings 0: "), (["--settings", "100000"], "--settings 100000: "),
                            (["--system", "magic"], "name some of numa-balancing, damon"), (["--workload", "x"], "--workload x: "),
                            (["--repeat", "0"], "--repeat"), (["--window", "0"], "--window"),
                            (["--system", "damon", "--kernel", "6.1"], "built without DAMON"),
                            (["--report", "/no/such/folder/page.md"], "create it first")):
            code, _, said = self.run_search(*words)
            self.assertEqual((code, said.count("\n")), (2, 1), words)
            self.assertIn(told, said)


if __name__ == "__main__":
    unittest.main()
