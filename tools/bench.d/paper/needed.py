# SPDX-License-Identifier: MIT
"""The kinds of runs an experiment is made of, as values: a guest of tools/bench placement, or calls of another program."""
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, Tuple

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import cells  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

KERNEL = "6.12"
SHORT = 10.0  # seconds of GUPS, as --quick has them: it settles within 6
FOUR_TIERS, EMULATED, TWO_TIERS = "bench-four-tier", "bench-emulated", "bench-two-tier"
#: By hand, not chosen by a search: what ran once stays comparable. HM-Keeper's are the paper's defaults, scaled (tools/bench.d/README.md).
OURS, MEMORY_TIERING, DAMON = cells.HM_KEEPER["by-hand"], cells.NUMA_BALANCING["mode-2"], cells.DAMON["by-hand"]
#: Baselines of HK-69 as settings of what the kernel has. DAMON held to regions of 2 MiB at most, a random page checked in each, is
#: Thermostat's profiling; a window of 256 MiB at a time, of which whatever faults is promoted, is AutoNUMA's.
BASELINES: Dict[str, Tuple[str, cells.Knobs]] = {
    "thermostat": ("damon", {**DAMON, "min_nr_regions": 768, "max_nr_regions": 1536}),
    "random-window": ("numa-balancing", {**cells.NUMA_BALANCING["unselected"], "scan_size_mb": 256}),
}


@dataclass(frozen=True)
class Guest:
    """One cell on a machine of configs/lab."""

    cell: cells.Cell
    machine: str = FOUR_TIERS
    needs: str = ""        # a workload whose programs the cell's command is
    minutes: float = 2.0

    @property
    def key(self) -> str:
        return f"{self.machine}/{self.cell.key}"


@dataclass(frozen=True)
class Calls:
    """A program of tools/, called with each of `words`; every call writes a list with --json."""

    name: str
    program: str           # sim or bench
    target: str            # what has to be built for it
    words: Tuple[Tuple[str, ...], ...]
    minutes: float = 1.0

    @property
    def key(self) -> str:
        return self.name


def guest(workload: str, system: str, machine: str = FOUR_TIERS, window: float = 0.0, **changed: object) -> Guest:
    """The cell of a workload and a system by the names of _system() below; `changed` are knobs of HM-Keeper instead of its own."""
    name, variant, knobs = _system(system)
    if changed:
        variant = "-".join([variant, *(f"{key}-{value}".rstrip("%") for key, value in changed.items())])
        knobs = {**knobs, **changed}
    kind = WORKLOADS[workload]
    return Guest(cells.Cell(workload, name, variant, KERNEL, "4K", 1, window or kind.window_seconds, cells.fitted(name, knobs, kind)), machine)


def command(name: str, words: Tuple[str, ...], needs: str, system: str, pages: str, settle_seconds: float) -> Guest:
    """A workload's program with other arguments; it counts no operations."""
    known, variant, knobs = _system(system)
    cell = cells.Cell(name, known, variant, KERNEL, pages, 1, WORKLOADS[needs].window_seconds, knobs, words, settle_seconds)
    return Guest(cell, needs=needs, minutes=3.0)


def _system(name: str) -> Tuple[str, str, cells.Knobs]:
    """System, setting's name and knobs."""
    known: Dict[str, Tuple[str, str, cells.Knobs]] = {
        "first-touch": ("first-touch", "", {}), "hm-keeper": ("hm-keeper", "by-hand", OURS),
        "memory-tiering": ("numa-balancing", "mode-2", MEMORY_TIERING), "damon": ("damon", "by-hand", DAMON),
        "auto-numa": ("numa-balancing", "mode-1", cells.NUMA_BALANCING["mode-1"]),
        **{name: (system, name, knobs) for name, (system, knobs) in BASELINES.items()},
        **{f"hm-keeper/{part}": (f"hm-keeper/{part}", "by-hand", {**OURS, **knobs}) for part, knobs in cells.ABLATIONS.items()},
    }
    return known[name]
