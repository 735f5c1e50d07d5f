# SPDX-License-Identifier: MIT
"""tools/bench placement: who places memory how well, at what cost; every cell in a guest of its own."""
import argparse
import dataclasses
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError, load_machine  # noqa: E402
from lab.errors import UsageError  # noqa: E402
from lab.kernels import GATES  # noqa: E402
from lab.machine import available_memory  # noqa: E402
import against  # noqa: E402
import build  # noqa: E402
import cells  # noqa: E402
import full  # noqa: E402
import gate  # noqa: E402
import here  # noqa: E402
import keep  # noqa: E402
import publish  # noqa: E402
import recheck  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402
import table  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

MACHINE = ROOT / "configs/lab/bench-four-tier.yaml"
QUICK_WORKLOADS = ("gups-stable", "gups-jump", "needle")
QUICK_WINDOW = 10.0
DENSITIES = (1, 2, 4, 8)  # of 8 ns an instruction; 8 times is 1 ns, as a server's core has them
Rows = Sequence[Tuple[Sequence[str], Sequence[str], str, int, bool]]  # workloads, systems, pages, repeats, with defaults
PUBLISHED = ROOT / "docs/results.md"


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/bench placement", description=__doc__, epilog="Times are modelled or "
                                    "the guest's, which counts instructions; see tools/bench.d/README.md.")
    flags.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK_WORKLOADS)} on 6.12, one setting of each "
                       f"system, {QUICK_WINDOW:g} s windows")
    flags.add_argument("--headline", action="store_true", help=f"of the full table what README.md quotes ({', '.join(full.QUOTED)}; "
                       f"{', '.join(full.HEADLINE)}; both page sizes), the first runs of it; its page says what was not run")
    flags.add_argument("--gate", action="store_true", help=f"{', '.join(gate.WORKLOADS)}: fail where HM-Keeper needs more than "
                       f"{gate.LIMIT:g} times first-touch's modelled time; runs all of it again, {QUICK_WINDOW:g} s windows")
    flags.add_argument("--against", metavar="REV", help=f"each cell with hmkd and hmk.ko of this checkout and of REV, in turns: medians, "
                       f"ranges, sign test over the pairs (--repeat, default {against.REPEATS}); {', '.join(gate.WORKLOADS)} unless told otherwise")
    flags.add_argument("--recheck", type=int, metavar="N", help="of the cells that are there, run N drawn with --seed once more: does each lie "
                       "within its printed ranges?")
    flags.add_argument("--seed", type=int, default=1, metavar="N", help="of --recheck (default: %(default)s)")
    flags.add_argument("--here", action="store_true", help=f"measure this machine instead of a guest: {', '.join(here.LOADS)} or those of "
                       f"--workload under first-touch and under hmkd as it ships, in turns (--repeat, default {here.REPEATS}; --window, default "
                       f"{here.WINDOW:g} s), with the CPU's counters")
    flags.add_argument("--workload", metavar="NAME,...", help=f"of {', '.join(WORKLOADS)} (default: all); without this, "
                       "--system, --pages and --repeat it is the full table of placement/full.py")
    flags.add_argument("--system", metavar="NAME,...", help=f"of {', '.join(cells.SYSTEMS)} and hm-keeper/VARIATION with "
                       f"{', '.join(cells.VARIATIONS)} (default: all without a variation)")
    flags.add_argument("--kernel", metavar="SERIES,...", default="6.12")
    flags.add_argument("--pages", metavar="SIZE,...", help="4K, THP or both (default: 4K)")
    flags.add_argument("--repeat", type=int, metavar="N", help="runs of each cell; more than one give a spread")
    flags.add_argument("--setting", metavar="NAME,...", help="run these named settings of the systems that have them, such as "
                       f"{', '.join(cells.NUMA_BALANCING)} of numa-balancing (placement/cells.py has them all)")
    flags.add_argument("--interval", metavar="TIME,...", help=f"HM-Keeper as shipped, but for intervals of {', '.join(cells.INTERVALS)}: is what "
                       "it finds the same at each? A window holds eight of them at least")
    flags.add_argument("--tuned", action="store_true", help="peers with our settings only, never with their defaults")
    flags.add_argument("--window", type=float, metavar="SECONDS", help="measured seconds of the guest's clock (default: the "
                       "workload's own)")
    flags.add_argument("--density", type=int, default=1, metavar="N", help="N times as many instructions in a second "
                       f"of the guest's clock, so N times as long on the host: one of {', '.join(map(str, DENSITIES))} (default: 1)")
    flags.add_argument("--machine", type=Path, default=MACHINE, metavar="FILE")
    flags.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="guests at a time")
    flags.add_argument("--out", type=Path, default=ROOT / "build/placement", metavar="DIR",
                       help="one file per finished cell, below the machine's name; a cell that is there is not run again "
                       "(default: build/placement)")
    flags.add_argument("--again", action="store_true", help="run cells that are there once more")
    flags.add_argument("--stored", action="store_true", help="show the cells that are there, run none")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the table there")
    flags.add_argument("--report", type=Path, metavar="FILE", help="write the Markdown page there, pictures beside it")
    flags.add_argument("--list", action="store_true", help="print the cells and end; how long they take is said on standard error")
    args = flags.parse_args(argv)
    args.again |= args.gate  # what ran before ran other code
    return args


