# SPDX-License-Identifier: MIT
"""Where downloads and builds live: outside the tree, complete or absent, one writer at a time."""
import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Iterator


def root() -> Path:
    """The cache folder: $HMK_CACHE, else $XDG_CACHE_HOME/hmk-lab, else ~/.cache/hmk-lab."""
    own = os.environ.get("HMK_CACHE")
    if own:
        path = Path(own)
    else:
        path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hmk-lab"
    path.mkdir(parents=True, exist_ok=True)
    return path.resolve()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock that belongs to `path`; dies with the process, so never goes stale."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.parent / f".{path.name}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def filled(path: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes `path` only if the block ends without an exception.

    A run that is killed half-way therefore never leaves something that looks finished.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        temporary.chmod(0o755)
        yield temporary
        if path.exists():
            shutil.rmtree(path)
        temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
