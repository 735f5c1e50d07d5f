# SPDX-License-Identifier: MIT
"""tools/test: build everything, run every test, close with one line."""
import argparse
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import List

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d")]

from lab.errors import LabError  # noqa: E402
from lab.kernels import GATES, SERIES  # noqa: E402
from lab.module import build_module  # noqa: E402
from suite import e2e, early, python_tests, torture, userspace  # noqa: E402
from suite.case import FAILED, PASSED, Report, Result  # noqa: E402

# Measured on two cores: a pair of guests takes 27 s side by side, 40 s one after the other.
GUESTS_AT_ONCE = 2 if (os.cpu_count() or 1) > 1 else 1


def build_modules(report: Report, kernels: List[str]) -> None:
    """One result per kernel: that it builds is a promise of its own."""
    for series in kernels:
        began = time.monotonic()
        try:
            build_module(series)
            report.add(Result(f"build/hmk.ko [{series}]", PASSED, time.monotonic() - began))
        except LabError as error:
            report.add(Result(f"build/hmk.ko [{series}]", FAILED, time.monotonic() - began, str(error)))


def parse() -> argparse.Namespace:
    """Flags; a pattern is a regular expression searched in the names that --list prints."""
    flags = argparse.ArgumentParser(prog="tools/test", description="Build everything and run every test.")
    flags.add_argument("--list", action="store_true", help="print the names of all tests, run none")
    flags.add_argument("--only", metavar="PATTERN", type=_pattern, help="run the tests whose name matches")
    flags.add_argument("--kernel", metavar="SERIES", choices=SERIES, help=f"one of {', '.join(SERIES)}; default: both gates")
    return flags.parse_args()


def _pattern(text: str) -> "re.Pattern[str]":
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from None


def main() -> int:
    """0 only if nothing failed and something passed."""
    args = parse()
    kernels = (args.kernel,) if args.kernel else GATES
    report = Report()
    built = userspace.build(ROOT)
    folder = ROOT / "build/release"
    units = [n for n in userspace.names(folder) if not args.only or args.only.search(f"ctest/{n}")]
    labs = [t for t in python_tests.collect(ROOT / "tests") if not args.only or args.only.search(python_tests.name(t))]
    guests = [t for t in e2e.collect(ROOT, (args.kernel,) if args.kernel else None)
              if not args.only or args.only.search(t.name)]
    rows = [t for t in torture.collect(ROOT, kernels) if not args.only or args.only.search(t.name)]
    if not args.only:
        guests = torture.without(guests, rows)
    if args.list:
        for name in [*(f"ctest/{n}" for n in units), *(python_tests.name(t) for t in labs), *(t.name for t in (*guests, *rows))]:
            print(name)
        return 0 if built.outcome == PASSED else 1
    if not args.only or built.outcome == FAILED:
        report.add(built)
    for test in labs:
        report.add(python_tests.run(test))
    if built.outcome == PASSED and units:
        for result in userspace.run(folder, units if args.only else None):
            report.add(result)
    if not args.only:
        build_modules(report, list(kernels))
    with ThreadPoolExecutor(GUESTS_AT_ONCE) as pool:
        for done in as_completed([pool.submit(test.run) for test in (*guests, *rows)]):
            report.add(done.result())
    if not args.only and not args.kernel:
        early.warning()
    return report.close()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        os._exit(130)  # not waiting for guests under way: they end with us
    except LabError as problem:
        print(f"tools/test: {problem}", file=sys.stderr)
        sys.exit(problem.exit_code)
