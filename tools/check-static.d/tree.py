# SPDX-License-Identifier: MIT
"""The tree that is looked at, and how a tool's lines become findings of it."""
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterable, Iterator, List, Sequence, Tuple

FOLDERS = ("kmod", "include", "uapi", "libhmk", "daemon", "tools", "tests", "packaging", ".ci")
CPP = ("daemon", "include", "libhmk", "tools", "tests")  # with C++ and C of user space
PLANTED = "tests/static/planted"  # the defects every checker must find


@dataclass(frozen=True)
class Tree:
    """A checkout, and the kernels its module is for."""

    root: Path
    kernels: Tuple[str, ...]
    jobs: int = os.cpu_count() or 1
    seconds: float = float("inf")  # that a slow checker has; what it leaves for another run it says in `notes`
    notes: List[str] = field(default_factory=list, compare=False)

    def files(self, *suffixes: str, below: Iterable[str] = FOLDERS) -> List[Path]:
        """Files with one of the suffixes (all without), sorted; neither build results nor planted defects."""
        return sorted(file for folder in below for file in _walk(self.root / folder)
                      if (not suffixes or file.suffix in suffixes) and not self._is_planted(file))

    def _is_planted(self, file: Path) -> bool:
        return PLANTED in str(file.relative_to(self.root))


def _walk(folder: Path) -> Iterator[Path]:
    for path, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield from (Path(path) / name for name in names)


def lines_of(command: Sequence[object], **options) -> List[str]:
    """All a tool says. Its status is not asked: many have only one for "found" and "failed"."""
    done = subprocess.run([str(word) for word in command], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    return done.stdout.splitlines()


def findings(lines: Iterable[str], base: Path, pattern: str = r"(warning|error): ") -> List[str]:
    """Lines that start with a file below `base`, each once, with the file's name relative to it."""
    found = {}
    for line in lines:
        match = re.match(r"([^\s:]+):\d+", line)
        if not match or not re.search(pattern, line):
            continue
        file = Path(os.path.normpath(base / match.group(1)))
        if base in file.parents:
            found[line.replace(match.group(1), str(file.relative_to(base)), 1)] = True
    return list(found)
