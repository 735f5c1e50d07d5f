# SPDX-License-Identifier: MIT
"""tools/bench paper: the arithmetic of its rows, what counts as the paper's direction, what is kept, and what it refuses."""
import argparse
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/bench.d/paper"), str(ROOT / "tools/bench.d/placement"), str(ROOT / "tools/lab.d")]

from lab import load_machine  # noqa: E402
import cells  # noqa: E402
import experiment  # noqa: E402
import measures  # noqa: E402
import moving  # noqa: E402
import paper  # noqa: E402
import performing  # noqa: E402
import placing  # noqa: E402
import profiling  # noqa: E402
import needed  # noqa: E402
import sheet  # noqa: E402
from shelf import Shelf  # noqa: E402

SIXTEEN = [f"HK-{number}" for number in range(71, 87)]
PRICED = 1  # the lines that are worked out and never run


def cell(application_ns: float, **figures: object) -> dict:
    """What is read of a finished cell."""
    return {"figures": {"settled_per_operation": {"application_ns": application_ns}, measures.PACE: 2 * application_ns, **figures}}


def simulated(name: str, recall: list, precision: list) -> dict:
    return {"profiler": name, "recall": recall, "precision": precision, "intervals": [{"num_ps": 100, "regions": 400}]}


def line_of(lines: list, words: str) -> experiment.Line:
    return next(line for line in lines if words in line.what)


class Directions(unittest.TestCase):
    def test_a_gain_points_where_the_papers_does_and_half_a_percent_points_nowhere_or_is_as_good(self):
        for published, ours, agrees in ((20, 0.6, True), (20, 0.4, False), (20, -3.0, False), (-7, 3.0, False),
                                          (-0.5, -4.0, True), (0, 5.0, True), (-0.5, -17.0, False)):
            with self.subTest(paper=published, ours=ours):
                self.assertIs(experiment.gain("a", published, ours).agrees, agrees)
        self.assertIs(experiment.ahead("a", "best", 0.5).agrees, True)
        self.assertIs(experiment.ahead("a", "best", 0.4).agrees, False)

    def test_what_was_not_run_agrees_with_nothing_and_is_told(self):
        for line in (experiment.gain("a", 20, None), experiment.claim("a", "b", None, True), experiment.ahead("a", "b", None)):
            self.assertIsNone(line.agrees)
            self.assertFalse(line.is_explained)

    def test_another_direction_passes_with_a_reason_only(self):
        self.assertFalse(experiment.gain("a", 20, -1.0).is_explained)
        self.assertTrue(experiment.gain("a", 20, -1.0, "it is smaller").is_explained)

    def test_the_verdict_counts_what_can_agree(self):
        lines = [experiment.gain("a", 20, 1.0), experiment.gain("b", 20, -1.0), experiment.claim("c", "-", "5", None)]
        self.assertEqual(experiment.verdict(lines), "1 of 2 in the paper's direction")
        self.assertEqual(experiment.verdict([*lines, experiment.gain("d", 20, None)]), "1 of 2 in the paper's direction; 1 not run")
        self.assertEqual(experiment.verdict([experiment.gain("d", 20, None)]), "not run")


