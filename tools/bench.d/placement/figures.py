# SPDX-License-Identifier: MIT
"""From what one guest showed to the figures of its cell. Pure; everything timed is modelled or the guest's clock."""
from typing import Any, Dict, List, Optional, Sequence

from lab import Machine
from lab.model import USER, Window, latency_ns
from lab.outcome import Mark

import costs
import pace
from costs import APPLICATION, SERVICE

MODEL = 3             # 1: no field; 2: lab/model.py as it is; 3: the window begins with the first sample. Different ones are not compared
SETTLED_PART = 0.25   # the last quarter of the window is "settled"
CONVERGED = 0.05      # of the settled share: nearer than this, and staying there, is converged
PERIOD = 1            # number of the mark at the end of a sample


def of(raw: Dict[str, Any], machine: Machine) -> Dict[str, Any]:
    """All figures of one cell that need no other cell."""
    events = raw["events"]
    marks = [Mark(row["mark"], row["seq"], row) for row in raw["marks"] if row["mark"] == PERIOD]
    samples = events["samples"]
    order, cpus = machine.tiers(), raw.get("application_cpus", APPLICATION)
    parts = [marks[0]] + [new.since(old) for old, new in zip(marks, marks[1:])]
    shares = [[part.shares(cpus)[node] for node in order] for part in parts]
    settled_from = len(marks) - max(1, round(SETTLED_PART * len(marks)))
    settled, window, whole = marks[-1].since(marks[settled_from - 1]), marks[-1].since(marks[0]), marks[-1]
    seconds = [sample["seconds"] for sample in samples]
    jumps = events.get("jumps", {}).get("seconds", [])
    counters, ended = samples[-1]["counters"], events["ended"]
    share = [settled.shares(cpus)[node] for node in order]
    folio = costs.folio(raw["cell"]["page_size"])
    return {
        "model": MODEL,
        "tier_share": share,
        "tier_share_over_time": {"seconds": seconds, "shares": shares,
                                 "modelled_seconds": [Window(mark, machine).seconds for mark in marks]},
        "modelled_latency_ns": _latency(settled, machine, cpus),
        "modelled_ns_per_kilo_instruction": _pace(window, machine, cpus),
        "start_modelled_ns_per_kilo_instruction": _pace(marks[0], machine, cpus), "start_kilo_instructions": marks[0].instructions(cpus, USER) / 1000,
        "settled_modelled_ns_per_kilo_instruction": _pace(settled, machine, cpus),
        "per_operation": costs.between(events, marks, 0, machine, folio, cpus),
        "costs_over_time": costs.over_time(events, marks, machine, cpus),
        "waits_over_time": costs.waits_over_time(samples, marks, machine, cpus),
        "settled_per_operation": costs.between(events, marks, settled_from - 1, machine, folio, cpus),
        "kernel_instructions_percent": _percent(whole, cpus, ["kernel"], cpus),
        "own_cpu_instructions_percent": _percent(whole, SERVICE, ["user", "kernel"], cpus),
        "written_back_lines": [dict(enumerate(window.counted("written_back"))).get(node, 0) for node in order],
        "converge_seconds": converged([row[0] for row in shares], seconds, jumps[0] if jumps else None, before_jump=True),
        "reconverge_seconds": reconverged([row[0] for row in shares], seconds, jumps),
        "jumps_seconds": jumps,
        "bytes_migrated": counters.get("moved_bytes"),
        "counters": counters, "turns": pace.turns(samples, marks),
        "gap_p99_us": ended.get("gap_p99_us"), "gap_max_us": ended.get("gap_max_us"),
        "cpu_seconds": events["placed"].get("cpu_seconds"), "ops": ended.get("ops"), "wrong_values": ended.get("wrong_values"),
        "resident_bytes": [events["placed"]["resident_bytes"][node] for node in order],
    }


def at(run: Dict[str, Any], path: Sequence[Any]) -> Optional[float]:
    """A figure of a finished run, which may lie within another; None where it has none."""
    value: Any = run["figures"]
    for name in path:
        if value is None:
            return None
        value = value[name]
    return value


def _latency(mark: Mark, machine: Machine, cpus: Sequence[int]) -> float:
    """The mean over the misses of all of the application's CPUs, each as far from a node as it is."""
    misses = [sum(mark.misses(node.id, [cpu]) for node in machine.nodes) for cpu in cpus]
    return sum(n * latency_ns(mark, machine, cpu) for n, cpu in zip(misses, cpus)) / max(1, sum(misses))


def _pace(mark: Mark, machine: Machine, cpus: Sequence[int]) -> float:
    """Modelled nanoseconds the application needs for 1000 user instructions: kernel time in its way included.

    User instructions stand for work done: a program executes the same number for the same work.
    """
    return 1e12 * costs.application(Window(mark, machine), cpus).seconds / max(1, mark.instructions(cpus, ["user"]))


def _percent(mark: Mark, cpus: Sequence[int], modes: Sequence[str], of_cpus: Sequence[int]) -> float:
    return 100 * mark.instructions(cpus, modes) / max(1, mark.instructions(of_cpus, ["user"]))


def reconverged(tier1: Sequence[float], seconds: Sequence[float], jumps: Sequence[float]) -> Optional[float]:
    """As converged(), from the first jump on, and up to the second where there is one."""
    if not jumps:
        return None
    nr = sum(at <= jumps[1] for at in seconds) if len(jumps) > 1 else len(seconds)
    return converged(tier1[:nr], seconds[:nr], jumps[0], before_jump=False)


def converged(tier1: Sequence[float], seconds: Sequence[float], jump: Optional[float], *,
              before_jump: bool) -> Optional[float]:
    """Seconds from the start (or from the jump) until the share of tier 1 is, and stays, near where it settles.

    Settled is the mean of the last quarter of that stretch; None if it never stays near.
    """
    inside = [(at, share) for at, share in zip(seconds, tier1)
              if jump is None or (at <= jump) == before_jump]
    if not inside:
        return None
    tail = inside[-max(1, round(SETTLED_PART * len(inside))):]
    goal = sum(share for _, share in tail) / len(tail)
    began = 0.0 if before_jump or jump is None else jump
    since: Optional[float] = None
    previous = began
    for at, share in inside:
        if abs(share - goal) > CONVERGED * goal:
            since = None
        elif since is None:
            since = previous
        previous = at
    return None if since is None else max(0.0, since - began)


def spread(values: List[float]) -> Optional[float]:
    """Largest minus smallest share of repeated runs, of which there are few: never less than a hundredth."""
    return max(0.01, max(values) - min(values)) if len(values) > 1 else None
