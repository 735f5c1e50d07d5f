# SPDX-License-Identifier: MIT
"""The arithmetic of tools/bench moves, and what it refuses."""
import contextlib
import importlib.util
import io
import sys
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))
from lab.outcome import Mark  # noqa: E402


def load(name):
    """A module of the bench under a name of its own: placement/ has a main.py and a figures.py as well."""
    sys.path.insert(0, str(ROOT / "tools/bench.d/moves"))
    spec = importlib.util.spec_from_file_location(f"moves_{name}", ROOT / f"tools/bench.d/moves/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.pop(0)
    return module


figures = load("figures")


def run(method, share=0.0, **changed):
    """One row."""
    seen = {"longest_us": 100.0, "p99_us": 50.0, "sum_us": 1000.0, "recopied_percent": 1.5, "waits": 10, "pages": 100,
            "move_ms": 10.0, "accesses": 500, "idle_per_ms": 100.0, "sync_percent": 0.0, "prepare_ms": 0.5, "copy_ms": 6.0, "commit_ms": 1.5,
            **changed}
    vcpu = [{"cpu": 0, "user": {"instructions": 7000}, "kernel": {"instructions": 300}},
            {"cpu": 2, "user": {"instructions": 100}, "kernel": {"instructions": 600}}]
    return figures.row(method, "4K", share, seen, Mark(1, 1, {"vcpus": vcpu}))


class Moves(unittest.TestCase):
    def test_instructions_are_all_but_the_applications_own(self):
        self.assertEqual(run("hm-keeper")["instructions_per_page"], 10.0)

    def test_a_goal_is_met_at_its_limit_and_missed_beyond(self):
        rows = [run("hm-keeper", longest_us=10.0, sum_us=501.0), run("move_pages")]
        met = {figure: met for _, _, figure, _, _, met in figures.goals(rows)}
        self.assertEqual(met, {"longest_us": True, "sum_us": False, "instructions_per_page": True})

    def test_one_goal_that_is_missed_fails_the_bench(self):
        call = run("move_pages")
        self.assertTrue(figures.meets_goals([run("hm-keeper", longest_us=10.0, sum_us=500.0), call]))
        self.assertFalse(figures.meets_goals([run("hm-keeper", longest_us=10.1, sum_us=500.0), call]))

    def test_the_sum_of_waits_has_a_goal_of_its_own_for_writers(self):
        rows = [run("hm-keeper", 1.0, sum_us=1050.0), run("move_pages", 1.0)]
        self.assertIn(("4K", 1.0, "sum_us", 1.05, 1.05, True), figures.goals(rows))

    def test_no_goal_without_its_counterpart(self):
        self.assertEqual(figures.goals([run("hm-keeper"), run("move_pages", 0.5)]), [])

    def test_who_is_done_earlier_goes_on_undisturbed(self):
        ours, call = run("hm-keeper", move_ms=5.0, accesses=500), run("move_pages", move_ms=10.0, accesses=500)
        self.assertAlmostEqual(figures.throughput_percent(ours, call), 100.0)

    def test_a_row_says_where_the_time_of_a_move_went(self):
        row = run("hm-keeper", sync_percent=25.0, commit_ms=1.25)
        self.assertEqual([row[name] for name in figures.PARTS], [25.0, 0.5, 6.0, 1.25])

    def test_chunks_are_calls_of_so_many_pages(self):
        asked = []

        class Guest:
            def run(self, words):
                asked.append(words)
                return types.SimpleNamespace(kind="fail", reason="", output=[])

        bench = load("main")
        for method in ("move_pages", "move_pages/128"):
            with self.assertRaises(bench.LabError):
                bench.cell(Guest(), Path("hmk-stall"), "1GiB", method, "4K", "0")
        self.assertEqual([words[1:5] for words in asked], [["--method", "move_pages", "--size", "1GiB"],
                                                           ["--method", "move_pages", "--chunk", "128"]])

    def test_chunks_are_not_held_against_the_goals(self):
        rows = [run("hm-keeper", longest_us=10.0, sum_us=500.0), run("move_pages"), run("move_pages/32", longest_us=1.0)]
        self.assertTrue(figures.meets_goals(rows))
        self.assertEqual(len(figures.goals(rows)), 3)

    def test_names_that_are_not_known_are_usage(self):
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as said:
            load("main").parse(["--method", "magic"])
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("magic", said.getvalue())
