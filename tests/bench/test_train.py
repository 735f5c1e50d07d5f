# SPDX-License-Identifier: MIT
"""What a program's words are worth: which rows there are, and which bar is missed by how much."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

from lab.errors import LabError  # noqa: E402
import train  # noqa: E402


def run(ns=10.0, slow=(40, 0), wrong=0):
    return {"per_operation": {"operations": 64.0, "application_ns": ns, "application_parts_ns": {"instructions": ns - 3, "random": 1.0, "walks": 2.0}},
            "written_back_lines": [7, *slow], "tier_share": [0.5, 0.5],
            "counters": {"moved_bytes": 1 << 20}, "wrong_values": wrong}


def rows(**changed):
    runs = {"nothing, not managed": run(), "nothing": run(), "past": run(slow=(16, 0)), "past and next": run(slow=(16, 0)), "anything": run(), **changed}
    return [train.row(says, figures) for says, figures in runs.items()]


class Train(unittest.TestCase):
    def test_each_row_is_a_guest_of_its_own(self):
        found = train.wanted(None)
        self.assertEqual([(cell.workload, cell.system) for cell in found], list(train.MODES.values()))
        self.assertEqual(len({cell.key for cell in found}), len(train.MODES))

    def test_lines_written_to_any_slow_node_are_bytes_of_an_operation(self):
        found = train.row("past", run(slow=(3, 5)))
        self.assertEqual((found["written_bytes_per_operation"], found["written_fast_bytes_per_operation"]), (8.0, 7.0))

    def test_two_fifths_of_the_writes_are_few_enough_and_more_are_not(self):
        self.assertEqual(train.wrong(rows()), [])
        self.assertIn("0.42 times as much", train.wrong(rows(past=run(slow=(17, 0))))[0])

    def test_saying_what_is_next_may_cost_a_fiftieth(self):
        self.assertEqual(train.wrong(rows(**{"past and next": run(ns=10.2)})), [])
        self.assertIn("1.021 times as long", train.wrong(rows(**{"past and next": run(ns=10.21)}))[0])

    def test_waits_are_all_but_the_instructions(self):
        self.assertEqual(train.row("past", run())["waits_ns_per_operation"], 3.0)

    def test_lies_may_cost_a_twentieth(self):
        self.assertEqual(train.wrong(rows(anything=run(ns=10.5))), [])
        self.assertIn("1.051 times as long as nothing", train.wrong(rows(anything=run(ns=10.51)))[0])

    def test_a_wrong_value_fails_any_row(self):
        self.assertEqual(train.wrong(rows(nothing=run(wrong=2))), ["nothing: 2 values were wrong"])

    def test_a_window_without_operations_is_refused(self):
        with self.assertRaisesRegex(LabError, "longer --window"):
            train.row("past", {**run(), "per_operation": None})


if __name__ == "__main__":
    unittest.main()
