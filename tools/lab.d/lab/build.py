# SPDX-License-Identifier: MIT
"""Builds some of the programs of user space, no more than are wanted."""
import os
import re
import subprocess
from pathlib import Path
from typing import Sequence

from .errors import LabError
from .progress import step


def user_space(root: Path, out: Path, targets: Sequence[str]) -> Path:
    """The build folder: $HMK_BUILD as it is, or build/release with `targets` brought up to date.

    Raises LabError with what failed, why, and where the whole log is (in `out`).
    """
    if "HMK_BUILD" in os.environ:
        return Path(os.environ["HMK_BUILD"])
    _run(["cmake", "--preset", "release"], root, out, "configuring user space")
    _run(["cmake", "--build", "--preset", "release", "--target", *targets], root, out, "building user space")
    return root / "build/release"


def _run(command: list, root: Path, out: Path, what: str) -> None:
    log = out / "build.log"
    with step(what), open(log, "w", encoding="utf-8") as file:
        done = subprocess.run(command, cwd=root, check=False, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    if done.returncode:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        first = next((line for line in lines if re.search(r"error[: ]|CMake Error", line)), lines[-1] if lines else "?")
        raise LabError(f"{what} failed: {first.strip()}; see {log}")
