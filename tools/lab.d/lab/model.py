# SPDX-License-Identifier: MIT
"""Modelled time of vCPUs between two marks: what was counted, a machine file, published prices, arithmetic.

    window = Window(mark, machine)
    work = window.work(cpu=0)
    print(f"{work.latency_ns:.0f} ns modelled mean latency, {work.seconds:.3f} s modelled time, {work.walks:.3f} s of it walks")

Nothing here is measured in time. The formulas are in tools/lab.d/README.md.
"""
from dataclasses import dataclass, fields
from typing import Dict, List, Optional, Sequence, Tuple

from .machine import Access, Machine
from .outcome import Mark
from .prices import LINE_BYTES, LLC_NS, NS_PER_INSTRUCTION, WALK_NS, WALKERS, streamed_ns, written_back_ns

USER = ("user",)
BOTH = (*USER, "kernel")
STEPS = 60   # of the bisection: to the last bit that counts

# Who works on which CPU of configs/lab/bench-four-tier.yaml: CPU and modes.
ROLES = {
    "application": (0, USER),
    "kernel for the application": (0, ("kernel",)),  # its system calls, its faults, flushes others ask of it
    "clients and the rest": (1, BOTH),
    "hmk": (2, BOTH),
    "kernel tierers": (3, BOTH),
}


@dataclass(frozen=True)
class Work:
    """Modelled seconds of a vCPU by what they went to; it does one of these at a time."""

    instructions: float
    random: float        # waiting for misses that nothing foresaw
    streamed: float      # waiting for those of streams
    walks: float
    write_backs: float

    @property
    def seconds(self) -> float:
        return sum(getattr(self, part.name) for part in fields(self))


@dataclass(frozen=True)
class Counts:
    """What one vCPU did, by node where a list; marks of format 1 have every miss random and no walk."""

    instructions: int
    random: List[int]
    streamed: List[int]
    written_back: List[int]
    walks: int
    walk_lines: List[int]  # found in L2, LLC, memory

    @staticmethod
    def of(mark: Mark, cpu: int, modes: Sequence[str]) -> "Counts":
        nodes = mark.data["nodes"]
        streamed = mark.counted("streamed", [cpu], modes) or [0] * nodes
        return Counts(mark.instructions([cpu], modes),
                      [mark.misses(node, [cpu], modes) - streamed[node] for node in range(nodes)], streamed,
                      mark.counted("written_back", [cpu], modes) or [0] * nodes, sum(mark.counted("walks", [cpu], modes)),
                      mark.counted("walk_lines", [cpu], modes) or [0, 0, 0])

    def lines(self, walked: int) -> List[int]:
        """Lines to and from each node; `walked` is the node whose memory holds the page tables."""
        return [a + b + c + (self.walk_lines[2] if node == walked else 0)
                for node, (a, b, c) in enumerate(zip(self.random, self.streamed, self.written_back))]


def latency_ns(mark: Mark, machine: Machine, cpu: int, modes: Sequence[str] = USER) -> float:
    """Modelled mean latency of the misses of `cpu`, of idle nodes and one at a time; 0.0 when there were none."""
    misses = [mark.misses(node.id, [cpu], modes) for node in machine.nodes]
    return sum(n * access.latency_ns for n, access in zip(misses, _accesses(machine, cpu))) / max(1, sum(misses))


def _home(machine: Machine, cpu: int) -> int:
    return next(node.id for node in machine.nodes if cpu in node.cpus)


def _accesses(machine: Machine, cpu: int) -> List[Access]:
    return [node.access[_home(machine, cpu)] for node in machine.nodes]


