# SPDX-License-Identifier: MIT
"""tools/bench promised: do moves save what hmkd promises of them, and does it tell as much as the lab counts?

In seconds of the program. Promised: what its moves were expected to save while they lay where they were moved to, as hmkd adds it up.
Told: what it says they saved. Counted: how much less its misses waited than they do under first touch, one after the other as hmkd prices
them; in hmkd's seconds, which are the guest's: it holds that a program waits no longer than the CPU time that the guest's clock gives it.
While others use the guest's CPUs, a program does far less in one of its seconds: so each half second is compared apart, and all add up.
"""
import argparse
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError  # noqa: E402
import cells  # noqa: E402
import costs  # noqa: E402
import keep  # noqa: E402
import main as placement  # noqa: E402
import simulated  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

PROGRAMS = ("gups-stable", "gups-jump", "gups-mixed", "gups-large", "needle", "redis-latest", "redis-zipf", "memcached-zipf", "bfs", "pagerank")
SYSTEMS = ("first-touch", "hm-keeper")
FACTOR, PART = 2.0, 0.8     # told is within so much of promised, for so many of the programs
NEAR = 0.25                 # told and counted are no further apart, of the latter
LEAST_PART = 0.01           # of the program's time: what both are below is too little to compare
ONE_BY_ONE = str(costs.ONE_BY_ONE)
Row = Dict[str, Any]


def row(name: str, base: Dict[str, Any], ours: Dict[str, Any]) -> Row:
    """From the figures of both runs. Raises LabError where one counts no operations, or is of a tool that did not count misses so."""
    theirs, own = base["per_operation"], ours.get("waits_over_time")
    if not theirs or not ours["per_operation"]:
        raise LabError(f"{name} counts no operations in its window; give it a longer --window")
    if "stalls_ns" not in theirs or own is None:
        raise LabError(f"{name} was run by an older tools/bench, which did not keep how long misses wait; run it again with another --out")
    counters = ours["counters"]
    return {"workload": name, "promised_s": counters["promised_seconds"], "told_s": counters["saved_seconds"], "program_s": ours["cpu_seconds"],
            "counted_s": waited_less(own, theirs["stalls_ns"] / theirs["misses"] / 1e9)}


def waited_less(waits: Dict[str, List[float]], seconds_per_miss: float) -> float:
    """Seconds of the program that its misses would have waited more at so many modelled seconds each."""
    parts = zip(*(waits[name] for name in ("program_seconds", "misses", "stalls_seconds", "application_seconds")))
    return sum(program * (misses * seconds_per_miss - stalls) / whole for program, misses, stalls, whole in parts if whole > 0)


def ratio(part: float, whole: float) -> Optional[float]:
    return part / whole if whole > 0 else None


def is_kept(found: Row) -> bool:
    """Within a factor of what was promised; nothing of nothing is."""
    kept = ratio(found["told_s"], found["promised_s"])
    return found["told_s"] <= 0 if kept is None else 1 / FACTOR <= kept <= FACTOR


def is_near(found: Row) -> bool:
    told, counted = found["told_s"], found["counted_s"]
    return max(abs(told), abs(counted)) < LEAST_PART * found["program_s"] or abs(told - counted) <= NEAR * abs(counted)


def wrong(found: Sequence[Row]) -> List[str]:
    """A line where too few kept what was promised, and for each that tells otherwise than was counted, where it is enough."""
    kept = sum(map(is_kept, found))
    lines = [] if kept >= PART * len(found) else [f"{kept} of {len(found)} programs saved within {FACTOR:g} times what was promised, want {PART:.0%}"]
    return lines + [f"{one['workload']}: tells {one['told_s']:.2f} s where {one['counted_s']:.2f} s were counted, at most {NEAR:.0%} apart"
                    for one in found if not is_near(one)]


def text(found: Sequence[Row]) -> str:
    def cell(value: Optional[float]) -> str:
        return f"{'-' if value is None else f'{value:.2f}':>9}"

    lines = [f"{'workload':16} {'program':>9} {'promised':>9} {'told':>9} {'counted':>9} {'kept':>9} {'told/ctd':>9}"]
    return "\n".join([*lines, *(f"{one['workload']:16} {cell(one['program_s'])} {cell(one['promised_s'])} {cell(one['told_s'])} {cell(one['counted_s'])} "
                                f"{cell(ratio(one['told_s'], one['promised_s']))} {cell(ratio(one['told_s'], one['counted_s']))}" for one in found)])


def main() -> int:
    """0: what was promised came true, and is told as it was counted; 1: not so, or a guest failed. Raises LabError."""
    args = simulated.parse(argparse.ArgumentParser(prog="tools/bench promised", description=__doc__))
    names = placement.chosen(args.workload, list(WORKLOADS), list(PROGRAMS), "workload")
    wanted = cells.plan(WORKLOADS, names, SYSTEMS, "4K", 1, False, simulated.KERNEL, args.window)
    store = keep.Store(args.out / args.machine.stem)
    simulated.run(wanted, args, store)
    found = [row(base.workload, store.read(base)["figures"], store.read(ours)["figures"]) for base, ours in zip(wanted[::2], wanted[1::2])]
    return simulated.report("promised", found, text(found), wrong(found), args.json)


if __name__ == "__main__":
    simulated.end_with(main, "bench")
