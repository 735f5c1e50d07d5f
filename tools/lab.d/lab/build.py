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
    run_preset(root, out, "release", "--target", *targets)
    return root / "build/release"


def run_preset(root: Path, out: Path, name: str, *options: str) -> None:
    """Configure and build by a preset of CMakePresets.json. Raises LabError as above."""
    _run(["cmake", "--preset", name], root, out, "configuring user space")
    _run(["cmake", "--build", "--preset", name, *options], root, out, "building user space")


def first_error(text: str) -> str:
    """Of what a compiler or CMake said, the line that says why.

    >>> first_error("a.c: In function 'f':\\na.c:1:1: error: no\\n")
    'a.c:1:1: error: no'
    """
    lines = text.strip().splitlines() or ["no message"]
    return next((line for line in lines if re.search(r"error[: ]|CMake Error", line)), lines[-1]).strip()


def _run(command: list, root: Path, out: Path, what: str) -> None:
    log = out / "build.log"
    with step(what), open(log, "w", encoding="utf-8") as file:
        done = subprocess.run(command, cwd=root, check=False, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    if done.returncode:
        raise LabError(f"{what} failed: {first_error(log.read_text(encoding='utf-8', errors='replace'))}; see {log}")
