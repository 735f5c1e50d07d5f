# SPDX-License-Identifier: MIT
"""What the systems under test write into the kernel's files, and what they leave out where a kernel has no such file."""
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List, Sequence
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import cells  # noqa: E402
from systems import SYSTEMS, base, damon, interleave, numa_balancing  # noqa: E402

NOWHERE = Path("/")


class Kernel:
    """Takes what is written; its files are those whose names end in one of `there`."""

    def __init__(self, there: Sequence[str] = ()) -> None:
        self.there = tuple(there)
        self.files: Dict[str, str] = {}
        self.before_load: List[str] = []

    def write(self, path: str, value: Any) -> None:
        self.files[path] = str(value)

    def exists(self, path: Path) -> bool:
        return str(path).endswith(self.there)

    def start(self, module: Any, system: str, knobs: Dict[str, Any]) -> base.System:
        """The system, started on this kernel with a memory of two nodes."""
        found = SYSTEMS[system](knobs, NOWHERE, None)
        with mock.patch.object(module, "write", self.write), mock.patch.object(Path, "exists", lambda path: self.exists(path)), \
                mock.patch.object(damon, "memory_ranges", lambda: [[0, 4096], [8192, 16384]]), \
                mock.patch.object(module, "threads", lambda _: []), mock.patch.object(module, "pin", lambda *_: None):
            found.launcher()
            self.before_load = list(self.files)
            found.start([])
        return found


class Damon(unittest.TestCase):
    SCHEME = f"{damon.ROOT}/{{}}/contexts/0/schemes/0"
    OLD, NEW = ("apply_interval_us",), ("apply_interval_us", "intervals_goal", "nid", damon.STAT)

    def test_the_recipe_keeps_the_fast_node_full_and_lets_the_pages_own_bit_decide(self):
        kernel = Kernel(self.NEW)
        started = kernel.start(damon, "damon", cells.DAMON["damo"])
        self.assertEqual(started.left_out, [])
        seen = [[kernel.files[f"{self.SCHEME.format(node)}/{name}"] for name in (
            "action", "quotas/goals/0/target_metric", "quotas/goals/0/target_value", "quotas/goals/0/nid", "filters/0/type",
            "filters/0/matching", "apply_interval_us")] for node in (0, 1)]
        self.assertEqual(seen, [["migrate_cold", "node_mem_free_bp", "50", "0", "young", "Y", "1000000"],
                                ["migrate_hot", "node_mem_used_bp", "9970", "0", "young", "N", "1000000"]])
        self.assertEqual(kernel.files[damon.STAT], "N")

    def test_what_a_kernel_lacks_is_left_out_and_told(self):
        kernel = Kernel(self.OLD)
        started = kernel.start(damon, "damon", cells.DAMON["damo"])
        self.assertEqual(started.left_out, ["tune", "goals"])
        self.assertEqual([name for name in kernel.files if "intervals_goal" in name or "goals/0" in name or name == damon.STAT], [])
        self.assertEqual(kernel.files[f"{self.SCHEME.format(1)}/quotas/goals/nr_goals"], "0")
        self.assertEqual(kernel.files[f"{self.SCHEME.format(1)}/quotas/weights/nr_accesses_permil"], "1")

    def test_settings_without_the_recipe_write_nothing_of_it(self):
        kernel = Kernel(self.NEW)
        kernel.start(damon, "damon", cells.DAMON["by-hand"])
        self.assertEqual([name for name in kernel.files if any(word in name for word in (
            "filters", "goal", "weights", "apply_interval"))], [])


class NumaBalancing(unittest.TestCase):
    def started(self, name: str) -> Dict[str, str]:
        kernel = Kernel()
        kernel.start(numa_balancing, "numa-balancing", cells.NUMA_BALANCING[name])
        return kernel.files

    def test_the_mode_comes_last_and_is_2_unless_given(self):
        for name, mode in (("default", "2"), ("mode-1", "1"), ("mode-3", "3")):
            self.assertEqual(list(self.started(name).items())[-1], (numa_balancing.MODE, mode))

    def test_demotion_and_headroom_are_there_before_the_application(self):
        kernel = Kernel()
        kernel.start(numa_balancing, "numa-balancing", cells.NUMA_BALANCING["mode-2"])
        self.assertIn("/sys/kernel/mm/numa/demotion_enabled", kernel.before_load)
        self.assertIn("/proc/sys/vm/watermark_scale_factor", kernel.before_load)
        self.assertNotIn(numa_balancing.MODE, kernel.before_load)

    def test_each_knob_goes_into_its_own_folder(self):
        files = self.started("mode-2-limited")
        self.assertEqual(files["/proc/sys/vm/watermark_scale_factor"], "200")
        self.assertEqual(files["/proc/sys/kernel/numa_balancing_promote_rate_limit_MBps"], "100")
        self.assertEqual(files[f"{numa_balancing.DEBUG}/hot_threshold_ms"], "1000")


class WeightedInterleave(unittest.TestCase):
    def launched(self, weights: Sequence[int]):
        kernel = Kernel()
        files = [Path(f"{interleave.WEIGHTS}/node{node}") for node in range(4)]
        with mock.patch.object(interleave, "write", kernel.write), mock.patch.object(Path, "glob", lambda *_: files):
            return SYSTEMS["weighted-interleave"]({"weights": weights}, NOWHERE, None).launcher(), kernel.files

    def test_a_node_without_weight_takes_no_part(self):
        words, files = self.launched([19, 7, 7, 0])
        self.assertEqual((words[-1], list(files.values())), ("0,1,2", ["19", "7", "7"]))

    def test_weights_of_another_machine_are_refused_in_one_line(self):
        with self.assertRaises(interleave.Failed) as refused:
            self.launched([1, 1])
        self.assertRegex(str(refused.exception), r"^weighted interleave: weights of 2 nodes for a machine of 4; [^\n]*$")


if __name__ == "__main__":
    unittest.main()
