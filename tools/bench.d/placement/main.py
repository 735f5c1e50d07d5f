# SPDX-License-Identifier: MIT
"""tools/bench placement: who places memory how well, at what cost; every cell in a guest of its own."""
import argparse
import dataclasses
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import List, Optional, Sequence, Tuple

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError, load_machine  # noqa: E402
from lab.errors import UsageError  # noqa: E402
from lab.kernels import GATES  # noqa: E402
from lab.machine import available_memory  # noqa: E402
import build  # noqa: E402
import cells  # noqa: E402
import gate  # noqa: E402
import keep  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402
import table  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

MACHINE = ROOT / "configs/lab/bench-four-tier.yaml"
QUICK_WORKLOADS = ("gups-stable", "gups-jump", "needle")
QUICK_WINDOW = 10.0
DENSITIES = (1, 2, 4, 8)  # of 8 ns an instruction; 8 times is 1 ns, as a server's core has them
ABLATED = tuple(f"hm-keeper/{name}" for name in cells.ABLATIONS)
#: The full table: workloads, systems, page size, repeats, whether peers run with their defaults too.
Rows = Sequence[Tuple[Sequence[str], Sequence[str], str, int, bool]]  # workloads, systems, pages, repeats, with defaults
FULL: Rows = (
    (tuple(WORKLOADS), cells.SYSTEMS, "4K", 1, False),
    (("gups-stable", "redis-zipf", "tpcc-postgresql"), ("numa-balancing", "damon"), "4K", 1, True),
    (QUICK_WORKLOADS, ABLATED, "4K", 1, False),
    (("gups-stable", "memcached-zipf"), cells.SYSTEMS, "THP", 1, False),
    (("gups-stable",), ("numa-balancing", "damon", "hm-keeper"), "4K", 2, False),
    (("redis-zipf", "bfs"), ("hm-keeper",), "4K", 2, False),
    (("redis-zipf", "bfs"), ("hm-keeper/tier-by-tier",), "4K", 1, False),
)


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/bench placement", description=__doc__, epilog="Times are modelled or "
                                    "the guest's, which counts instructions; see tools/bench.d/README.md.")
    flags.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK_WORKLOADS)} on 6.12, one setting of each "
                       f"system, {QUICK_WINDOW:g} s windows")
    flags.add_argument("--gate", action="store_true", help=f"{', '.join(gate.WORKLOADS)}: fail where HM-Keeper needs more than "
                       f"{gate.LIMIT:g} times first-touch's modelled time; runs all of it again, {QUICK_WINDOW:g} s windows")
    flags.add_argument("--workload", metavar="NAME,...", help=f"of {', '.join(WORKLOADS)} (default: all); without this, "
                       "--system, --pages and --repeat it is the full table")
    flags.add_argument("--system", metavar="NAME,...", help=f"of {', '.join(cells.SYSTEMS)} and hm-keeper/ABLATION with "
                       f"{', '.join(cells.ABLATIONS)} (default: all but the ablations)")
    flags.add_argument("--kernel", metavar="SERIES,...", default="6.12")
    flags.add_argument("--pages", metavar="SIZE,...", help="4K, THP or both (default: 4K)")
    flags.add_argument("--repeat", type=int, metavar="N", help="runs of each cell; more than one give a spread")
    flags.add_argument("--setting", metavar="NAME,...", help="run these named settings of the systems that have them, such as "
                       f"{', '.join(cells.NUMA_BALANCING)} of numa-balancing (placement/cells.py has them all)")
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
    flags.add_argument("--list", action="store_true", help="print the cells and end")
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
    repeats = 1 if args.repeat is None else args.repeat
    if repeats < 1 or args.jobs < 1:
        raise UsageError(f"--repeat {repeats} --jobs {args.jobs}: each must be at least 1")
    for flag in (args.json, args.report):
        if flag and not flag.resolve().parent.is_dir():
            raise UsageError(f"{flag}: there is no folder {flag.parent}; create it first")
    kernels = chosen(args.kernel, [*GATES, "newest"], [], "kernel")
    if args.gate:
        if args.quick or args.workload or args.system or args.pages or args.setting or args.stored:
            raise UsageError("--gate has its own choice of cells; leave the other choices out")
        rows: Rows = [(gate.WORKLOADS, gate.SYSTEMS, "4K", repeats, False)]
    elif args.quick or args.workload or args.system or args.pages or args.repeat or args.setting:
        rows = [
            (chosen(args.workload, list(WORKLOADS), list(QUICK_WORKLOADS if args.quick else WORKLOADS), "workload"),
             chosen(args.system, [*cells.SYSTEMS, *ABLATED], list(cells.SYSTEMS), "system"), pages, repeats, True)
            for pages in chosen(args.pages, ["4K", "THP"], ["4K"], "pages")]
    else:
        rows = FULL
    if args.density not in DENSITIES:
        raise UsageError(f"--density {args.density}: cannot be had; take one of {', '.join(map(str, DENSITIES))}")
    if args.density > 1 and "6.1" in kernels:
        raise UsageError("--density --kernel 6.1: its clock is the host's, which counts no instructions; leave one of them out")
    window = args.window or (QUICK_WINDOW if args.quick or args.gate else None)
    tuned = args.tuned or args.quick
    systems = dict.fromkeys(system for _, row, *_ in rows for system in row)
    named = chosen(args.setting, list(dict.fromkeys(name for system in systems for name in cells.settings(system) if name)), [],
                   "setting")
    planned = (cell for kernel in kernels for names, systems_of, pages, times, with_defaults in rows
               for cell in cells.plan(WORKLOADS, names, systems_of, pages, times, with_defaults and not tuned, kernel, window, named))
    found = {cell.key: cell for cell in (dataclasses.replace(cell, density=args.density) for cell in planned)}
    if not found:
        raise UsageError("no cell fits all of --workload, --system, --kernel and --pages; see --list of a wider choice")
    return list(found.values())


def run_all(args: argparse.Namespace, wanted: List[cells.Cell], store: keep.Store) -> List[str]:
    """Run what is missing, `jobs` at a time; the reasons of those that failed."""
    machine = load_machine(args.machine, available_memory() // args.jobs)
    missing = [cell for cell in wanted if args.again or not store.has(cell)]
    if not missing:
        return []
    tools = build.prepare(ROOT, store.folder, missing)
    if machine.assumed:
        print(f"bench: {args.machine}: prices not given and assumed: {'; '.join(machine.assumed)}", file=sys.stderr)
    watch = runner.Progress(len(missing), args.jobs)
    failed = []
    with ThreadPoolExecutor(args.jobs) as pool:
        tasks = {pool.submit(runner.one, cell, machine, tools, store, watch): cell for cell in missing}
        try:
            for task in as_completed(tasks):
                error = task.exception()
                if error:
                    failed.append(str(error))
                    watch.failed(tasks[task], str(error))
        except KeyboardInterrupt:
            watch.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return failed


def main() -> int:
    """0: every cell has a result, and with --gate nobody is slower; 1: not so; 2: usage."""
    args, began = parse(), time.monotonic()
    try:
        wanted = plan(args)
        if args.list:
            print("\n".join(cell.key for cell in wanted))
            return 0
        store = keep.Store(args.out / args.machine.stem)  # cells of another machine are other cells
        failed = [] if args.stored else run_all(args, wanted, store)
    except LabError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code
    missing = [cell.key for cell in wanted if not store.has(cell)]
    rows = table.rows([store.read(cell) for cell in wanted if store.has(cell)])
    print(report.text(rows))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if args.report:
        report.write(rows, missing, args.report, load_machine(args.machine))
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
