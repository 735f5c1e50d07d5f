# SPDX-License-Identifier: MIT
"""How near each system comes to what is possible, and that nobody comes nearer than all the way."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import possible  # noqa: E402
import simulated  # noqa: E402

# At best 80 ns an operation, and 75 in the part of them that others did beside what placed their memory.
WHOLE = {"possible_ns": 8e9, "found_ns": 8.2e9, "operations": 1e8}
PART = {"possible_ns": 3e9, "found_ns": 3.1e9, "operations": 4e7}
FOUND = {"first-touch": WHOLE, "hm-keeper": PART, "damon": PART}


class Possible(unittest.TestCase):
    def test_each_system_is_told_as_a_share_of_the_bound(self):
        rows = possible.rows("sort", {"first-touch": 100.0, "hm-keeper": 150.0}, FOUND)
        self.assertEqual([(row["system"], row["ns_per_operation"], row["bound_ns"], row["of_best_possible"]) for row in rows],
                         [("first-touch", 100.0, 80.0, 0.8), ("hm-keeper", 150.0, 75.0, 0.5), (possible.PLAN, 82.0, 80.0, 80 / 82)])
        self.assertEqual(possible.beaten(rows), [])
        self.assertRegex(possible.text(rows), r"sort +hm-keeper +150\.0 +75\.0 +50\.0%")

    def test_whoever_is_faster_than_is_possible_is_named(self):
        rows = possible.rows("sort", {"first-touch": 80.0, "hm-keeper": 79.9, "damon": 74.9}, FOUND)
        self.assertEqual(possible.beaten(rows), ["sort: damon takes 74.90 ns an operation, less than the bound of 75.00"])

    def test_every_program_it_runs_by_default_is_one_of_the_bench(self):
        self.assertEqual(set(simulated.PROGRAMS) - set(possible.WORKLOADS), set())


if __name__ == "__main__":
    unittest.main()
