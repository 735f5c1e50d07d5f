# SPDX-License-Identifier: MIT
"""tools/bench search: the settings of every system by one procedure: as many tried of each, drawn alike, judged alike."""
import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError  # noqa: E402
from lab.errors import UsageError  # noqa: E402
from lab.kernels import GATES  # noqa: E402
import cells  # noqa: E402
import choice  # noqa: E402
import grid  # noqa: E402
import keep  # noqa: E402
import main as placement  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

TRAINING = ("gups-stable", "redis-zipf")
SETTINGS, SEED = 12, 1


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/bench search", description=__doc__, epilog=f"Score: {choice.SCORE}. Exit code 1 "
                                    "when a setting gave no result.")
    flags.add_argument("--settings", type=int, default=SETTINGS, metavar="N", help="tried of each system (default: %(default)s)")
    flags.add_argument("--seed", type=int, default=SEED, metavar="N", help="of the draw (default: %(default)s)")
    flags.add_argument("--workload", metavar="NAME,...", help=f"to train on (default: {','.join(TRAINING)})")
    flags.add_argument("--system", metavar="NAME,...", help=f"of {', '.join(grid.GRIDS)} (default: all)")
    flags.add_argument("--kernel", choices=(*GATES, "newest"), default="6.12")
    flags.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each cell; their median counts")
    flags.add_argument("--window", type=float, metavar="SECONDS", help="measured seconds of the guest's clock")
    flags.add_argument("--machine", type=Path, default=placement.MACHINE, metavar="FILE")
    flags.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="guests at a time")
    flags.add_argument("--out", type=Path, default=ROOT / "build/search", metavar="DIR",
                       help="one file per finished cell; a cell that is there is not run again (default: build/search)")
    flags.add_argument("--list", action="store_true", help="print the settings and end")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the whole search there")
    flags.add_argument("--report", type=Path, metavar="FILE", help="write the Markdown page there")
    flags.add_argument("--chosen", type=Path, default=cells.CHOSEN, metavar="FILE",
                       help="write the best setting of each system there (default: the file tools/bench placement reads)")
    args = flags.parse_args(argv)
    args.again = False  # a search goes on where it stopped
    return args


def draw(args: argparse.Namespace) -> List[grid.Setting]:
    """All settings the flags ask for. Raises UsageError."""
    if args.repeat < 1 or args.jobs < 1 or (args.window is not None and args.window <= 0):
        raise UsageError("--repeat, --jobs, --window: each must be above 0")
    for flag in (args.json, args.report, args.chosen):
        if flag and not flag.resolve().parent.is_dir():
            raise UsageError(f"{flag}: there is no folder {flag.parent}; create it first")
    systems = placement.chosen(args.system, list(grid.GRIDS), list(grid.GRIDS), "system")
    for system in systems:
        why = cells.not_applicable(system, args.kernel)
        if why:
            raise UsageError(f"--system {system} --kernel {args.kernel}: {why}; leave it out or take another kernel")
    return [setting for system in systems for setting in grid.draw(system, args.settings, args.seed, args.kernel)]


def cells_of(setting: Optional[grid.Setting], workload: str, args: argparse.Namespace) -> List[cells.Cell]:
    """The runs of one setting, or of first-touch, on one workload."""
    kind = WORKLOADS[workload]
    system, variant = (setting.system, setting.variant) if setting else ("first-touch", "")
    knobs = cells.fitted(system, setting.knobs, kind) if setting else {}
    return [cells.Cell(workload, system, variant, args.kernel, "4K", repeat, args.window or kind.window_seconds, knobs)
            for repeat in range(1, args.repeat + 1)]


def rows_of(settings: List[grid.Setting], names: List[str], args: argparse.Namespace, store: keep.Store) -> List[choice.Row]:
    def runs(setting: Optional[grid.Setting]) -> Dict[str, List[Dict[str, Any]]]:
        return {name: [store.read(cell) for cell in cells_of(setting, name, args) if store.has(cell)] for name in names}

    bases = runs(None)
    return [choice.row(setting, runs(setting), bases) for setting in settings]


def main(argv: Optional[List[str]] = None) -> int:
    """0: every setting has a score; 1: some have not; 2: usage."""
    args = parse(argv)
    try:
        names = placement.chosen(args.workload, list(WORKLOADS), list(TRAINING), "workload")
        settings = draw(args)
        if args.list:
            print("\n".join(f"{one.system} {one.name} {json.dumps(one.knobs)}" for one in settings))
            return 0
        store = keep.Store(args.out / args.machine.stem)
        wanted = [cell for one in (None, *settings) for name in names for cell in cells_of(one, name, args)]
        failed = placement.run_all(args, wanted, store)
        rows = rows_of(settings, names, args, store)
    except LabError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code
    how = choice.Procedure(names, args.settings, args.seed, args.repeat, args.kernel)
    page = choice.page(rows, how)
    print(page)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if args.report:
        args.report.write_text(page, encoding="utf-8")
    choice.save(args.chosen, choice.best(rows), how)
    for reason in failed:
        print(f"bench: failed: {reason}", file=sys.stderr)
    return 1 if any(one["score"] is None for one in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
