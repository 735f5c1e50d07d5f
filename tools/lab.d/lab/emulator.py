# SPDX-License-Identifier: MIT
"""QEMU: the machine's own, or the newer one of backports, unpacked in the cache and never installed."""
import functools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple

from . import cache
from .apt import Apt, private
from .debug import FRAGMENTS
from .errors import LabError, UsageError
from .progress import step

EMULATORS = ("system", "backports")
SUITE = "bookworm-backports"
PROGRAM = "qemu-system-x86_64"
PACKAGE = "qemu-system-x86"
BOOT_BY_SPINNING = ("6.1", *FRAGMENTS)


@dataclass(frozen=True)
class Emulator:
    """`command` starts it; the rest of the arguments follow."""

    command: Tuple[str, ...]
    version: Tuple[int, int]

    @property
    def plugin_api(self) -> int:
        """The version of QEMU's plugin interface that our plugin is compiled for."""
        return 4 if self.version >= (9, 2) else 1

    def cannot_take_turns(self, series: str, counting: bool) -> str:
        """Why several vCPUs of a kernel cannot share a thread here; empty if they can.

        From 10.0 plugins are told the vCPU that translated a block, not the one that executes it.
        Before 8.1 a vCPU that spins without PAUSE leaves nothing to the next one, which is how 6.1
        waits for its second CPU: it never gets past "Booting SMP configuration".
        """
        if counting and self.version >= (10, 0):
            return "this QEMU tells the plugin a wrong vCPU; count with clock=host, or on the machine's own QEMU"
        if self.version < (8, 1) and series in BOOT_BY_SPINNING:
            return f"{series} does not boot more than one CPU on this QEMU; use 6.12, or clock=host"
        return ""


@functools.lru_cache(maxsize=None)
def emulator(name: str) -> Emulator:
    """One of EMULATORS, downloaded and unpacked unless the cache has it. Raises UsageError, LabError."""
    if name not in EMULATORS:
        raise UsageError(f"--qemu: '{name}' is unknown; use one of {', '.join(EMULATORS)}")
    command = (PROGRAM,) if name == "system" else _unpacked()
    return Emulator(command, _version(command))


def _version(command: Tuple[str, ...]) -> Tuple[int, int]:
    try:
        shown = subprocess.run([*command, "--version"], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        raise LabError(f"{command[-1]} does not run ({said}); run tools/setup") from None
    match = re.search(r"version (\d+)\.(\d+)", shown.stdout)
    if not match:
        raise LabError(f"QEMU's version is not understood: {shown.stdout.splitlines()[0]}")
    return int(match.group(1)), int(match.group(2))


def _unpacked() -> Tuple[str, ...]:
    """How to start backports' QEMU: its own libraries before the machine's, its own firmware."""
    apt = private(SUITE)
    version = apt.candidate(PACKAGE)
    if version is None:
        raise LabError(f"{SUITE} has no {PACKAGE}; check the network")
    folder = cache.root() / "qemu" / version.replace(":", "-")
    with cache.locked(folder):
        if not folder.is_dir():
            with cache.filled(folder) as partial:
                _unpack(apt, partial)
    firmware = [word for name in ("qemu", "seabios") for word in ("-L", str(folder / "usr/share" / name))]
    return ("env", f"LD_LIBRARY_PATH={folder}/usr/lib/x86_64-linux-gnu", str(folder / "usr/bin" / PROGRAM), *firmware)


def _unpack(apt: Apt, folder: Path) -> None:
    """The program and what the suite has of its dependencies; the machine's own QEMU brought the others."""
    packages: List[str] = [PACKAGE, *(name for name in apt.dependencies(PACKAGE) if apt.available(name))]
    apt.download(packages, folder)
    with step("unpacking QEMU"):
        for deb in sorted(folder.glob("*.deb")):
            subprocess.run(["dpkg", "-x", str(deb), str(folder)], check=True)
            deb.unlink()
