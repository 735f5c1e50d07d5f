# SPDX-License-Identifier: MIT
"""tools/torture: the rows one after the other, kept run by run, until each has its count."""
import argparse
import json
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import List, Optional, Tuple

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(Path(__file__).parent)]

from lab.debug import FRAGMENTS  # noqa: E402
from lab.errors import LabError  # noqa: E402
from lab.kernels import SERIES, kernel as find_kernel  # noqa: E402
from lab.module import build_module  # noqa: E402
from suite import userspace  # noqa: E402
from suite.case import FAILED  # noqa: E402
import runs  # noqa: E402
import same  # noqa: E402
import sums  # noqa: E402
from rows import NEWEST, ROWS, USER, Row  # noqa: E402

Task = Tuple[Row, str]
LONGER = 5  # a run on a kernel built here: its boot and its leak scans take minutes


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/torture", description=__doc__)
    flags.add_argument("--quick", action="store_true", help="each row once and short, about 10 minutes on two cores; "
                       f"on {' and '.join(FRAGMENTS)} only with --kernel")
    flags.add_argument("--list", action="store_true", help="print the rows with their kernels and counts, run none")
    flags.add_argument("--only", metavar="PATTERN", type=_pattern, help="rows whose name matches")
    flags.add_argument("--kernel", metavar="SERIES", choices=(*SERIES, USER), help=f"one of {', '.join(SERIES)}, '{USER}'")
    flags.add_argument("--minutes", metavar="N", type=float, help="begin no run after so many; the next call goes on")
    flags.add_argument("--jobs", metavar="N", type=int, default=2, help="runs side by side (default: 2)")
    flags.add_argument("--store", metavar="FILE", type=Path, help="finished runs (default: docs/torture.jsonl; with --quick none)")
    flags.add_argument("--same", metavar="COMMIT", help="build COMMIT's module for the kernels of all rows; where its code is today's, what was "
                       "done to it counts")
    flags.add_argument("--json", metavar="FILE", type=Path, help="a list with an object per row and kernel")
    flags.add_argument("--report", metavar="FILE", type=Path, help="the page, docs/torture.md")
    return flags.parse_args(argv)


def _pattern(text: str) -> "re.Pattern[str]":
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from None


def chosen(args: argparse.Namespace) -> List[Task]:
    """Rows and kernels asked for."""
    return [(row, kernel) for row in ROWS for kernel in row.wanted
            if (not args.only or args.only.search(row.name)) and (not args.kernel or kernel == args.kernel)]


def kernels_of(tasks: List[Task]) -> List[str]:
    return list(dict.fromkeys(kernel for _, kernel in tasks if kernel != USER))


def compare(commit: str, kernels: List[str], store: runs.Store) -> int:
    """0 where its module is today's to each machine."""
    told = [same.compare(ROOT, commit, kernel) for kernel in kernels]
    for line in told:
        print(f"{line['kernel']}: {'the same code, what was done to it counts' if 'same' in line else 'other code'}")
        if "same" in line:
            store.add(line)
    return 0 if all("same" in line for line in told) else 1


def prepare(tasks: List[Task]) -> None:
    """Build once what all of them run."""
    built = userspace.build(ROOT, targets=userspace.PROGRAMS)
    if built.outcome == FAILED:
        raise LabError(f"user space does not build: {' '.join(built.detail[:1])}")
    for kernel in kernels_of(tasks):
        find_kernel(kernel)
        build_module(kernel)


def work(args: argparse.Namespace, task: Task, store: runs.Store, end: float) -> None:
    """Runs of one row on one kernel, until it has its count, one has failed, or time is up."""
    row, kernel = task
    while not runs.has_enough(row, kernel, store.runs(row, kernel)) and time.monotonic() < end:
        print(f"torture: {row.name} [{kernel}] ...", file=sys.stderr, flush=True)
        longest = row.quick if args.quick else row.seconds * (LONGER if kernel in FRAGMENTS else 1)
        run = runs.perform(ROOT, row, kernel, runs.length(row, kernel, store.runs(row, kernel), longest))
        store.add(run)
        print(f"torture: {row.name} [{kernel}]: {run['count']} {row.unit} in {run['seconds']} s"
              f"{', FAILED: ' + run['failed'] if run['failed'] else ''}", file=sys.stderr, flush=True)
        if args.quick:
            return


def torture(args: argparse.Namespace, tasks: List[Task], store: runs.Store) -> List[sums.Sum]:
    end = time.monotonic() + (float("inf") if args.minutes is None else args.minutes * 60)
    short_first = sorted(tasks, key=lambda task: task[0].seconds)  # so that when time is up most rows have a figure
    with ThreadPoolExecutor(args.jobs) as pool:
        for done in as_completed([pool.submit(work, args, task, store, end) for task in short_first]):
            done.result()
    return [sums.add_up(row, kernel, store.runs(row, kernel)) for row, kernel in tasks]


def main() -> int:
    """0: nothing failed, and with all its counts unless --quick or --minutes; 1: else; 2: usage."""
    args = parse()
    tasks = chosen(args)
    if args.list:
        for row, kernel in tasks:
            print(f"{row.name} [{kernel}]: {row.wanted[kernel]} {row.unit}")
        return 0
    if args.quick and args.kernel is None:
        tasks = [task for task in tasks if task[1] not in FRAGMENTS and (task[1] != NEWEST or args.only)]
    if not tasks:
        raise LabError("no row matches; --list names them")
    with TemporaryDirectory() as scratch:
        file = args.store or (Path(scratch) / "runs" if args.quick else ROOT / runs.DOCS[0])
        if args.minutes != 0 and runs.is_kept(file) and not runs.is_commit(runs.state(ROOT)):
            raise LabError(f"{file} keeps runs of a commit, and this tree is {runs.state(ROOT)}: commit what has changed, "
                           "or name another --store")
        if args.same:
            return compare(args.same, kernels_of(tasks), runs.Store(file))
        store = runs.Store(file)
        left = [(row, kernel) for row, kernel in tasks if not runs.has_enough(row, kernel, store.runs(row, kernel))]
        if args.minutes != 0 and left:  # of a row that is done no kernel is built
            prepare(left)
        rows = torture(args, tasks, store)
    print(sums.text(rows))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if args.report:
        args.report.write_text(sums.page(rows), encoding="utf-8")
    bad = ("failed",) if args.quick or args.minutes is not None else ("failed", "fewer", "not run")
    return 1 if any(row["verdict"] in bad for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as problem:
        print(f"tools/torture: {problem}", file=sys.stderr)
        sys.exit(problem.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