def chosen(text: Optional[str], known: List[str], default: List[str], what: str) -> List[str]:
    """The names of a comma-separated flag. Raises UsageError for one that is not known."""
    if text is None:
        return default
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UsageError(f"--{what} {name}: not known; name some of {', '.join(known)}")
    if not names:
        raise UsageError(f"--{what}: no name given; name some of {', '.join(known)}")
    return names


def plan(args: argparse.Namespace) -> List[cells.Cell]:
    """The cells that the flags ask for. Raises UsageError."""
    repeats = (against.REPEATS if args.against is not None else 1) if args.repeat is None else args.repeat
    if repeats < 1 or args.jobs < 1:
        raise UsageError(f"--repeat {repeats} --jobs {args.jobs}: each must be at least 1")
    for flag in (args.json, args.report):
        if flag and not flag.resolve().parent.is_dir():
            raise UsageError(f"{flag}: there is no folder {flag.parent}; create it first")
    kernels = chosen(args.kernel, [*GATES, "newest"], [], "kernel")
    is_chosen = bool(args.quick or args.workload or args.system or args.pages or args.setting or args.interval)
    if args.gate and (is_chosen or args.stored or args.headline) or args.headline and (is_chosen or args.repeat):
        raise UsageError(f"{'--gate' if args.gate else '--headline'} has its own choice of cells; leave the other choices out")
    if args.recheck is not None and (args.gate or args.against is not None or args.stored or args.report or args.json):
        raise UsageError("--recheck prints what lies within and what not; leave --gate, --against, --stored, --report and --json out")
    if args.against is not None and (args.gate or args.headline or args.stored or args.report or args.quick):
        raise UsageError("--against has its own table; leave --gate, --headline, --quick, --stored and --report out")
    if args.density not in DENSITIES:
        raise UsageError(f"--density {args.density}: cannot be had; take one of {', '.join(map(str, DENSITIES))}")
    if args.density > 1 and "6.1" in kernels:
        raise UsageError("--density --kernel 6.1: its clock is the host's, which counts no instructions; leave one of them out")
    if args.gate:
        rows: Rows = [(gate.WORKLOADS, gate.SYSTEMS, "4K", repeats, False)]
    elif is_chosen or args.repeat or args.against is not None:
        known, systems = [*cells.SYSTEMS, *full.VARIED], list(cells.SYSTEMS)
        workloads = list(QUICK_WORKLOADS if args.quick else WORKLOADS)
        if args.against is not None:  # what no commit of ours changes is left out
            known, systems, workloads = ["hm-keeper", *full.VARIED], ["hm-keeper"], list(gate.WORKLOADS)
        rows = [(chosen(args.workload, list(WORKLOADS), workloads, "workload"), chosen(args.system, known, systems, "system"),
                 pages, repeats, True) for pages in chosen(args.pages, ["4K", "THP"], ["4K"], "pages")]
    else:
        return _whole(args, kernels)
    window = args.window or (QUICK_WINDOW if args.quick or args.gate else None)
    tuned = args.tuned or args.quick
    settings = (name for _, row, *_ in rows for system in row for name in cells.settings(system) if name)
    named = chosen(args.setting, list(dict.fromkeys(settings)), [], "setting")
    named += [f"every-{interval}" for interval in chosen(args.interval, list(cells.INTERVALS), [], "interval")]
    if args.interval and not any(system.startswith("hm-keeper") for _, row, *_ in rows for system in row):
        raise UsageError("--interval is of hm-keeper, which --system leaves out")
    planned = (cell for kernel in kernels for names, systems_of, pages, times, with_defaults in rows
               for cell in cells.plan(WORKLOADS, names, systems_of, pages, times, with_defaults and not tuned, kernel, window, named))
    found = {cell.key: cell for cell in (dataclasses.replace(cell, density=args.density) for cell in planned)}
    if not found:
        raise UsageError("no cell fits all of --workload, --system, --kernel and --pages; see --list of a wider choice")
    return list(found.values())


