# SPDX-License-Identifier: MIT
"""tools/bench placement --gate: who counts as slower, what proves nothing, which cells it runs."""
import contextlib
import io
import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement"), str(ROOT / "tests/bench")]

import gate  # noqa: E402
import keep  # noqa: E402
import main  # noqa: E402
from test_placement import run  # noqa: E402


def row(whole: Optional[float], settled: Optional[float], system: str = "hm-keeper", ns: float = 100.0, operations: int = 0) -> Dict[str, Any]:
    """Times by user instruction, and so many operations of `ns` each."""
    told = {"application_ns": ns, "operations": operations} if operations else None
    return {"workload": "sort", "page_size": "4K", "system": system, "modelled_time_vs_first_touch": whole,
            "settled_modelled_time_vs_first_touch": settled, "per_operation": told, "settled_per_operation": told}


class Slower(unittest.TestCase):
    def test_at_the_limit_nobody_is_beyond_it_each_figure_tells(self):
        self.assertEqual(gate.slower([row(1.02, 1.02), row(0.5, 0.4)]), [])
        self.assertEqual(len(gate.slower([row(1.0201, 1.0)])), 1)
        self.assertEqual(len(gate.slower([row(1.0, 1.0201)])), 1)
        whole, settled = gate.slower([row(1.5, 1.25)])
        self.assertIn("sort, 4K pages: 1.500", whole)
        self.assertIn("1.250 times first-touch's time in its last quarter", settled)

    def test_time_is_that_of_an_operation_where_there_are_enough(self):
        base = row(1, 1, "first-touch", 100.0, gate.FEW)
        self.assertEqual(len(gate.slower([base, row(0.5, 0.5, ns=102.1, operations=gate.FEW)])), 2)
        self.assertEqual(gate.slower([base, row(1.5, 1.5, ns=102.0, operations=gate.FEW)]), [])
        self.assertEqual(gate.slower([base, row(1.0, 1.0, ns=200.0, operations=gate.FEW - 1)]), [])
        self.assertEqual(len(gate.slower([row(1, 1, "first-touch"), row(1.5, 1.5, ns=50.0, operations=gate.FEW)])), 2)

    def test_operations_that_both_did_count_first_over_the_whole_window(self):
        base = row(1, 1, "first-touch", 100.0, gate.FEW)
        other = row(1, 1, ns=150.0, operations=gate.FEW)
        other["settled_per_operation"] = base["settled_per_operation"]
        self.assertEqual(len(gate.slower([base, other])), 1)
        self.assertEqual(gate.slower([base, {**other, "common_operations": {"operations": gate.FEW, "time": 1.02}}]), [])
        self.assertEqual(len(gate.slower([base, {**other, "common_operations": {"operations": gate.FEW, "time": 1.0201}}])), 1)
        self.assertEqual(len(gate.slower([base, {**other, "common_operations": {"operations": gate.FEW - 1, "time": 1.0}}])), 1)

    def test_fewer_are_enough_where_both_did_the_same_ones(self):
        base, other = row(1, 1, "first-touch"), row(1.5, 1.0)
        for workload, operations, slower in (("tpcc-hsqldb", gate.FEW_IN_ORDER, 0), ("tpcc-hsqldb", gate.FEW_IN_ORDER - 1, 1),
                                             ("sort", gate.FEW_IN_ORDER, 1)):
            with self.subTest(workload=workload, operations=operations):
                both = [{**one, "workload": workload, "common_operations": {"operations": operations, "time": 1.0}} for one in (base, other)]
                self.assertEqual(len(gate.slower(both)), slower)

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


class Command(unittest.TestCase):
    """From finished cells to the exit code; nothing is booted."""

    def gate(self, seconds: float = 60.0, **slow: float) -> Tuple[int, str]:
        """With HM-Keeper's time of some workloads over first-touch's, 1 for the others."""
        def run_all(args: Any, wanted: List[main.cells.Cell], store: keep.Store) -> List[str]:
            for cell in wanted:
                pace = 1000.0 * (slow.get(cell.workload.replace("-", "_"), 1.0) if cell.system == "hm-keeper" else 1.0)
                done = run(cell.workload, cell.system, "", .5, pace)
                done["cell"]["knobs"] = cell.knobs
                done["release"] = "r"
                store.write(cell, done)
            return []

        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as told, \
                contextlib.redirect_stdout(io.StringIO()), mock.patch.object(main, "run_all", run_all), \
                mock.patch.object(sys, "argv", ["placement", "--gate", "--out", folder]), \
                mock.patch.object(main.time, "monotonic", side_effect=itertools.count(0, seconds).__next__):
            return main.main(), told.getvalue()

    def test_nobody_slower_passes_and_one_slower_fails_by_name(self):
        self.assertEqual(self.gate()[0], 0)
        self.assertEqual(self.gate(sort=1.02)[0], 0)
        status, told = self.gate(sort=1.03)
        self.assertEqual(status, 1)
        self.assertIn("bench: gate: sort, 4K pages: 1.030 times first-touch's time over the whole window; at most 1.02", told)
        self.assertNotIn("gups", told)

    def test_more_time_than_it_may_take_is_told(self):
        self.assertNotIn("at most", self.gate(gate.SECONDS)[1])
        self.assertIn(f"took {gate.SECONDS + 1} s, at most {gate.SECONDS} on two CPUs", self.gate(gate.SECONDS + 1)[1])


if __name__ == "__main__":
    unittest.main()
