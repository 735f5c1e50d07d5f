# SPDX-License-Identifier: MIT
"""What hmkd promises, tells and what was counted: which programs are within the factor, and who tells otherwise."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

from lab import LabError  # noqa: E402
import promised  # noqa: E402


def of(name, told, promised_s, counted, program=10.0):
    return {"workload": name, "promised_s": promised_s, "told_s": told, "counted_s": counted, "program_s": program}


def operation(misses, stalls, operations):
    return {"misses": misses, "stalls_ns": stalls, "operations": operations}


def run(waits, promised_s=0.0, told=0.0, program=8.0):
    """`waits`: of each stretch the program's seconds, its misses, modelled seconds that they waited, and that it took."""
    names = ("program_seconds", "misses", "stalls_seconds", "application_seconds")
    return {"per_operation": operation(1.0, 100.0, 4e6), "counters": {"promised_seconds": promised_s, "saved_seconds": told},
            "cpu_seconds": program, "waits_over_time": {name: list(row) for name, row in zip(names, zip(*waits))}}


class Promised(unittest.TestCase):
    BASE = {"per_operation": operation(1.0, 150.0, 7e6)}

    def test_counted_is_what_its_misses_waited_less_in_the_guests_seconds(self):
        found = promised.row("bfs", self.BASE, run([(8.0, 6e6, 0.6, 0.8)], 0.3, 0.25))
        # 50 ns less for each of 6 million misses: 0.3 of 0.8 modelled seconds, of 8 s
        self.assertAlmostEqual(found["counted_s"], 3.0)
        self.assertEqual((found["promised_s"], found["told_s"], found["program_s"]), (0.3, 0.25, 8.0))

    def test_a_second_counts_as_much_however_little_was_done_in_it(self):
        slow, fast = (4.0, 10, 500e-9, 1e-6), (4.0, 10e6, 1.5, 2.0)
        self.assertAlmostEqual(promised.row("bfs", self.BASE, run([slow, fast]))["counted_s"], 4.0)
        self.assertAlmostEqual(promised.row("bfs", self.BASE, run([fast, (4.0, 0, 0.0, 0.0)]))["counted_s"], 0.0)

    def test_more_misses_are_nothing_that_moves_lost(self):
        self.assertAlmostEqual(promised.row("bfs", self.BASE, run([(1.0, 2e6, 0.3, 0.4)]))["counted_s"], 0.0)

    def test_runs_of_an_older_tool_are_refused(self):
        old = run([])
        del old["waits_over_time"]
        with self.assertRaisesRegex(LabError, "--out"):
            promised.row("bfs", self.BASE, old)
        with self.assertRaisesRegex(LabError, "--out"):
            promised.row("bfs", {"per_operation": {"operations": 7e6}}, run([]))

    def test_a_window_without_operations_is_refused(self):
        with self.assertRaisesRegex(LabError, "--window"):
            promised.row("bfs", {"per_operation": None}, {"per_operation": None, "counters": {}})

    def test_within_the_factor_either_way_and_nothing_of_nothing(self):
        kept = [promised.is_kept(of("w", told, 2.0, 0)) for told in (0.99, 1.0, 4.0, 4.01, -1)]
        self.assertEqual(kept, [False, True, True, False, False])
        self.assertEqual([promised.is_kept(of("w", told, 0.0, 0)) for told in (0.0, 0.1)], [True, False])

    def test_two_of_ten_may_miss_it_and_three_may_not(self):
        good, bad = [of("good", 1.0, 1.0, 1.0)] * 8, [of("bad", 1.0, 3.0, 1.0)] * 2
        self.assertEqual(promised.wrong(good + bad), [])
        self.assertEqual(promised.wrong(good[1:] + bad + bad[:1]), ["7 of 10 programs saved within 2 times what was promised, want 80%"])

    def test_who_tells_otherwise_than_was_counted_is_named(self):
        rows = [of("even", 1.25, 1.0, 1.0), of("more", 1.26, 1.0, 1.0), of("less", 0.74, 1.0, 1.0)]
        self.assertEqual([line.split(":")[0] for line in promised.wrong(rows)], ["more", "less"])

    def test_a_hundredth_of_the_programs_time_is_compared_and_less_is_not(self):
        self.assertTrue(promised.is_near(of("w", 0.0, 0.0, 0.099)))
        self.assertFalse(promised.is_near(of("w", 0.0, 0.0, 0.1)))
        self.assertFalse(promised.is_near(of("w", 0.1, 0.0, 0.0)))
        self.assertTrue(promised.is_near(of("w", 0.099, 0.0, -0.05)))

    def test_the_table_says_what_has_no_ratio(self):
        self.assertIn(" - ", promised.text([of("idle", 0.0, 0.0, 0.0)]) + " ")


if __name__ == "__main__":
    unittest.main()
