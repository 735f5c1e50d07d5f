# SPDX-License-Identifier: MIT
"""What the cells need before anything is booted: packages, our programs, the module of each kernel."""
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Sequence

from lab.build import user_space
from lab.errors import LabError, UsageError
from lab.module import build_module
from lab.progress import step

from cells import Cell
from workloads import WORKLOADS, Failed


@dataclass(frozen=True)
class Tools:
    """Where things are, and what they were built from."""

    build: Path
    modules: Dict[str, Path]
    commit: str
    daemon: Optional[Path] = None  # the build that has hmkd, where it is another


def prepare(root: Path, out: Path, wanted: Sequence[Cell]) -> Tools:
    """Check, build, and let workloads make their data. Raises UsageError or LabError."""
    kinds = {cell.workload: WORKLOADS[cell.workload] for cell in wanted if not cell.command}
    _check_packages({package: name for name, kind in kinds.items() for package in kind.packages})
    programs = sorted({program for kind in kinds.values() for program in kind.programs})
    build = user_space(root, out, ["hmkd", "hmkctl", *programs])
    modules = {cell.kernel: build_module(cell.kernel) for cell in wanted if cell.system.startswith("hm-keeper")}
    for name, kind in kinds.items():
        try:
            with step(f"preparing {name}"):
                kind.host_prepare(build)
        except Failed as failure:
            raise LabError(f"{name}: {failure}") from None
    return Tools(build, modules, commit(root))


def _check_packages(needed: Dict[str, str]) -> None:
    """All packages that are missing, in one message."""
    missing: List[str] = []
    for package in sorted(needed):
        done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if done.stdout != "installed":
            missing.append(package)
    if missing:
        raise UsageError(f"{needed[missing[0]]} needs packages that are not installed; run: "
                         f"apt-get install {' '.join(missing)}")


def commit(root: Path) -> str:
    """Short hash of what is checked out, with + when the tree differs from it."""
    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", str(root), *words], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip() if done.returncode == 0 else ""
    found = git("rev-parse", "--short=10", "HEAD") or "unknown"
    return found + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
