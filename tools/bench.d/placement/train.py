# SPDX-License-Identifier: MIT
"""tools/bench train: what it is worth when a program says what it knows of its memory (libhmk, hints).

A network in training, of whose memory a third fits into the fast tier; hmkd manages it while it says nothing, which of its memory is
dead or not used for a while, what it uses next, too, and lies. CachedArrays' L, LM and LMP; its hardware cache (2LM) is not modelled.
"""
import argparse
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError  # noqa: E402
from lab.prices import LINE_BYTES  # noqa: E402
import cells  # noqa: E402
import keep  # noqa: E402
import simulated  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

MODES: Dict[str, Tuple[str, str]] = {  # what is said -> workload, system
    "nothing, not managed": ("train", "first-touch"),
    "nothing": ("train", "hm-keeper"),
    "past": ("train-past", "hm-keeper"),
    "past and next": ("train-both", "hm-keeper"),
    "anything": ("train-lies", "hm-keeper"),
}
WRITTEN = 0.40  # of what is written to the slow tier while it says nothing, at most (the paper: 350 of 1100 GB)
WORSE = 1.02    # times as long when it says what it uses next as when it does not, at most
LIES = 1.05     # times as long when it lies as when it says nothing, at most
Row = Dict[str, Any]


def wanted(window: Optional[float]) -> List[cells.Cell]:
    return [cells.plan(WORKLOADS, [workload], [system], "4K", 1, False, simulated.KERNEL, window)[0] for workload, system in MODES.values()]


def row(says: str, run: Dict[str, Any]) -> Row:
    """From the figures of a run. Raises LabError where it counts no operations."""
    own = run["per_operation"]
    if not own:
        raise LabError(f"train that says {says} counts no operations in its window; give it a longer --window")
    fast, *slow = run["written_back_lines"]
    waits = sum(ns for part, ns in own["application_parts_ns"].items() if part != "instructions")
    return {"says": says, "operations": own["operations"], "ns_per_operation": own["application_ns"], "waits_ns_per_operation": waits,
            "tier1_share": run["tier_share"][0],
            "written_bytes_per_operation": LINE_BYTES * sum(slow) / own["operations"],
            "written_fast_bytes_per_operation": LINE_BYTES * fast / own["operations"],
            "moved_bytes": run["counters"].get("moved_bytes", 0.0), "wrong_values": run["wrong_values"]}


def wrong(found: Sequence[Row]) -> List[str]:
    """A line for each bar that is missed."""
    by = {one["says"]: one for one in found}
    lines = [f"{one['says']}: {one['wrong_values']} values were wrong" for one in found if one["wrong_values"]]
    part = by["past"]["written_bytes_per_operation"] / by["nothing"]["written_bytes_per_operation"]
    if part > WRITTEN:
        lines.append(f"past: {part:.2f} times as much is written to the slow tier as when it says nothing, at most {WRITTEN}")
    for says, than, most in (("past and next", "past", WORSE), ("anything", "nothing", LIES)):
        longer = by[says]["ns_per_operation"] / by[than]["ns_per_operation"]
        if longer > most:
            lines.append(f"{says}: takes {longer:.3f} times as long as {than}, at most {most}")
    return lines


def text(found: Sequence[Row]) -> str:
    """Times are modelled, relative to the first row; of them the waits are those for memory."""
    base = found[0]
    lines = [f"{'it says':22} {'time':>7} {'waits':>7} {'tier 1':>8} {'written to slow':>16} {'to fast':>9} {'moved':>10}"]
    return "\n".join([*lines, *(f"{one['says']:22} {one['ns_per_operation'] / base['ns_per_operation']:7.3f} "
                                f"{one['waits_ns_per_operation'] / base['waits_ns_per_operation']:7.3f} {100 * one['tier1_share']:7.1f}% "
                                f"{one['written_bytes_per_operation']:11.2f} B/op {one['written_fast_bytes_per_operation']:9.2f} "
                                f"{one['moved_bytes'] / (1 << 20):6.0f} MiB" for one in found)])


def main() -> int:
    """0: every bar is met; 1: not so, or a guest failed. Raises LabError."""
    flags = argparse.ArgumentParser(prog="tools/bench train", description=__doc__)
    args = simulated.parse(flags, machine=ROOT / "configs/lab/bench-train.yaml")
    if args.workload:
        flags.error("--workload: what is run is fixed, a row of the table for each")
    found_cells, store = wanted(args.window), keep.Store(args.out / args.machine.stem)
    simulated.run(found_cells, args, store)
    found = [row(says, store.read(cell)["figures"]) for says, cell in zip(MODES, found_cells)]
    return simulated.report("train", found, text(found), wrong(found), args.json)


if __name__ == "__main__":
    simulated.end_with(main, "bench")
