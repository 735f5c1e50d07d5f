# SPDX-License-Identifier: MIT
"""Passes of earlier runs by the hash of their inputs, and how long each test took; both in the cache, for all checkouts."""
import json
import time
from pathlib import Path
from typing import Dict

from lab import cache

KEEP_SECONDS = 30 * 86400.0


class Passes:
    """Only what passed is kept: a failure is always run again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def has(self, key: str) -> bool:
        return (self._folder / key).exists()

    def add(self, key: str) -> None:
        (self._folder / key).touch()

    def forget_old(self) -> None:
        """Those of a month ago: kernels and QEMU have changed since anyway."""
        for file in self._folder.iterdir():
            if file.stat().st_mtime < time.time() - KEEP_SECONDS:
                file.unlink(missing_ok=True)


class Times:
    """Seconds of each name's last run; what is not known is thought long, so that it does not come last."""

    UNKNOWN = 60.0

    def __init__(self, file: Path) -> None:
        self._file = file
        self._new: Dict[str, float] = {}
        self._old = _read(file)

    def of(self, *names: str) -> float:
        """Of all of them together."""
        return sum(self._old.get(name, self.UNKNOWN) for name in names)

    def add(self, name: str, seconds: float) -> None:
        self._new[name] = round(seconds, 1)

    def save(self) -> None:
        """What others have saved meanwhile stays."""
        with cache.locked(self._file):
            partial = self._file.with_suffix(".partial")
            partial.write_text(json.dumps({**_read(self._file), **self._new}, indent=0) + "\n", encoding="utf-8")
            partial.rename(self._file)


def _read(file: Path) -> Dict[str, float]:
    try:
        return dict(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {}
