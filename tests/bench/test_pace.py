# SPDX-License-Identifier: MIT
"""A run in which a vCPU fell behind the others is worth nothing: who did, and that it is never kept."""
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, List
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import build  # noqa: E402
import cells  # noqa: E402
import keep  # noqa: E402
import main  # noqa: E402
import pace  # noqa: E402
import runner  # noqa: E402
from lab import Mark, load_machine  # noqa: E402


class Pace(unittest.TestCase):
    """A second in which a vCPU has work is worth as much as another's."""

    def turns(self, instructions: List[int], idle: List[float], seconds: float = 10.0) -> Any:
        def mark(times: int) -> Mark:
            half = {"instructions": 0}
            return Mark(1, times, {"nodes": 4, "vcpus": [{"cpu": cpu, "user": {"instructions": n * times}, "kernel": half}
                                                         for cpu, n in enumerate(instructions)]})
        samples = [{"seconds": 0.0, "idle_seconds": [0.0] * len(idle)}, {"seconds": seconds, "idle_seconds": idle}]
        return pace.turns(samples, [mark(1), mark(2)])

    def test_who_is_busy_half_of_the_time_and_does_half_has_kept_pace(self):
        self.assertEqual(self.turns([1000, 500, 0, 0], [0.0, 5.0, 10.0, 9.5]), [1.0, 1.0, None, None])

    def test_who_had_work_and_did_an_eighth_fell_behind(self):
        found = self.turns([1500, 100, 1500, 1500], [0.0] * 4)
        self.assertAlmostEqual(found[1], 100 / 1150)
        self.assertRegex(pace.behind(found), r"^vCPU 1 executed 0\.087 of the mean [^\n]*invalid$")
        self.assertIsNone(pace.behind(self.turns([1500, 200, 1500, 1500], [0.0] * 4)))

    def test_a_run_that_did_not_tell_is_not_judged(self):
        self.assertIsNone(pace.turns([{"seconds": 0.0}, {"seconds": 1.0}], []))
        self.assertIsNone(pace.behind(None))

    def test_a_run_that_fell_behind_is_never_kept(self):
        machine = load_machine(main.MACHINE, 64 << 30)
        raw = {"cell": {}, "events": {}, "marks": [], "paged": False, "host_seconds": 1.0}
        own = {"turns": [1.0, 0.01, 1.0, 1.0], "tier_share": [1.0]}
        cell = cells.Cell("gups-stable", "first-touch", "", "6.12", "4K", 1, 16.0)
        with tempfile.TemporaryDirectory() as folder:
            store = keep.Store(Path(folder))
            with mock.patch.object(runner.stage, "run", lambda *_: dict(raw)), mock.patch.object(runner.figures, "of", lambda *_: own), \
                    self.assertRaisesRegex(runner.stage.CellFailed, "gups-stable_first-touch_6.12_4K_16s_1: vCPU 1 executed 0.010"):
                runner.one(cell, machine, build.Tools(Path(), {}, "c"), store, runner.Progress(1, 1))
            self.assertFalse(store.has(cell))

if __name__ == "__main__":
    unittest.main()
