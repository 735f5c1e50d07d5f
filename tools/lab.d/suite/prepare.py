# SPDX-License-Identifier: MIT
"""Installs at once, before anything is run, what the chosen tests need beyond what building needs."""
import subprocess
from pathlib import Path
from typing import List, Sequence

from lab import LabError, debug, selftests
from lab.debug import FRAGMENTS
from lab.kernels import is_cached
from suite import static, torture
from suite.e2e import EndToEnd
from suite.torture import Torture

GUESTS = ("stress-ng",)  # run by several end-to-end tests


def install(root: Path, checks: bool, tests: Sequence[EndToEnd], rows: Sequence[Torture]) -> None:
    """By tools/setup, as root. Raises LabError."""
    packages = list(dict.fromkeys(needed(checks, tests, rows)))
    if packages and subprocess.run([str(root / "tools/setup"), *packages], check=False, stdin=subprocess.DEVNULL).returncode:
        raise LabError(f"tools/setup {' '.join(packages)} failed, see above")


def needed(checks: bool, tests: Sequence[EndToEnd], rows: Sequence[Torture]) -> List[str]:
    """Names of packages."""
    run = [*tests, *(test for row in rows for test in row.tests())]
    found = list(static.packages()) if checks else []
    found += GUESTS if run else ()
    found += [name for test in run for name in test.needs.get("packages", "").split()]
    if any(test.needs.get("selftests") == "yes" for test in run):
        found += selftests.NEEDS
    if any(test.kernel in FRAGMENTS and not is_cached(test.kernel) for test in run):
        found += debug.NEEDS
    if any(row.row.test in torture.FUZZERS for row in rows):
        found += torture.FUZZING
    return found
