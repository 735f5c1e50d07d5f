# SPDX-License-Identifier: MIT
"""The rows of `tools/torture --quick` as tests of the suite, each with the check that torture makes after every run."""
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import List, Sequence

sys.path.append(str(Path(__file__).resolve().parents[2] / "torture.d"))

from lab.outcome import Outcome  # noqa: E402
import runs  # noqa: E402
import sums  # noqa: E402
from rows import ROWS, USER, Row  # noqa: E402
from suite.case import FAILED, PASSED, Result  # noqa: E402
from suite import e2e  # noqa: E402
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

    def tests(self) -> List[EndToEnd]:
        """What it runs in guests."""
        found = [] if self.kernel == USER else e2e.collect(self.root, (self.kernel,))
        return [test for test in found if test.folder.name.startswith(f"{self.row.test}-")]

    def inside(self) -> EndToEnd:
        """What runs in the guest. Raises LabError for a row that needs none."""
        return runs.guest_test(self.root, self.row, self.kernel, self.row.quick)

    def run(self) -> Result:
        return self._told(runs.perform(self.root, self.row, self.kernel, self.row.quick))

    def told(self, outcome: Outcome) -> Result:
        """As run() tells it, of one in a guest of others; whoever asks holds the lock of the results."""
        figures = runs.figures(self.row, self.inside(), outcome)
        return self._told(runs.whole(self.root, self.row, self.kernel, figures, outcome.seconds), e2e.is_grave(outcome))

    def _told(self, run: runs.Run, grave: bool = False) -> Result:
        wrong = sums.add_up(self.row, self.kernel, [run])["verdict"] == "failed"
        reason = run["failed"] or f"{run['count']} {self.row.unit}"
        if wrong and not run["failed"]:
            reason = f"lost {run['lost']}, splats {run['splats']}, leaked {run['leaked']}"
        return Result(self.name, FAILED if wrong else PASSED, run["seconds"], reason, tuple(run.get("detail", ())),
                      grave or bool(run["lost"] or run["leaked"]))


FUZZING = runs.FUZZING
FUZZERS = tuple(row.test for row in ROWS if USER in row.wanted)


def collect(root: Path, kernels: Sequence[str]) -> List[Torture]:
    """The rows that are for one of `kernels`, and those that need none."""
    return [Torture(root, row, kernel) for row in ROWS for kernel in row.wanted if kernel in (*kernels, USER)]


def without(guests: Sequence[EndToEnd], rows: Sequence[Torture]) -> List[EndToEnd]:
    """The tests that are not run as a row anyway."""
    taken = {(row.row.test, row.kernel) for row in rows}
    return [test for test in guests if (test.folder.name.partition("-")[0], test.kernel) not in taken or test.clock != "host"]