class Window:
    """All vCPUs of a machine up to `mark`, since the last mark 0 or as Mark.since() says, each as long as its own work takes.

    They work beside each other: the window is as long as the longest of them. Page tables lie where the CPU is whose walk it
    is, as they do that the kernel allocates at a fault. `mlp` stands in for the machine's own.
    """

    def __init__(self, mark: Mark, machine: Machine, mlp: Optional[float] = None) -> None:
        self._mark, self._machine = mark, machine
        self._mlp = mlp or machine.core.mlp
        self._cpus = {cpu: Counts.of(mark, cpu, BOTH) for node in machine.nodes for cpu in node.cpus}
        self._busy = self._busy_seconds()
        self.seconds = self._settled()

    def load(self, reader: int, node: int) -> float:
        """Share of the bandwidth in use: of the link from the CPUs of node `reader`, or of all that `node` has."""
        return self._busy[reader, node] / self.seconds if self.seconds else 0.0

    def work(self, cpu: int, modes: Sequence[str] = BOTH) -> Work:
        """What `cpu` did in `modes`, at the loads of the whole window."""
        return self._work(cpu, Counts.of(self._mark, cpu, modes), self.seconds)

    def _busy_seconds(self) -> Dict[Tuple[int, int], float]:
        """For how long the traffic of the window keeps the link of a reader, or the whole node, busy; the longer."""
        nodes = self._machine.nodes
        sent = {(reader.id, node.id): 0.0 for reader in nodes if reader.cpus for node in nodes}
        for cpu, counts in self._cpus.items():
            home = _home(self._machine, cpu)
            for node, lines in enumerate(counts.lines(home)):
                sent[home, node] += lines * LINE_BYTES / 1e6
        widest = [max(access.bandwidth_mbps for access in node.access.values()) for node in nodes]
        whole = [sum(size for (_, node), size in sent.items() if node == n) / widest[n] for n in range(len(nodes))]
        return {(reader, node): max(size / nodes[node].access[reader].bandwidth_mbps, whole[node])
                for (reader, node), size in sent.items()}

    def _settled(self) -> float:
        """The length at which the vCPUs, slowed down by the load it makes, take just that long.

        A longer window is less loaded, so each step halves where the answer can be.
        """
        idle = self._longest(float("inf"))
        low, high = idle, max(self._longest(idle), idle) if idle else 0.0
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._longest(middle) > middle else (low, middle)
        return high

    def _longest(self, seconds: float) -> float:
        return max(self._work(cpu, counts, seconds).seconds for cpu, counts in self._cpus.items())

    def _work(self, cpu: int, counts: Counts, seconds: float) -> Work:
        home, accesses = _home(self._machine, cpu), _accesses(self._machine, cpu)
        factors = [node.curve.factor(self._busy[home, node.id] / seconds if seconds else 0.0) for node in self._machine.nodes]
        waits = [access.latency_ns * factor for access, factor in zip(accesses, factors)]
        _, in_llc, in_memory = counts.walk_lines
        walk_ns = counts.walks * WALK_NS + in_llc * LLC_NS + in_memory * waits[home]
        return Work(counts.instructions * NS_PER_INSTRUCTION / 1e9,
                    sum(n * wait for n, wait in zip(counts.random, waits)) / self._mlp / 1e9,
                    sum(n * streamed_ns(a, f) for n, a, f in zip(counts.streamed, accesses, factors)) / 1e9,
                    walk_ns / min(self._mlp, WALKERS) / 1e9,
                    sum(n * written_back_ns(a, f) for n, a, f in zip(counts.written_back, accesses, factors)) / 1e9)


def instructions_by_role(mark: Mark) -> Dict[str, int]:
    """Executed instructions by role: a share of memory accesses says nothing without its cost."""
    return {role: mark.instructions([cpu], modes) for role, (cpu, modes) in ROLES.items()}


def misses_by_role(mark: Mark) -> Dict[str, int]:
    """Misses by role over all nodes: copies of a migration are where the thread that copies runs."""
    return {role: sum(mark.misses(node, [cpu], modes) for node in range(mark.data["nodes"]))
            for role, (cpu, modes) in ROLES.items()}