class Measures(unittest.TestCase):
    def test_twice_the_work_in_the_same_time_is_100_percent_faster(self):
        self.assertEqual(measures.faster(cell(50.0), cell(100.0)), 100.0)
        self.assertEqual(measures.faster(cell(50.0), cell(100.0), measures.per_operation), 100.0)
        self.assertIsNone(measures.faster(cell(50.0), None))
        self.assertIsNone(measures.faster({"figures": {"settled_per_operation": None}}, cell(100.0), measures.per_operation))

    def test_found_is_where_both_stay_good(self):
        self.assertEqual(measures.found_in({"recall": [0.9, 0.5, 0.9, 1.0], "precision": [1.0, 1.0, 0.95, 0.9]}), 3)
        self.assertIsNone(measures.found_in({"recall": [1.0, 1.0], "precision": [1.0, 0.8]}))

    def test_the_hottest_bytes_are_cut_where_they_are_full(self):
        self.assertEqual(measures.hottest([[0, 10, 1.0], [10, 20, 3.0], [20, 30, 1.0]], 15), [(10, 20), (0, 5)])

    def test_differing_is_what_only_one_of_them_holds(self):
        self.assertEqual(measures.differing([(0, 10)], [(0, 10)]), 0.0)
        self.assertEqual(measures.differing([(0, 10)], [(10, 20)]), 100.0)
        self.assertAlmostEqual(measures.differing([(0, 10), (20, 30)], [(5, 10), (20, 35)]), 40.0)  # 10 of 25 bytes
        self.assertEqual(measures.differing([], []), 0.0)


class Profiling(unittest.TestCase):
    def test_each_share_of_a_cpu_is_read_where_it_was_called(self):
        def told(first_good: int) -> list:
            return [[simulated("thermostat", [0.95 if number >= first_good else 0.5], [0.9])] for number in range(len(profiling.BUDGETS))]
        both = told(2) + told(8)
        self.assertEqual(profiling.least_budget(both, 0, "thermostat"), float(profiling.BUDGETS[2]))
        self.assertIsNone(profiling.least_budget(both, 1, "thermostat"))
        words = profiling.LEAST.words[len(profiling.BUDGETS) + 2]
        self.assertIn("scattered", words)
        self.assertIn(profiling.BUDGETS[2], words)

    def test_each_part_is_read_where_it_was_called(self):
        results = [[simulated("hm-keeper", [len(words)], [len(words)])] for words in profiling.WITHOUT.words]
        for number, words in enumerate(profiling.WITHOUT.words):
            results[number][0]["recall"] = results[number][0]["precision"] = [0.25 if "scattered" in words and "0.5" in words else 0.75]
        lines = profiling.ablated({profiling.WITHOUT: results})
        self.assertIn("0.250 / 0.250 / 0.250 (0.25 samples", line_of(lines, "scattered, 0.5 %").ours or "")
        self.assertIn("0.750 / 0.750 / 0.750", line_of(lines, "contiguous, 0.5 %").ours or "")
        for number, words in enumerate(profiling.WITHOUT.words):
            score = 0.1 if "fixed-regions" in words else 0.2 if "random-samples" in words else 0.3
            results[number][0]["recall"] = results[number][0]["precision"] = [score]
        self.assertIn("0.300 / 0.100 / 0.200", line_of(profiling.ablated({profiling.WITHOUT: results}), "contiguous, 1 %").ours or "")

    def test_a_part_is_worth_something_where_it_is_told(self):
        results = [[simulated("hm-keeper", [0.5], [0.5])] for _ in profiling.WITHOUT.words]
        for number, words in enumerate(profiling.WITHOUT.words):
            if "fixed-regions" in words and "scattered" in words and "0.1" in words:
                results[number] = [simulated("hm-keeper", [0.48], [0.48])]
        lines = profiling.ablated({profiling.WITHOUT: results})
        self.assertEqual(line_of(lines, "better than fixed-regions").ours, "contiguous: nowhere; scattered: 0.25")
        self.assertEqual(line_of(lines, "better than random-samples").ours, "contiguous: nowhere; scattered: nowhere")

    def test_with_a_part_is_over_without_it(self):
        results = [[simulated("hm-keeper", [score], [score])] for score in (0.9, 0.6, 0.75, 0.5, 0.6, 0.4)]
        lines = profiling.ablated({profiling.AT_SCALE: results})
        self.assertEqual([line.ours for line in lines if "512 GB" in line.what], ["+50.0 %", "-16.7 %", "+20.0 %", "+25.0 %"])

    def test_decisions_that_change_are_those_of_the_hottest_tenth(self):
        tenth = profiling.TENTH
        same, moved = [[0, tenth, 2.0], [tenth, 2 * tenth, 1.0]], [[0, tenth, 1.0], [tenth, 2 * tenth, 2.0]]
        results = [[{"ranking": ranking}] for ranking in (same, moved, moved, moved) * len(profiling.RATES)]
        lines = [line for line in profiling.scans({profiling.SCANNED: results}) if line.ours]
        self.assertEqual({line.ours for line in lines}, {"100.0 %, 0.0 %, 0.0 %"})
        self.assertTrue(all(line.agrees for line in lines))

    def test_memory_is_of_a_terabyte_and_a_half(self):
        lines = profiling.memory({profiling.LARGE: [[{"state_percent": 0.01}]], profiling.SCALE: [[{"bytes_per_region": 64.0}]]})
        self.assertEqual([line.ours for line in lines], ["157 MiB", "48 MiB"])
        self.assertTrue(lines[0].agrees)


