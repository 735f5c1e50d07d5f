# SPDX-License-Identifier: MIT
"""What a run cost, three figures apart, each per operation that the workload counted itself. Pure and modelled.

Application: nanoseconds of its CPUs, by what they went to. Service: nanoseconds of the CPUs that only place memory. Moves: bytes.
"""
from dataclasses import fields
from typing import Any, Dict, List, Optional, Sequence

from lab import Machine
from lab.model import BOTH, ROLES, USER, Window, Work
from lab.outcome import Mark
from lab.prices import HUGE, SMALL, move_seconds

from workloads.base import along

APPLICATION = (ROLES["application"][0],)  # unless the workload has more
SERVICE = [ROLES[role][0] for role in ("hmk", "kernel tierers")]
ONE_BY_ONE = 1  # misses at a time
MLPS = (ONE_BY_ONE, 8)   # a ranking that does not hold at both is one of overlap, not of placement


def operations_at(seconds: float, events: Dict[str, Any]) -> Optional[float]:
    """Operations done so many seconds after the start: on the straight line through the two reports of the workload nearest to it.

    A workload without reports tells them with each sample. None if there are not two of either.
    """
    told = events.get("reports") or {}
    at, ops = told.get("seconds", []), told.get("ops", [])
    if len(at) < 2:
        at, ops = [sample["seconds"] for sample in events["samples"]], [sample["ops"] for sample in events["samples"]]
    if len(at) < 2:
        return None
    return along(at, ops, seconds)


def application(window: Window, cpus: Sequence[int], modes: Sequence[str] = BOTH) -> Work:
    """What all of the application's CPUs did."""
    works = [window.work(cpu, modes) for cpu in cpus]
    return Work(**{part.name: sum(getattr(work, part.name) for work in works) for part in fields(Work)})


def between(events: Dict[str, Any], marks: Sequence[Mark], first: int, machine: Machine, folio: int,
            cpus: Sequence[int] = APPLICATION) -> Optional[Dict[str, Any]]:
    """The figures from sample `first` to the last one; None for a workload that counts no operations."""
    old, new = events["samples"][first], events["samples"][-1]
    began, ended = operations_at(old["seconds"], events), operations_at(new["seconds"], events)
    if began is None or ended is None or ended - began < 1:
        return None
    moved = new["counters"].get("moved_bytes", 0.0) - old["counters"].get("moved_bytes", 0.0)
    return of(marks[-1].since(marks[first]), ended - began, moved, machine, folio, cpus)


def over_time(events: Dict[str, Any], marks: Sequence[Mark], machine: Machine,
              cpus: Sequence[int] = APPLICATION) -> Optional[Dict[str, List[float]]]:
    """From the first sample to each later one: operations, and modelled seconds of the application's CPUs and of the service's.

    `began` has one number, the operations before the first sample. None for a workload that counts no operations.
    """
    told = [operations_at(sample["seconds"], events) for sample in events["samples"]]
    done = [operations for operations in told if operations is not None]
    if len(done) < max(2, len(told)) or done[-1] - done[0] < 1:
        return None
    found: Dict[str, List[float]] = {"began": [done[0]], "seconds": [], "operations": [], "application_seconds": [], "service_seconds": []}
    for sample, operations, mark in list(zip(events["samples"], done, marks))[1:]:
        window = Window(mark.since(marks[0]), machine)
        found["seconds"].append(sample["seconds"])
        found["operations"].append(operations - done[0])
        found["application_seconds"].append(application(window, cpus).seconds)
        found["service_seconds"].append(sum(window.work(cpu).seconds for cpu in SERVICE))
    return found


