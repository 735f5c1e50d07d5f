# SPDX-License-Identifier: MIT
"""tools/bench possible: how near each system comes to the best placement there could have been, moves included.

The pages each program missed under first touch are counted, two seconds of the guest's clock at a time; from them hmk-sim works out a
time that no placement which changes between those stretches can fall below, and the best plan it finds: of the operations that the
system's guest did in its window, for a program that shares its host with others does less. Modelled time of an operation throughout.
"""
import argparse
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import load_machine  # noqa: E402
import cells  # noqa: E402
import keep  # noqa: E402
import main as placement  # noqa: E402
import simulated  # noqa: E402
from simulator import Simulator  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

SYSTEMS = ("first-touch", "numa-balancing", "damon", "hm-keeper")
PLAN = "plan, simulated"   # of first touch's operations
Row = Dict[str, Any]


def rows(name: str, times: Dict[str, float], found: Dict[str, Dict[str, Any]]) -> List[Row]:
    """Of one program, by system: `times` are ns of an operation, `found` is hmk-sim's row of the operations it did."""
    plan = found[SYSTEMS[0]]
    told = [*((system, ns, found[system]) for system, ns in times.items()), (PLAN, plan["found_ns"] / plan["operations"], plan)]
    bounds = [row["possible_ns"] / row["operations"] for _, _, row in told]
    return [{"workload": name, "system": system, "ns_per_operation": ns, "bound_ns": bound, "of_best_possible": bound / ns}
            for (system, ns, _), bound in zip(told, bounds)]


def beaten(found: Sequence[Row]) -> List[str]:
    """A line for each system that is faster than is possible."""
    return [f"{row['workload']}: {row['system']} takes {row['ns_per_operation']:.2f} ns an operation, less than the bound of {row['bound_ns']:.2f}"
            for row in found if row["of_best_possible"] > 1]


def text(found: Sequence[Row]) -> str:
    lines = [f"{'workload':20} {'system':18} {'ns/op':>9} {'bound':>9} {'of best possible':>17}"]
    return "\n".join([*lines, *(f"{row['workload']:20} {row['system']:18} {row['ns_per_operation']:9.1f} {row['bound_ns']:9.1f} "
                                f"{100 * row['of_best_possible']:16.1f}%" for row in found)])


def main() -> int:
    """0: nobody beats the bound; 1: somebody does, or a guest failed. Raises LabError."""
    flags = argparse.ArgumentParser(prog="tools/bench possible", description=__doc__)
    flags.add_argument("--quick", action="store_true", help=f"{', '.join(simulated.PROGRAMS)} only")
    args = simulated.parse(flags)
    default = simulated.PROGRAMS if args.quick else WORKLOADS
    names = placement.chosen(args.workload, list(WORKLOADS), list(default), "workload")
    groups = [cells.plan(WORKLOADS, [name], list(SYSTEMS), "4K", 1, False, simulated.KERNEL, args.window) for name in names]
    store = keep.Store(args.out / args.machine.stem)
    simulated.run([cell for group in groups for cell in group], args, store)
    simulator = Simulator(ROOT, store, load_machine(args.machine), args.machine)
    found: List[Row] = []
    for group in groups:
        times = {cell.system: simulated.figure(store.read(cell), cell.system, cell.key)["ns_per_op"] for cell in group}
        asked = {cell.system: simulator.ask(group[0], ["first-touch"], *simulator.work(group[0], cell), quiet=True)[1][0] for cell in group}
        found += rows(group[0].workload, times, asked)
    return simulated.report("possible", found, text(found), beaten(found), args.json)


if __name__ == "__main__":
    simulated.end_with(main, "bench")