def choice_here(args: argparse.Namespace) -> Tuple[List[str], List[str]]:
    """Workloads and page sizes of --here. Raises UsageError."""
    given = [flag for flag in ("quick", "headline", "gate", "against", "recheck", "system", "setting", "interval", "tuned", "stored", "report", "list", "again")
             if getattr(args, flag)]
    if given or args.density > 1:
        raise UsageError(f"--here --{given[0] if given else 'density'}: that is of guests; --here takes --workload, --pages, --repeat, --window, "
                         "--out and --json")
    if (args.repeat is not None and args.repeat < 1) or (args.window is not None and args.window <= 0):
        raise UsageError("--repeat, --window: each must be above 0")
    return chosen(args.workload, list(WORKLOADS), list(here.LOADS), "workload"), chosen(args.pages, ["4K", "THP"], ["THP"], "pages")


def _whole(args: argparse.Namespace, kernels: List[str]) -> List[cells.Cell]:
    """The full table, or its headline. Raises UsageError."""
    if args.window or args.density > 1 or args.tuned:
        raise UsageError("--window, --density and --tuned are of a choice of cells, which the full table and --headline make themselves; "
                         "name some by --workload or --system")
    return [cell for kernel in kernels for cell in (full.headline(kernel) if args.headline else full.plan(kernel))]


def estimate(wanted: Sequence[cells.Cell], jobs: int) -> str:
    """How many there are and about how long they take."""
    minutes = sum(map(full.seconds, wanted)) / 60
    return f"{len(wanted)} cells, about {minutes:.0f} minutes of a core" + (f", {minutes / jobs:.0f} with {jobs} guests at a time"
                                                                            if jobs > 1 else "")


def run_all(args: argparse.Namespace, wanted: List[cells.Cell], store: keep.Store) -> List[str]:
    """Run what is missing, `jobs` at a time; the reasons of those that failed."""
    machine = load_machine(args.machine, available_memory() // args.jobs)
    missing = [cell for cell in wanted if args.again or not store.has(cell)]
    if not missing:
        return []
    tools = build.prepare(ROOT, store.folder, missing)
    return runner.every([(cell, tools, store) for cell in missing], machine, args.jobs)


def _commits(args: argparse.Namespace, shown: Sequence[cells.Cell], store: keep.Store) -> List[str]:
    """Of the cells that are there and will be shown, and of those still to be run."""
    there = [] if args.again else [store.read(cell)["commit"] for cell in shown if store.has(cell)]
    return there if args.stored else [*there, build.commit(ROOT)]


def show(args: argparse.Namespace, shown: Sequence[cells.Cell], store: keep.Store) -> List[Dict[str, Any]]:
    """Print the table and write the files; its rows. Raises LabError for a page that may not be written."""
    runs = [store.read(cell) for cell in shown if store.has(cell)]
    rows = table.rows(runs)
    print(report.text(rows))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    publish.refuse(args.report, PUBLISHED, [run["commit"] for run in runs])
    if args.report:
        report.write(rows, [cell for cell in shown if not store.has(cell)], args.report, load_machine(args.machine))
    return rows


def main() -> int:
    """0: every cell has a result, and with --gate nobody is slower; 1: not so; 2: usage."""
    args, began = parse(), time.monotonic()
    try:
        if args.here:
            return here.run(args, *choice_here(args), ROOT)
        if args.against is not None:
            against.resolve(ROOT, args.against)
        wanted = plan(args)
        if args.list:
            print("\n".join(cell.key for cell in wanted))
            print(estimate(wanted, args.jobs), file=sys.stderr)
            return 0
        if args.against is not None:
            return against.run(args, wanted, ROOT)
        store = keep.Store(args.out / args.machine.stem)  # cells of another machine are other cells
        if args.recheck is not None:
            return recheck.run(args, wanted, store, ROOT)
        shown = [cell for kernel in dict.fromkeys(cell.kernel for cell in wanted) for cell in full.plan(kernel)] if args.headline else wanted
        publish.refuse(args.report, PUBLISHED, _commits(args, shown, store))
        failed = [] if args.stored else run_all(args, wanted, store)
        rows = show(args, shown, store)
    except LabError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code
    missing = [cell.key for cell in wanted if not store.has(cell)]
    for reason in failed:
        print(f"bench: failed: {reason}", file=sys.stderr)
    slower = gate.slower(rows, missing) if args.gate else []
    for line in slower:
        print(f"bench: gate: {line}", file=sys.stderr)
    took = round(time.monotonic() - began)
    if args.gate and took > gate.SECONDS:
        print(f"bench: gate: took {took} s, at most {gate.SECONDS} on two CPUs", file=sys.stderr)
    print(f"{len(wanted) - len(missing)} of {len(wanted)} cells in {took} s", file=sys.stderr)
    return 1 if failed or missing or slower else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
