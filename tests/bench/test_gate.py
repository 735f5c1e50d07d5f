# SPDX-License-Identifier: MIT
"""tools/bench placement --gate: who counts as slower, what proves nothing, which cells it runs."""
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import gate  # noqa: E402
import main  # noqa: E402


def row(whole: Optional[float], settled: Optional[float], system: str = "hm-keeper") -> Dict[str, Any]:
    return {"workload": "sort", "page_size": "4K", "system": system, "modelled_time_vs_first_touch": whole,
            "settled_modelled_time_vs_first_touch": settled}


class Slower(unittest.TestCase):
    def test_at_the_limit_nobody_is_beyond_it_each_figure_tells(self):
        self.assertEqual(gate.slower([row(1.02, 1.02), row(0.5, 0.4)]), [])
        self.assertEqual(len(gate.slower([row(1.0201, 1.0)])), 1)
        self.assertEqual(len(gate.slower([row(1.0, 1.0201)])), 1)
        whole, settled = gate.slower([row(1.5, 1.25)])
        self.assertIn("sort, 4K pages: 1.500", whole)
        self.assertIn("1.250 times first-touch's time in its last quarter", settled)

    def test_another_system_may_be_slower(self):
        self.assertEqual(gate.slower([row(3.0, 3.0, "first-touch")]), [])

    def test_what_gave_no_figure_or_no_result_fails(self):
        self.assertEqual(len(gate.slower([row(None, 1.0)])), 1)
        self.assertEqual(gate.slower([], ["sort_hm-keeper_6.12_4K_10s_1"]), ["sort_hm-keeper_6.12_4K_10s_1: no result"])


class Cells(unittest.TestCase):
    def test_each_workload_beside_first_touch_and_always_anew(self):
        args = main.parse(["--gate"])
        keys = [cell.key for cell in main.plan(args)]
        self.assertTrue(args.again)
        self.assertEqual(len(keys), len(gate.WORKLOADS) * len(gate.SYSTEMS))
        self.assertIn("gups-fits_hm-keeper_6.12_4K_10s_1", keys)

    def test_it_has_its_own_choice_of_cells(self):
        for words in (["--quick"], ["--workload", "sort"], ["--system", "damon"], ["--stored"], ["--pages", "THP"]):
            with self.subTest(words):
                done = subprocess.run([sys.executable, "-B", str(ROOT / "tools/bench.d/placement/main.py"), "--gate", *words], check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 2)
                self.assertIn("--gate has its own choice of cells", done.stderr)


if __name__ == "__main__":
    unittest.main()
