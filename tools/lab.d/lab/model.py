# SPDX-License-Identifier: MIT
"""Modelled latency and time of one CPU's work between two marks: counted accesses, a machine file, arithmetic.

    work = modelled(mark, machine, cpu=0)
    print(f"{work.latency_ns:.0f} ns modelled mean latency, {work.seconds:.3f} s modelled time")

Nothing here is measured in time. The formula is in tools/lab.d/README.md.
"""
from dataclasses import dataclass
from typing import Dict, Sequence

from .machine import Access, Machine
from .outcome import Mark

LINE_BYTES = 64
NS_PER_INSTRUCTION = 0.33   # a core of 3 GHz that completes one instruction a cycle
BOTH = ("user", "kernel")

# Who works on which CPU of configs/lab/bench-four-tier.yaml: CPU and modes.
ROLES = {
    "application": (0, ("user",)),
    "kernel for the application": (0, ("kernel",)),  # its system calls, its faults, flushes others ask of it
    "clients and the rest": (1, BOTH),
    "hmk": (2, BOTH),
    "kernel tierers": (3, BOTH),
}


@dataclass(frozen=True)
class Modelled:
    """Modelled, all of it: mean latency of a miss, time in memory and time in instructions."""

    latency_ns: float
    memory_seconds: float
    instruction_seconds: float

    @property
    def seconds(self) -> float:
        """Modelled time: the CPU either computes or waits for memory."""
        return self.memory_seconds + self.instruction_seconds


def modelled_latency_ns(misses: Sequence[int], access: Sequence[Access]) -> float:
    """Modelled mean latency of `misses` by node; 0.0 when there were none."""
    return sum(n * a.latency_ns for n, a in zip(misses, access)) / max(1, sum(misses))


def modelled_memory_seconds(misses: Sequence[int], access: Sequence[Access]) -> float:
    """Modelled time in memory: per node the longer of waiting one miss after the other and of the transfer."""
    return sum(max(n * a.latency_ns * 1e-9, n * LINE_BYTES / (a.bandwidth_mbps * 1e6)) for n, a in zip(misses, access))


def modelled(mark: Mark, machine: Machine, cpu: int = 0, modes: Sequence[str] = BOTH,
             ns_per_instruction: float = NS_PER_INSTRUCTION) -> Modelled:
    """The modelled cost of what `cpu` did in `modes` up to `mark`, since the last mark 0 or as Mark.since() says."""
    reader = next(node.id for node in machine.nodes if cpu in node.cpus)
    access = [node.access[reader] for node in machine.nodes]
    misses = [mark.misses(node.id, [cpu], modes) for node in machine.nodes]
    return Modelled(modelled_latency_ns(misses, access), modelled_memory_seconds(misses, access),
                    mark.instructions([cpu], modes) * ns_per_instruction * 1e-9)


def instructions_by_role(mark: Mark) -> Dict[str, int]:
    """Executed instructions by role: a share of memory accesses says nothing without its cost."""
    return {role: mark.instructions([cpu], modes) for role, (cpu, modes) in ROLES.items()}


def misses_by_role(mark: Mark) -> Dict[str, int]:
    """Misses by role over all nodes: copies of a migration are where the thread that copies runs."""
    return {role: sum(mark.misses(node, [cpu], modes) for node in range(mark.data["nodes"]))
            for role, (cpu, modes) in ROLES.items()}
