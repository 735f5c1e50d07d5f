# SPDX-License-Identifier: MIT
"""Builds the counting plugin and tells it which physical addresses belong to which node."""
import hashlib
import re
import subprocess
from pathlib import Path
from typing import List, Tuple

from . import cache
from .errors import LabError
from .machine import Machine
from .pages import PREFIX

SOURCES = Path(__file__).resolve().parent / "plugin"
DEFAULT_LLC = 4 << 20


def qemu_version() -> Tuple[int, int]:
    """Major and minor version of the machine's QEMU."""
    try:
        shown = subprocess.run(["qemu-system-x86_64", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise LabError("qemu-system-x86_64 does not run; run tools/setup") from None
    match = re.search(r"version (\d+)\.(\d+)", shown)
    if not match:
        raise LabError(f"QEMU's version is not understood: {shown.splitlines()[0]}")
    return int(match.group(1)), int(match.group(2))


def build() -> Tuple[Path, Path]:
    """Paths of the plugin and of the folder that holds hmk-mark; compiled when a source changed."""
    api = 4 if qemu_version() >= (9, 2) else 1
    sources = sorted(SOURCES.glob("*.[ch]"))
    key = hashlib.sha256(b"".join(p.read_bytes() for p in sources) + bytes([api])).hexdigest()[:12]
    folder = cache.root() / "plugin" / key
    with cache.locked(folder):
        if not folder.is_dir():
            with cache.filled(folder) as partial:
                _compile(["-shared", "-fPIC", "-fvisibility=hidden", f"-DHMK_PLUGIN_API={api}", "-pthread",
                          str(SOURCES / "count.c"), "-o", str(partial / "count.so")])
                (partial / "bin").mkdir()
                _compile([str(SOURCES / "hmk-mark.c"), "-o", str(partial / "bin/hmk-mark")])
    return folder / "count.so", folder / "bin"


def _compile(args: List[str]) -> None:
    done = subprocess.run(["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", *args], check=False,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise LabError(f"the counting plugin does not compile: {done.stderr.strip().splitlines()[0]}")


def ranges(machine: Machine, version: Tuple[int, int]) -> List[Tuple[int, int]]:
    """Start and size, per node, of the addresses QEMU hands to a plugin.

    Up to 8.x that is a RAM block's own offset plus the block's place in the guest. Blocks are
    allocated one after the other, as are their places, so node i starts at twice the sum of the
    sizes before it. Later versions hand out true physical addresses, where q35 leaves a hole
    below 4 GiB. tests/e2e/00-every-access-is-charged-to-its-node checks the result.
    """
    found, before = [], 0
    for node in machine.nodes:
        if version < (9, 0):
            found.append((2 * before, node.memory))
        else:
            found.append((before, node.memory))
        before += node.memory
    return found if version < (9, 0) else _split_at_hole(found, machine.memory)


def _split_at_hole(found: List[Tuple[int, int]], total: int) -> List[Tuple[int, int]]:
    low = 0x80000000 if total >= 0xb0000000 else 0xb0000000
    out = []
    for start, size in found:
        if start < low < start + size:
            raise LabError("a node lies across the 4 GiB hole of this QEMU's machine; choose sizes that add up to "
                           f"{low >> 20}MiB at a node's end")
        out.append((start if start < low else start - low + (4 << 30), size))
    return out


def argument(machine: Machine, out: Path, llc: int, pages: bool) -> str:
    """The value of QEMU's -plugin option; page counts go beside `out`."""
    plugin, _ = build()
    parts = [str(plugin), f"out={out}", f"vcpus={machine.cpus}", f"llc={llc}"]
    parts += [f"pages={out.parent / PREFIX}"] if pages else []
    parts += [f"node={start:x}:{size:x}" for start, size in ranges(machine, qemu_version())]
    return ",".join(parts)
