# SPDX-License-Identifier: MIT
"""tools/bench placement --against: pairs in turns, their comparison, and a commit that is not there."""
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Dict

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import against  # noqa: E402
import cells  # noqa: E402
import main  # noqa: E402


def run(settled: float, whole: float = 100.0) -> Dict[str, Any]:
    return {"figures": {"tier_share": [0.9, 0.1], "settled_per_operation": {"application_ns": settled},
                        "per_operation": {"application_ns": whole, "service_cpu_ns": 1.0, "moved_bytes": 0.0},
                        "modelled_ns_per_kilo_instruction": 1.0}}


class SignTest(unittest.TestCase):
    def test_as_uneven_as_that_or_more_to_either_side(self):
        for less, more, p in ((5, 0, 2 / 32), (0, 5, 2 / 32), (4, 1, 12 / 32), (3, 2, 1.0), (0, 0, 1.0), (10, 0, 2 / 1024)):
            self.assertAlmostEqual(against.sign_test(less, more), p)


class Comparison(unittest.TestCase):
    def test_medians_ranges_and_who_was_less_how_often(self):
        found = against.compare([(1.0, 2.0), (3.0, 2.0), (2.0, 4.0), (2.0, 2.0)])
        self.assertEqual(found, {"pairs": 4, "ours": 2.0, "ours_range": [1.0, 3.0], "theirs": 2.0, "theirs_range": [2.0, 4.0], "ratio": 1.0,
                                 "less": 2, "more": 1, "p": 1.0})

    def test_a_row_for_each_figure_that_both_have(self):
        nothing = run(1.0)
        nothing["figures"]["settled_per_operation"] = None
        rows = against.rows({"w": [(run(50.0), run(100.0)), (run(60.0), run(90.0)), (nothing, run(1.0))]})
        settled = next(row for row in rows if row["figure"] == "ns/op, settled")
        self.assertEqual((settled["pairs"], settled["less"], settled["more"], settled["ratio"]), (2, 2, 0, 55 / 95))
        self.assertEqual(len(rows), len(against.FIGURES))
        told = against.text(rows, "abc", "def")
        self.assertIn("ours abc", told)
        self.assertIn("55.0 (50.0–60.0)", told)

    def test_what_is_nothing_on_theirs_has_no_ratio(self):
        self.assertIsNone(against.compare([(1.0, 0.0)])["ratio"])


class Turns(unittest.TestCase):
    def test_each_repeat_has_both_and_they_take_turns_at_being_first(self):
        wanted = main.plan(main.parse(["--against", "HEAD", "--workload", "sort", "--repeat", "3"]))
        order = [(cell.repeat, is_other) for cell, is_other in against.in_turns(wanted)]
        self.assertEqual(order, [(1, False), (1, True), (2, True), (2, False), (3, False), (3, True)])

    def test_five_pairs_of_ours_unless_told_otherwise(self):
        found = main.plan(main.parse(["--against", "HEAD"]))
        self.assertEqual({cell.system for cell in found}, {"hm-keeper"})
        self.assertEqual(max(cell.repeat for cell in found), against.REPEATS)
        self.assertLessEqual({cell.workload for cell in found}, set(cells.__dict__) | set(main.gate.WORKLOADS))


class Refusals(unittest.TestCase):
    def refused(self, *words: str) -> str:
        done = subprocess.run([sys.executable, "-B", str(ROOT / "tools/bench.d/placement/main.py"), *words], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        return done.stderr

    def test_a_commit_that_is_not_there(self):
        for revision in ("no-such-branch", "0123456789", "--all", "HEAD:README.md", ""):
            with self.subTest(revision):
                self.assertIn("no commit of this repository", self.refused(f"--against={revision}"))

    def test_a_system_that_no_commit_of_ours_changes(self):
        self.assertIn("--system damon: not known; name some of hm-keeper, ", self.refused("--against", "HEAD", "--system", "damon"))

    def test_tables_of_another_kind(self):
        for flag in ("--gate", "--headline", "--stored", "--quick"):
            self.assertIn("leave", self.refused("--against", "HEAD", flag))

if __name__ == "__main__":
    unittest.main()
