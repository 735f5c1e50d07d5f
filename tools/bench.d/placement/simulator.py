# SPDX-License-Identifier: MIT
"""hmk-sim on a program whose pages a first-touch run has counted: what to ask it, what it says."""
import json
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Sequence

from lab import LabError, Machine
from lab.build import user_space

import cells
import counted
import keep
from systems.hm_keeper import MOVE_COST

# What profiling takes by a guest's clock, which counts instructions of all CPUs: a median of hm-keeper's cells.
PROFILING = ("--scan-cost", "20us", "--region-cost", "1us")


def has_scenario(store: keep.Store, base: cells.Cell) -> bool:
    """Of this format: an older one is counted anew."""
    file = _scenario(store, base)
    return file.exists() and file.read_text(encoding="ascii").startswith(counted.FIRST_LINE + "\n")


def _scenario(store: keep.Store, base: cells.Cell) -> Path:
    return store.folder / f"{base.key}.yaml"


class Simulator:
    """Programs of one folder of cells, on one machine."""

    def __init__(self, root: Path, store: keep.Store, machine: Machine, file: Path) -> None:
        self._program = user_space(root, store.folder, ["hmk-sim"]) / "tools/sim.d/hmk-sim"
        self._store, self._machine, self._file = store, machine, file

    def ask(self, base: cells.Cell, systems: Sequence[str], *more: object, quiet: bool = False) -> "tuple[int, List[Dict[str, Any]]]":
        """Exit status, 0 or 1, and a row for each of its `systems`; unless `quiet` it prints its table. Raises LabError."""
        answer = self._store.folder / f"{base.key}.simulated.json"
        if not has_scenario(self._store, base):
            raise LabError(f"{base.key} counts no operations in its window; give it a longer --window")
        scenario = _scenario(self._store, base)
        done = subprocess.run([self._program, "machine", scenario, "--machine", self._file, "--system", ",".join(systems),
                               "--taken", str(self._taken(base)), "--json", answer, *map(str, more)],
                              check=False, stdout=subprocess.DEVNULL if quiet else None)
        if done.returncode not in (0, 1):
            raise LabError(f"{base.key}: the simulator refused it, see above")
        return done.returncode, json.loads(answer.read_text(encoding="utf-8"))

    def like(self, base: cells.Cell, managed: cells.Cell) -> List[str]:
        """What lets its hmkd run as that of a guest, where vCPUs take turns: the program does less in a second beside others.

        A page and a flush take what they took there. Raises LabError.
        """
        own, seen = managed.knobs, self._store.read(managed)["figures"]["counters"]
        if "moved_pages" not in seen:
            raise LabError(f"{managed.key} did not count what its moves took; run it --again")
        page = 1e6 * (seen["copying_seconds"] + seen["unmapped_seconds"]) / max(1.0, seen["moved_pages"])
        flush = 1e6 * seen["flush_seconds"] / max(1.0, seen["flushes"])
        clock = self._store.read(base)["ns_per_instruction"] / self._part(base, managed)
        return ["--clock", f"{clock:.3f}ns", *self.work(base, managed), "--interval", own["interval"], "--budget", own["overhead"],
                "--page-cost", f"{page:.1f}us", "--flush-cost", f"{flush:.1f}us", *PROFILING,
                "--set", f"move_cost={MOVE_COST}", "--set", f"promote_limit={own['promote_limit']}"]

    def work(self, base: cells.Cell, managed: cells.Cell) -> List[str]:
        """What makes the scenario of `base` the operations of the other guest: the first so many, or fewer in each phase of a program
        whose phases go by the clock."""
        part, by_clock = self._part(base, managed), self._store.read(base)["figures"]["jumps_seconds"]
        return ["--work", f"{part:.4f}"] if by_clock else ["--until", f"{min(1.0, part):.4f}"]

    def _part(self, base: cells.Cell, managed: cells.Cell) -> float:
        alone, beside = (self._store.read(cell)["figures"]["per_operation"]["operations"] for cell in (base, managed))
        return beside / alone

    def _taken(self, base: cells.Cell) -> int:
        """Bytes of the fastest node that the program could not have."""
        ready, node = self._store.read(base)["events"]["ready"], self._machine.tiers()[0]
        return max(0, self._machine.nodes[node].memory - ready["free_bytes"][node] - ready["resident_bytes"][node])
