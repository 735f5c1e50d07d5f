# SPDX-License-Identifier: MIT
"""tools/bench paper: the experiments of the HM-Keeper paper, HK-71 to HK-86, each with its twin here."""
import argparse
import json
import os
import sys
from pathlib import Path
from typing import List, Optional

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement"), str(Path(__file__).resolve().parent)]

from lab import LabError  # noqa: E402
from lab.errors import UsageError  # noqa: E402
import main as placement  # noqa: E402
import moving  # noqa: E402
import performing  # noqa: E402
import placing  # noqa: E402
import profiling  # noqa: E402
import sheet  # noqa: E402
from experiment import Experiment  # noqa: E402
from shelf import Shelf  # noqa: E402

EXPERIMENTS = tuple(sorted((*profiling.EXPERIMENTS, *placing.EXPERIMENTS, *moving.EXPERIMENTS), key=lambda one: int(one.number[3:])))


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    """Raises UsageError for a number or a folder that is not there."""
    flags = argparse.ArgumentParser(prog="tools/bench paper", description=__doc__, epilog="Exit code 1 when a run is missing, or a "
                                    "figure points the other way and no reason is given.")
    flags.add_argument("--only", metavar="HK-N,...", help="these experiments (default: all)")
    flags.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="guests at a time")
    flags.add_argument("--out", type=Path, default=ROOT / "build/paper", metavar="DIR",
                       help="finished runs; what is there is not run again (default: build/paper)")
    flags.add_argument("--again", action="store_true", help="run what is there once more")
    flags.add_argument("--stored", action="store_true", help="write from what is there, run nothing")
    flags.add_argument("--list", action="store_true", help="print the experiments, minutes they take, and what is missing, and end")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the list there")
    flags.add_argument("--report", type=Path, metavar="FILE", help="write the Markdown page there")
    args = flags.parse_args(argv)
    if args.jobs < 1:
        raise UsageError(f"--jobs {args.jobs}: must be at least 1")
    for flag in (args.json, args.report):
        if flag and not flag.resolve().parent.is_dir():
            raise UsageError(f"{flag}: there is no folder {flag.parent}; create it first")
    known = [one.number for one in EXPERIMENTS]
    args.only = placement.chosen(args.only, known, known, "only")
    return args


def listed(experiments: List[Experiment], shelf: Shelf) -> str:
    """A line for each experiment; runs that several need are in each of them."""
    lines = []
    for one in experiments:
        missing = [run for run in one.runs if not shelf.has(run)]
        lines.append(f"{one.number} {one.title}: {len(one.runs)} runs, {len(missing)} missing, about {sum(run.minutes for run in missing):.0f} of "
                     f"{one.minutes:.0f} min")
        lines += [f"  {run.key}" for run in missing]
    together = {run: run.minutes for one in experiments for run in one.runs if not shelf.has(run)}
    return "\n".join([*lines, f"together {len(together)} runs missing, about {sum(together.values()):.0f} min, one at a time"])


def main() -> int:
    """0: all run, and what points the other way explained; 1: not so; 2: usage."""
    try:
        args = parse()
        experiments, shelf = [one for one in EXPERIMENTS if one.number in args.only], Shelf(args.out)
        if args.list:
            print(listed(experiments, shelf))
            return 0
        runs = [run for one in experiments for run in one.runs]
        failed = [] if args.stored else performing.perform(runs, shelf, args)
        results = shelf.results(runs)
    except LabError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code
    rows = [(one, one.lines(results)) for one in experiments]
    print(sheet.text(rows))
    if args.json:
        args.json.write_text(json.dumps(sheet.objects(rows), indent=1) + "\n", encoding="utf-8")
    if args.report:
        commits = {one.number: sorted({shelf.commit(run) for run in one.runs if run in results}) for one in experiments}
        args.report.write_text(sheet.markdown(rows, commits), encoding="utf-8")
    for reason in failed:
        print(f"bench: failed: {reason}", file=sys.stderr)
    return 0 if not failed and all(line.is_explained for _, lines in rows for line in lines) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