def waits_over_time(samples: Sequence[Dict[str, Any]], marks: Sequence[Mark], machine: Machine,
                    cpus: Sequence[int] = APPLICATION) -> Dict[str, List[float]]:
    """Of each stretch between two samples: the program's CPU seconds by the guest's clock, its misses, modelled seconds that these
    waited, one after the other, and modelled seconds of all it did so."""
    found: Dict[str, List[float]] = {"program_seconds": [], "misses": [], "stalls_seconds": [], "application_seconds": []}
    for before, sample, old, new in zip(samples, samples[1:], marks, marks[1:]):
        mark = new.since(old)
        window = Window(mark, machine, ONE_BY_ONE)
        alone = application(window, cpus, USER)
        found["program_seconds"].append(sample["program_seconds"] - before["program_seconds"])
        found["misses"].append(sum(mark.misses(node.id, cpus, USER) for node in machine.nodes))
        found["stalls_seconds"].append(alone.random + alone.streamed)
        found["application_seconds"].append(application(window, cpus).seconds)
    return found


def common(ours: Dict[str, List[float]], base: Dict[str, List[float]]) -> Optional[Dict[str, float]]:
    """Time of the application over `base`'s for the operations that both did.

    Which part of a program lies in a window is decided by when the window begins, later where something is started first. None where
    less than half of either window is in both, and for runs that do not say when they began. Samples half a second apart are too coarse
    for a part of it.
    """
    if "began" not in ours or "began" not in base:
        return None
    first = max(run["began"][0] for run in (ours, base))
    last = min(run["began"][0] + run["operations"][-1] for run in (ours, base))
    if 2 * (last - first) < max(run["operations"][-1] for run in (ours, base)):
        return None
    return {"operations": last - first, "time": _spent(ours, first, last) / _spent(base, first, last)}


def _spent(run: Dict[str, List[float]], first: float, last: float) -> float:
    """Modelled seconds of the application from one of its operations to another."""
    spent = dict(zip([run["began"][0]] + [run["began"][0] + operations for operations in run["operations"]],
                     [0.0] + run["application_seconds"]))  # of samples between which nothing was done, the later
    return along(list(spent), list(spent.values()), last) - along(list(spent), list(spent.values()), first)


def paid_seconds(ours: Dict[str, List[float]], base: Dict[str, List[float]]) -> Optional[float]:
    """Until what the application has saved, at the pace of `base` over its whole window, covers what the service's CPUs have spent.

    From then on it does so to the end; None where it does not at the end.
    """
    pace = base["application_seconds"][-1] / base["operations"][-1]
    since: Optional[float] = None
    for at, operations, own, spent in zip(*(ours[name] for name in ("seconds", "operations", "application_seconds", "service_seconds"))):
        if operations * pace - own < spent:
            since = None
        elif since is None:
            since = at
    return since


def of(mark: Mark, operations: float, moved_bytes: float, machine: Machine, folio: int,
       cpus: Sequence[int] = APPLICATION) -> Dict[str, Any]:
    """The figures of so many operations; `folio` is what the moves are priced in, in bytes."""
    window, ns = Window(mark, machine), 1e9 / operations
    by_mlp = {mlp: Window(mark, machine, mlp) for mlp in MLPS}
    work, alone = application(window, cpus), application(by_mlp[ONE_BY_ONE], cpus, USER)
    return {
        "operations": operations,
        "application_ns": work.seconds * ns,
        "application_parts_ns": {part.name: getattr(work, part.name) * ns for part in fields(Work)},
        "application_kernel_ns": application(window, cpus, ["kernel"]).seconds * ns,
        "application_ns_by_mlp": {str(mlp): application(one, cpus).seconds * ns for mlp, one in by_mlp.items()},
        "misses": sum(mark.misses(node.id, cpus, USER) for node in machine.nodes) / operations,
        "stalls_ns": (alone.random + alone.streamed) * ns,
        "service_cpu_ns": sum(window.work(cpu).seconds for cpu in SERVICE) * ns,
        "moves_priced_ns": move_seconds(moved_bytes, folio, _narrowest(machine)) * ns,
        "moved_bytes": moved_bytes / operations,
    }


def folio(page_size: str) -> int:
    """Bytes of a page as a cell names it; with THP all moves are priced as those of large pages."""
    return HUGE if page_size == "THP" else SMALL


def _narrowest(machine: Machine) -> float:
    """MB/s that the slowest node has for its nearest CPUs: which nodes a move went between is not counted."""
    return min(max(access.bandwidth_mbps for access in node.access.values()) for node in machine.nodes)
