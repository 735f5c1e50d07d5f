# SPDX-License-Identifier: MIT
"""The kernel's own tests of its memory management, built from Debian's source of the newer gate.

They say by themselves what an older kernel does not have. Those of the older gate take any refusal of move_pages(2) for a
failure, which a second mover makes ordinary; the newer ones try again.
"""
import shutil
import subprocess
from pathlib import Path
from typing import List

from . import cache
from .apt import Apt, install_missing, private
from .errors import LabError
from .progress import step

PACKAGE = "linux-source-6.12"
NEEDS = ("gcc", "libcap-dev", "libnuma-dev", "liburing-dev", "make", "xz-utils")


def selftests() -> Path:
    """The folder of the programs. One that does not compile here is missing in it; the log beside them says why."""
    apt = Apt() if Apt().available(PACKAGE) else private("bookworm-backports")
    version = apt.candidate(PACKAGE)
    if version is None:
        raise LabError(f"{PACKAGE} is in no suite that apt can reach; check the network")
    folder = cache.root() / "selftests" / version
    with cache.locked(folder):
        if not folder.is_dir():
            install_missing(NEEDS, "the kernel's own tests")
            with cache.filled(folder) as partial:
                _build(apt, partial)
    return folder


def _build(apt: Apt, folder: Path) -> None:
    apt.download([PACKAGE], folder)
    log = folder / "build.log"
    with step(f"building the mm tests of {PACKAGE}"):
        for deb in folder.glob("*.deb"):
            _run(["dpkg", "-x", str(deb), str(folder)], log)
            deb.unlink()
        archive = next(folder.glob("usr/src/*.tar.xz"))
        _run(["tar", "-xf", str(archive), "-C", str(folder)], log)
        source = folder / PACKAGE
        _run(["make", "-C", str(source), "headers"], log)
        _run(["make", "-k", "-C", str(source / "tools/testing/selftests/mm")], log, must=False)
    for program in (source / "tools/testing/selftests/mm").iterdir():
        if program.is_file() and not program.suffix and program.stat().st_mode & 0o100:
            shutil.copy2(program, folder)
    for unused in (folder / "usr", source):
        shutil.rmtree(unused)
    if not (folder / "migration").exists():
        raise LabError(f"{PACKAGE}: its migration test does not compile; see {log}")


def _run(command: List[str], log: Path, must: bool = True) -> None:
    with open(log, "a", encoding="utf-8") as output:
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    if done.returncode and must:
        raise LabError(f"{' '.join(command[:4])} failed; see {log}")
