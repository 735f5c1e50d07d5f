# SPDX-License-Identifier: MIT
"""tools/bench placement --recheck: which cells it draws, and what lies within a range."""
import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import cells  # noqa: E402
import keep  # noqa: E402
import main  # noqa: E402
import recheck  # noqa: E402
from lab.errors import UsageError  # noqa: E402


def run(share: float, ns: float = 100.0) -> Dict[str, Any]:
    return {"commit": "c", "cell": {"knobs": {}}, "figures": {
        "tier_share": [share, 1 - share], "settled_per_operation": {"application_ns": ns}, "settled_modelled_ns_per_kilo_instruction": 1.0}}


def cell(workload: str, repeat: int) -> cells.Cell:
    return cells.Cell(workload, "first-touch", "", "6.12", "4K", repeat, 10.0)


class Bounds(unittest.TestCase):
    def test_half_a_width_on_either_side_and_a_hundredth_at_the_least(self):
        for values, low, high in (([100.0, 120.0], 90.0, 130.0), ([100.0, 100.0], 99.0, 101.0), ([100.0], 99.0, 101.0)):
            for bound, expected in zip(recheck.bounds(values), (low, high)):
                self.assertAlmostEqual(bound, expected)

    def test_what_lies_without_is_told_by_figure(self):
        runs = [run(.8, 100.0), run(.82, 120.0)]
        self.assertEqual(recheck.outside(run(.829, 90.1), runs), [])
        self.assertEqual(recheck.outside(run(.7, 131.0), runs), ["tier 1's share 0.7, not within 0.79 to 0.83",
                                                                 "settled ns/op 131, not within 90 to 130"])


class Drawn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = keep.Store(Path(folder.name) / "bench-four-tier")
        self.wanted = [cell(name, repeat) for name in ("a", "b", "c") for repeat in (1, 2, 3)]
        for one in self.wanted:
            if one.workload != "c" or one.repeat == 1:
                self.store.write(one, run(.8))

    def test_only_what_ran_more_than_once_with_all_its_runs(self):
        for seed in range(5):
            drawn = recheck.draw(self.wanted, self.store, 2, seed)
            self.assertEqual(sorted((cells[0].workload, len(cells)) for cells in drawn), [("a", 3), ("b", 3)])

    def test_more_than_there_are_is_refused(self):
        for number in (0, 3):
            with self.assertRaisesRegex(UsageError, rf"^--recheck {number}: [^\n]* 2 ran more than once"):
                recheck.draw(self.wanted, self.store, number, 1)

    def recheck(self, result: Dict[str, Any]) -> int:
        """With runs that give `result`."""
        def every(tasks: Any, *_: Any) -> list:
            for one, _, store in tasks:
                self.assertEqual(one.repeat, 4)
                store.write(one, result)
            return []
        args = main.parse(["--recheck", "2", "--jobs", "1"])
        with mock.patch.object(recheck.build, "prepare", lambda *_: None), mock.patch.object(recheck.runner, "every", every), \
                contextlib.redirect_stdout(io.StringIO()):
            return recheck.run(args, self.wanted, self.store, ROOT)

    def test_one_without_fails(self):
        self.assertEqual((self.recheck(run(.8)), self.recheck(run(.7))), (0, 1))


if __name__ == "__main__":
    unittest.main()