class Placing(unittest.TestCase):
    def test_a_server_is_measured_by_its_operations_and_a_program_by_its_instructions(self):
        def run(per_operation: float, pace: float) -> dict:
            return {"figures": {"settled_per_operation": {"application_ns": per_operation}, measures.PACE: pace}}
        for name, percent in (("redis-zipf", 100.0), ("sort", 50.0)):
            results = {placing.TABLE[name, "hm-keeper"]: run(1.0, 2.0), placing.TABLE[name, "first-touch"]: run(2.0, 3.0)}
            self.assertEqual(placing.over(results, placing.TABLE, name, "first-touch"), percent)

    def test_an_average_has_its_largest_and_each_beside_it(self):
        results = {placing.TABLE[name, "hm-keeper"]: cell(100.0) for name in placing.NAMES}
        results.update({placing.TABLE[name, "first-touch"]: cell(100.0 + 10 * number) for number, name in enumerate(placing.NAMES)})
        lines = placing.averages(results)
        told = line_of(lines, "first-touch").ours or ""
        self.assertTrue(told.startswith("+20.0 %, +40 %; "), told)
        self.assertIn(f"{placing.NAMES[1]} +10 %", told)
        self.assertIsNone(line_of(lines, "memory-tiering").ours)

    def test_an_average_says_what_it_is_not_of(self):
        results = {placing.TABLE[name, system]: cell(100.0 + 10 * (system == "first-touch")) for name in placing.NAMES[1:]
                   for system in ("hm-keeper", "first-touch")}
        told = line_of(placing.averages(results), "first-touch").ours or ""
        self.assertTrue(told.startswith(f"+10.0 %, +10 %; {placing.NAMES[0]} not run"), told)

    def test_kernel_time_beyond_first_touchs_is_compared(self):
        def spent(application: float, kernel: float) -> dict:
            run = cell(0.0, per_operation={"application_ns": application, "application_kernel_ns": kernel},
                       counters={"profiling_seconds": 0.6})
            return {**run, "cell": {"window_seconds": 12.0, "knobs": {"overhead": "10%"}}}
        results = {placing.TABLE["tpcc-hsqldb", "first-touch"]: spent(100, 10), placing.TABLE["tpcc-hsqldb", "hm-keeper"]: spent(100, 20),
                   placing.TABLE["tpcc-hsqldb", "memory-tiering"]: spent(150, 50)}
        lines = [line for line in placing.breakdown(results) if "tpcc" in line.what]
        self.assertEqual([line.ours for line in lines], ["4.0 times (40 and 10 ns an operation)", "+20.0 %",
                                                         "5.0 % of a CPU in the guest's clock, 10 % allowed"])
        self.assertTrue(all(line.agrees for line in lines))

    def test_a_larger_database_has_as_many_times_the_heap_and_the_rows(self):
        once, twice = placing.grown(1), placing.grown(2)
        self.assertEqual([int(word) for word in twice[-2:]], [2 * int(word) for word in once[-2:]])
        heaps = [[word for word in words if word.startswith(("-Xms", "-Xmx"))] for words in (once, twice)]
        self.assertEqual(*([int(word[4:-1]) * factor for word in words] for words, factor in zip(heaps, (2, 1))))
        self.assertEqual([word for word in once if word.startswith("-Xmn")], [word for word in twice if word.startswith("-Xmn")])


