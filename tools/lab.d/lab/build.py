# SPDX-License-Identifier: MIT
"""Builds some of the programs of user space, no more than are wanted."""
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Dict, Sequence

from . import cache
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


def remembering(root: Path) -> Dict[str, str]:
    """The environment of a build of `root`: with ccache, where it is installed, what any checkout has compiled is not
    compiled again. A variable that is set already stays as it is."""
    if not shutil.which("ccache"):
        return dict(os.environ)
    return {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
            "CCACHE_DIR": str(cache.root() / "compiled"), "CCACHE_MAXSIZE": "2G",
            # The same file in another checkout is the same: of a path only what lies below `root` counts.
            "CCACHE_BASEDIR": str(root.resolve()), "CCACHE_NOHASHDIR": "1", **os.environ}


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
        done = subprocess.run(command, cwd=root, check=False, stdin=subprocess.DEVNULL, stdout=file, stderr=file, env=remembering(root))
    if done.returncode:
        raise LabError(f"{what} failed: {first_error(log.read_text(encoding='utf-8', errors='replace'))}; see {log}")
