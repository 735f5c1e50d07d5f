# SPDX-License-Identifier: MIT
"""Builds the counting plugin and tells it which physical addresses belong to which node."""
import hashlib
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import List, Tuple

from . import cache
from .emulator import Emulator
from .build import first_error
from .errors import LabError, UsageError
from .machine import Machine
from .pages import PREFIX

SOURCES = Path(__file__).resolve().parent / "plugin"
DEFAULT_L1, DEFAULT_L2, DEFAULT_LLC = 32 << 10, 256 << 10, 4 << 20
SAMPLES = "samples.perf"   # beside the marks
REACH = 64 << 30   # of the addresses that the plugin's caches can tell apart
LEAST = {"l1": 64, "l2": 512, "llc": 1024}  # a line, a set, a set


@dataclass(frozen=True)
class Counting:
    """Sizes of the modelled caches in bytes (L1 and L2 per vCPU, one LLC), whether to count per page, and of how many loads one is
    sampled (0: of none)."""

    l1: int = DEFAULT_L1
    l2: int = DEFAULT_L2
    llc: int = DEFAULT_LLC
    pages: bool = False
    samples: int = 0

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            if getattr(self, name) < least:
                raise UsageError(f"{name}={getattr(self, name)}: a cache has at least {least} bytes")
        if self.l1 & (self.l1 - 1):
            raise UsageError(f"l1={self.l1} is no power of two; {1 << self.l1.bit_length() - 1} is the nearest below")


def build(api: int) -> Tuple[Path, Path]:
    """Paths of the plugin and of the folder that holds hmk-mark; compiled when a source changed."""
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
        raise LabError(f"the counting plugin does not compile: {first_error(done.stderr)}")


def ranges(machine: Machine, version: Tuple[int, int]) -> List[Tuple[int, int, int]]:
    """Node, start and size of the addresses QEMU hands to a plugin.

    Up to 8.x that is a RAM block's own offset plus the block's place in the guest. Blocks are
    allocated one after the other, as are their places, so node i starts at twice the sum of the
    sizes before it. Later versions hand out true physical addresses, where q35 leaves a hole
    below 4 GiB. tests/e2e/00-every-access-is-charged-to-its-node checks the result.
    Raises UsageError for more than the plugin can tell apart.
    """
    found: List[Tuple[int, int, int]] = []
    before = 0
    for node in machine.nodes:
        found += ([(node.id, 2 * before, node.memory)] if version < (9, 0)
                  else _around_hole(node.id, before, node.memory, machine.memory))
        before += node.memory
    if max(start + size for _, start, size in found) > REACH:
        raise UsageError(f"machine {machine.name}: {machine.memory >> 30} GiB are more than can be counted; counting "
                         f"reaches {REACH >> 30} GiB of QEMU's addresses, make the nodes smaller")
    return found


def _low(total: int) -> int:
    """Bytes of memory that q35 puts below 4 GiB at most."""
    return 0x80000000 if total >= 0xb0000000 else 0xb0000000


def _around_hole(node: int, start: int, size: int, total: int) -> List[Tuple[int, int, int]]:
    """Where q35 puts a node that would lie at `start` if there were no hole: in one part or two."""
    low = _low(total)
    below = max(0, min(size, low - start))
    parts = [(node, start, below), (node, (4 << 30) + max(0, start - low), size - below)]
    return [part for part in parts if part[2]]


def _sampling(machine: Machine, version: Tuple[int, int], file: Path, every: int) -> List[str]:
    """A sample's latency is that of the node as CPU 0 sees it."""
    home = next(node.id for node in machine.nodes if 0 in node.cpus)
    return [f"samples={file}", f"every={every}", *([f"low={_low(machine.memory):x}"] if version < (9, 0) else []),
            *(f"latency={node.id}:{node.access[home].latency_ns}" for node in machine.nodes)]


def argument(machine: Machine, spacers: int, emulator: Emulator, out: Path, counting: Counting) -> str:
    """The value of QEMU's -plugin option; page counts go beside `out`. Spacers are counted, as the last vCPUs."""
    plugin, _ = build(emulator.plugin_api)
    parts = [str(plugin), f"out={out}", f"vcpus={machine.cpus + spacers}",
             f"l1={counting.l1}", f"l2={counting.l2}", f"llc={counting.llc}", f"tlb={machine.core.tlb_entries}"]
    parts += [f"pages={out.parent / PREFIX}"] if counting.pages else []
    parts += _sampling(machine, emulator.version, out.parent / SAMPLES, counting.samples) if counting.samples else []
    parts += [f"node={node}:{start:x}:{size:x}" for node, start, size in ranges(machine, emulator.version)]
    return ",".join(parts)