class Moving(unittest.TestCase):
    def row(self, method: str, **changed: object) -> dict:
        return {"method": method, "page_size": "4K", "write_share": 0.0, "prepare_ms": 0.1, "copy_ms": 0.6, "commit_ms": 0.3, "move_ms": 2.0, **changed}

    def test_the_copy_beside_the_program_is_not_on_the_critical_path(self):
        calls = [[self.row(moving.OURS, commit_ms=commit), self.row("move_pages")] for commit in (0.3, 0.9, 0.1)]
        self.assertAlmostEqual(moving.shorter(calls, "4K", 0.0), 5.0)  # the median: 2.0 over 0.1 + 0.3
        self.assertIsNone(moving.shorter(None, "4K", 0.0))

    def test_waits_are_compared_as_the_program_has_them(self):
        calls = [[self.row(moving.OURS, sum_us=40.0), self.row("move_pages", sum_us=20.0)]]
        self.assertEqual(moving.shorter(calls, "4K", 0.0, moving.waited), 0.5)

    def test_the_copys_share_of_a_move_is_worked_out_from_published_prices(self):
        line = line_of(moving.one_region({}), "the copy is")
        copy, fixed = (2 << 20) / 10.924, 512 * (521.5 + 257.4)  # ns
        self.assertEqual(line.ours, f"{100 * copy / (copy + fixed):.0f} %")

    def test_what_was_copied_again_or_never_ahead_would_be_refused(self):
        rows = [{"method": "hm-keeper", "page_size": "4K", "write_share": writes, "recopied_percent": 10.0 * writes, "sync_percent": 5.0}
                for writes in (0.0, 0.5, 1.0)]
        ours = cell(1.0, counters={"copied_twice_bytes": 10.0, "copied_unmapped_bytes": 30.0, "moved_bytes": 200.0})
        lines = moving.asynchronous({moving.MOVES: [rows], profiling.GUPS["hm-keeper"]: ours})
        self.assertEqual([line.ours for line in lines[:4]], ["5.0 %", "10.0 %", "15.0 %", "20.0 %"])


class Experiments(unittest.TestCase):
    def test_there_is_one_for_each_figure_of_the_paper_and_what_was_asked_beside(self):
        self.assertEqual([one.number for one in paper.EXPERIMENTS], ["HK-53", "HK-68", "HK-69", *SIXTEEN])

    def test_without_results_every_line_says_so(self):
        lines = [line for one in paper.EXPERIMENTS for line in one.lines({})]
        self.assertEqual(sum(line.ours is not None for line in lines), PRICED)

    def test_runs_of_one_name_are_one_run(self):
        asked = {run for one in paper.EXPERIMENTS for run in one.runs}
        self.assertEqual(len({run.key for run in asked}), len(asked))

    def test_every_line_needs_no_more_than_the_runs_it_names(self):
        class Asked(dict):
            def get(self, run, default=None):
                asked.append(run)
                return default
        for one in paper.EXPERIMENTS:
            asked: list = []
            one.lines(Asked())
            self.assertLessEqual(set(asked), set(one.runs), one.number)

    def test_every_machine_can_be_read_and_every_setting_is_one_of_ours_or_named(self):
        for run in (run for one in paper.EXPERIMENTS for run in one.runs if isinstance(run, needed.Guest)):
            load_machine(ROOT / f"configs/lab/{run.machine}.yaml")
            if run.cell.system.startswith("hm-keeper"):
                self.assertLessEqual(set(cells.HM_KEEPER["by-hand"]), set(run.cell.knobs), run.key)


