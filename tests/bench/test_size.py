# SPDX-License-Identifier: MIT
"""What was foretold beside what was reached: how far apart, and which order."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import size  # noqa: E402

MIB = size.MIB


class Size(unittest.TestCase):
    def test_seven_points_apart_are_near_enough_and_more_are_not(self):
        found = size.rows("train", {64 * MIB: 30.0, 160 * MIB: 50.0}, {160 * MIB: 57.0, 64 * MIB: 22.9})
        self.assertEqual([(row["bytes"] // MIB, round(row["apart"], 1)) for row in found], [(64, 7.1), (160, 7.0)])
        self.assertEqual(size.wrong(found), ["train, 64 MiB: 7.1 points apart, at most 7"])

    def test_more_memory_that_is_told_to_serve_less_is_named(self):
        found = size.rows("train", {64 * MIB: 50.0, 160 * MIB: 49.0}, {64 * MIB: 49.0, 160 * MIB: 50.0})
        self.assertEqual(size.wrong(found), ["train: 160 MiB are told to serve less than 64 MiB"])
        other = size.rows("redis-latest", {64 * MIB: 10.0}, {64 * MIB: 10.0})
        self.assertEqual(size.wrong([found[0], *other]), [])

    def test_one_run_is_recorded_and_the_others_have_a_cap(self):
        recorded, *capped = size.wanted("redis-latest", 40.0)
        self.assertEqual((recorded.knobs["record"], "caps" in recorded.knobs), ("yes", False))
        self.assertEqual([cell.knobs["caps"] for cell in capped], [f"[redis-server/1={mib}MiB]" for mib in size.SIZES])
        self.assertEqual(len({cell.key for cell in (recorded, *capped)}), 4)


if __name__ == "__main__":
    unittest.main()
