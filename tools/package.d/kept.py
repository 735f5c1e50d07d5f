# SPDX-License-Identifier: MIT
"""Disks of a life of the packages, one after each stage, so that a later stage can be run again without those before."""
import json
import shutil
import subprocess
from pathlib import Path
from typing import Dict, List, Optional

from lab.errors import LabError, UsageError
from lab.progress import step


class Kept:
    """In a folder, STAGE.disk and STAGE.json; without a folder nothing is kept."""

    def __init__(self, folder: Optional[Path], stages: List[str]) -> None:
        self._folder, self._stages = folder, stages

    def before(self, first: str) -> str:
        """The stage whose disk `first` begins with; empty if it begins with none. Raises UsageError."""
        at = self._stages.index(first)
        if at == 0:
            return ""
        before = self._stages[at - 1]
        if self._folder is None:
            raise UsageError(f"--from {first}: there is no disk to begin with; name the folder of --keep from the run before")
        if not self._file(before, "json").exists():
            raise UsageError(f"--from {first}: {self._folder} has no disk of '{before}'; begin with an earlier stage")
        return before

    def take(self, stage: str, disk: Path) -> Dict[str, str]:
        """The disk as it was after `stage`, and what was known then."""
        _copy(self._file(stage, "disk"), disk)
        return json.loads(self._file(stage, "json").read_text(encoding="utf-8"))

    def keep(self, stage: str, disk: Path, state: Dict[str, str]) -> None:
        """The disk of a system that is off, and what is known."""
        file = self._file(stage, "json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)  # so that it never tells of half a disk
        _copy(disk, self._file(stage, "disk"))
        file.write_text(json.dumps(state), encoding="utf-8")

    def _file(self, stage: str, kind: str) -> Path:
        assert self._folder
        return self._folder / f"{stage}.{kind}"


def _copy(disk: Path, where: Path) -> None:
    with step(f"copying a disk to {where}"):
        done = subprocess.run(["cp", "--sparse=always", "--reflink=auto", str(disk), str(where)], check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        where.unlink(missing_ok=True)
        raise LabError(f"{done.stderr.strip()}; a disk takes 3 GiB, and there is one for each stage: {shutil.disk_usage(where.parent).free >> 30} GiB are free")