class Kept(unittest.TestCase):
    CALLS = needed.Calls("few", "sim", "hmk-sim", (("gups-512g",), ("gups-jump",)))

    def test_what_is_called_otherwise_now_was_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            shelf = Shelf(Path(folder))
            self.assertFalse(shelf.has(self.CALLS))
            shelf.write(self.CALLS, "abc", [[1], [2]])
            self.assertTrue(shelf.has(self.CALLS))
            self.assertEqual((shelf.read(self.CALLS), shelf.commit(self.CALLS)), ([[1], [2]], "abc"))
            self.assertFalse(shelf.has(needed.Calls("few", "sim", "hmk-sim", (("gups-512g",),))))
            self.assertEqual(shelf.results([self.CALLS, profiling.LARGE]), {self.CALLS: [[1], [2]]})

    def test_a_call_that_gives_nothing_is_a_reason_and_the_next_runs(self):
        def call(command, **_):
            if "gups-512g" not in command:
                Path(command[-1]).write_text("[3]", encoding="utf-8")
            return subprocess.CompletedProcess(command, 1, "", "hmk-sim: no memory\n")
        other = needed.Calls("other", "sim", "hmk-sim", (("gups-jump",),))
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(performing.subprocess, "run", call), \
                mock.patch.object(performing, "user_space", lambda *_: Path(folder)), mock.patch.object(performing.build, "commit", lambda _: "abc"):
            shelf = Shelf(Path(folder))
            failed = performing.perform([self.CALLS, other, other], shelf, argparse.Namespace(again=False, jobs=1))
            self.assertEqual(failed, ["tools/sim gups-512g: no result: hmk-sim: no memory"])
            self.assertFalse(shelf.has(self.CALLS))
            self.assertEqual(shelf.read(other), [[3]])


class Page(unittest.TestCase):
    def test_it_names_figure_commit_reason_and_what_cannot_be_had(self):
        one = experiment.Experiment("HK-99", "Fig 9.9", "All of it, twice", "Half as large.", (), lambda _: [], "Snow.")
        told = sheet.markdown([(one, [experiment.gain("a", 20, -1.0, "it is smaller"), experiment.gain("b", 3, None)])], {"HK-99": ["abc"]})
        for words in ("Fig 9.9", "Commit: abc", "| a | +20 % | -1.0 % | OTHER DIRECTION |", "it is smaller", "Snow.", "| b | +3 % | not run |",
                      "(#hk-99-all-of-it-twice)", "## HK-99: All of it, twice"):
            self.assertIn(words, told)


class Command(unittest.TestCase):
    def bench(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-B", str(ROOT / "tools/bench.d/paper/paper.py"), *words], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_nothing_stored_is_told_by_name_and_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.bench("--stored", "--out", folder, "--json", f"{folder}/rows.json", "--report", f"{folder}/paper.md")
            self.assertEqual(done.returncode, 1, done.stderr)
            rows = json.loads(Path(folder, "rows.json").read_text(encoding="utf-8"))
            self.assertLessEqual(set(SIXTEEN), {row["number"] for row in rows})
            page = Path(folder, "paper.md").read_text(encoding="utf-8")
            self.assertTrue(all(f"## {number}: " in page for number in SIXTEEN))

    def test_a_list_names_what_is_missing_and_the_minutes(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.bench("--list", "--only", "HK-82,HK-85", "--out", folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("HK-85 Scans of a sample in an interval: 2 runs, 2 missing, about 1", done.stdout)
        self.assertIn("bench-four-tier/needle_hm-keeper_by-hand-interval-0.5s-overhead-10_6.12_4K_16s_1", done.stdout)
        self.assertNotIn("HK-84", done.stdout)

    def test_bad_flags_are_usage(self):
        for words in (("--jobs", "0"), ("--only", "HK-12"), ("--report", "/nowhere/page.md")):
            done = self.bench(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
