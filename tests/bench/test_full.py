# SPDX-License-Identifier: MIT
"""The full table of tools/bench placement and its headline: what they run, how often, how long it takes, what may be published."""
import contextlib
import dataclasses
import io
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import cells  # noqa: E402
import full  # noqa: E402
import main  # noqa: E402
import publish  # noqa: E402
from lab import LabError  # noqa: E402
from workloads import WORKLOADS  # noqa: E402


class Full(unittest.TestCase):
    def test_each_of_its_workloads_has_every_system_with_pages_as_debian_has_them(self):
        found = main.plan(main.parse([]))
        tried = {(cell.workload, cell.system) for cell in found if cell.page_size == "THP" and cell.density == 1}
        self.assertLessEqual({*full.QUOTED, *full.OTHERS}, set(WORKLOADS))
        for workload in (*full.QUOTED, *full.OTHERS):
            self.assertEqual({system for name, system in tried if name == workload},
                             set(cells.SYSTEMS) - (set() if WORKLOADS[workload].has_truth else {"oracle"}))
        self.assertEqual(len({cell.key for cell in found}), len(found))

    def test_it_runs_five_times_what_the_readme_quotes_and_three_times_what_else_moves(self):
        runs: Dict[Any, int] = {}
        for cell in main.plan(main.parse([])):
            if cell.density == 1:
                of = (cell.workload, cell.system, cell.page_size, cell.variant, cell.window_seconds)
                runs[of] = max(runs.get(of, 0), cell.repeat)
        for (workload, system, pages, *more), times in runs.items():
            is_quoted = workload in full.QUOTED and pages == "THP" and system in ("first-touch", *full.MOVERS)
            self.assertEqual(times, 5 if is_quoted else 1 if system in full.STATIC else 3, (workload, system, pages, *more))

    def test_it_has_two_densities_and_what_ships(self):
        found = main.plan(main.parse([]))
        self.assertEqual({cell.density for cell in found}, {1, 2})
        shipped = [cell for cell in found if cell.variant == "shipped"]
        self.assertTrue(shipped)
        for cell in shipped:
            self.assertEqual((cell.knobs["interval"], cell.knobs["overhead"]), ("10s", "5%"))
            self.assertGreaterEqual(cell.window_seconds, 4 * 10)
            self.assertTrue(any(other.system == "first-touch" and other.window_seconds == cell.window_seconds
                                and other.workload == cell.workload for other in found))

    def test_the_full_table_fits_into_a_night_and_the_headline_into_an_hour(self):
        def hours(*words: str) -> float:
            return sum(full.seconds(cell) for cell in main.plan(main.parse(list(words)))) / 3600
        self.assertLessEqual(hours(), 8)
        self.assertLessEqual(hours("--headline") / 2, 1)

    def test_the_headline_is_a_part_of_the_full_table(self):
        part, whole = main.plan(main.parse(["--headline"])), main.plan(main.parse([]))
        self.assertLessEqual({cell.key for cell in part}, {cell.key for cell in whole})
        self.assertEqual({cell.workload for cell in part}, set(full.QUOTED))
        self.assertEqual({cell.page_size for cell in part}, {"4K", "THP"})
        self.assertEqual({cell.system for cell in part}, {"first-touch", *full.MOVERS})

    def test_a_list_says_how_long_it_takes(self):
        cell = cells.Cell("gups-stable", "first-touch", "", "6.12", "4K", 1, 16.0)
        twice = main.estimate([cell, cell], 1), main.estimate([cell, cell], 2)
        minutes = 2 * full.seconds(cell) / 60
        self.assertEqual(twice, (f"2 cells, about {minutes:.0f} minutes of a core", f"2 cells, about {minutes:.0f} minutes of a core, "
                                 f"{minutes / 2:.0f} with 2 guests at a time"))
        slow = dataclasses.replace(cell, density=4)
        self.assertAlmostEqual(full.seconds(slow) - full.seconds(cell), 3 * 16 * full.COSTS[""][1])

    def test_they_choose_their_own_cells(self):
        for words in (["--headline", "--workload", "bfs"], ["--headline", "--repeat", "2"], ["--headline", "--gate"], ["--window", "5"],
                      ["--headline", "--density", "2"], ["--tuned"]):
            with self.subTest(words), self.assertRaises(main.UsageError) as refused:
                main.plan(main.parse(words))
            self.assertNotIn("\n", str(refused.exception))


class Published(unittest.TestCase):
    """docs/results.md holds the cells of one clean commit or is not written."""

    PAGE = Path("/docs/results.md")

    def test_several_commits_and_changed_ones_are_refused_in_one_line(self):
        for commits, told in ((["a", "b", "a"], r"cells are of 2 commits \(a, b\)"), (["a+", "a+"], r"ran on a\+"), (["unknown"], "unknown")):
            with self.subTest(commits), self.assertRaisesRegex(LabError, f"^/docs/results.md: not written: [^\n]*{told}[^\n]*$"):
                publish.refuse(self.PAGE, self.PAGE, commits)

    def test_one_clean_commit_and_any_other_page_pass(self):
        publish.refuse(self.PAGE, self.PAGE, ["a", "a"])
        publish.refuse(Path("/tmp/page.md"), self.PAGE, ["a", "b+"])
        publish.refuse(None, self.PAGE, ["a", "b+"])

    def test_it_is_refused_before_anything_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "results.md"
            words = ["--workload", "needle", "--system", "first-touch", "--report", str(page), "--out", folder]
            with mock.patch.object(main, "PUBLISHED", page), mock.patch.object(main.build, "commit", lambda _: "abc+"), \
                    mock.patch.object(main, "run_all", lambda *_: self.fail("it ran")), mock.patch.object(sys, "argv", ["main.py", *words]), \
                    contextlib.redirect_stderr(io.StringIO()) as said:
                self.assertEqual(main.main(), 1)
            self.assertIn("abc+", said.getvalue())
            self.assertFalse(page.exists())

if __name__ == "__main__":
    unittest.main()
