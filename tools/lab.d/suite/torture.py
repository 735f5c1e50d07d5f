# SPDX-License-Identifier: MIT
"""The rows of `tools/torture --quick` as tests of the suite, each with the check that torture makes after every run."""
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import List, Sequence

sys.path.append(str(Path(__file__).resolve().parents[2] / "torture.d"))

import runs  # noqa: E402
import sums  # noqa: E402
from rows import ROWS, USER, Row  # noqa: E402
from suite.case import FAILED, PASSED, Result  # noqa: E402
from suite.e2e import EndToEnd  # noqa: E402


@dataclass(frozen=True)
class Torture:
    """One row on one kernel."""

    root: Path
    row: Row
    kernel: str

    @property
    def name(self) -> str:
        return f"torture/{self.row.name} [{self.kernel}]"

    def run(self) -> Result:
        run = runs.perform(self.root, self.row, self.kernel, self.row.quick)
        wrong = sums.add_up(self.row, self.kernel, [run])["verdict"] == "failed"
        reason = run["failed"] or f"{run['count']} {self.row.unit}"
        if wrong and not run["failed"]:
            reason = f"lost {run['lost']}, splats {run['splats']}, leaked {run['leaked']}"
        return Result(self.name, FAILED if wrong else PASSED, run["seconds"], reason, tuple(run.get("detail", ())))


def collect(root: Path, kernels: Sequence[str]) -> List[Torture]:
    """The rows that are for one of `kernels`, and those that need none."""
    return [Torture(root, row, kernel) for row in ROWS for kernel in row.wanted if kernel in (*kernels, USER)]


def without(guests: Sequence[EndToEnd], rows: Sequence[Torture]) -> List[EndToEnd]:
    """The tests that are not run as a row anyway."""
    taken = {(row.row.test, row.kernel) for row in rows}
    return [test for test in guests if (test.folder.name.partition("-")[0], test.kernel) not in taken or test.clock != "host"]
