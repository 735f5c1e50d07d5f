# SPDX-License-Identifier: MIT
"""tools/test: build everything, run every test of the gate, close with one line."""
import argparse
import os
import re
import sys
from pathlib import Path
from typing import List

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d")]

from lab import cache  # noqa: E402
from lab.errors import LabError, UsageError  # noqa: E402
from lab.kernels import SERIES  # noqa: E402
from lab import boots as booted  # noqa: E402
from suite import boots, choice, inputs, prepare, python_tests, static, tasks, userspace  # noqa: E402
from suite.case import FAILED, Report  # noqa: E402
from suite.choice import Choice  # noqa: E402
from suite.kept import Passes, Times  # noqa: E402
from suite.schedule import Schedule, Task  # noqa: E402

# Measured on two cores: a pair of guests takes 27 s side by side, 40 s one after the other.
CHECK_SECONDS = 60.0  # of clang-tidy in the gate: up to 8 files take 4 to 30 s where nothing is known to be clean, and what changed last comes first
WITHOUT_BUILD = re.compile(r"\^?\(?((lab|bench|static|check-static)\|?)+\)?/")
LANES = 2 if (os.cpu_count() or 1) > 1 else 1


def parse() -> argparse.Namespace:
    """Flags; a pattern is a regular expression searched in the names that --list prints."""
    flags = argparse.ArgumentParser(prog="tools/test", description="Build everything and run every test of the gate.")
    flags.add_argument("--all", action="store_true", help="the gate, and what is for the night: every test on every kernel it is for, "
                       "long runs, others' test programs, fuzzing, kernels with checks (built if they are missing)")
    flags.add_argument("--changed", nargs="?", const="main", metavar="BASE", help="of these, what the changes since BASE "
                       "(default: main) touch")
    flags.add_argument("--only", metavar="PATTERN", type=_pattern, help="run the tests whose name matches, of whatever tier")
    flags.add_argument("--kernel", metavar="SERIES", choices=SERIES, help=f"one of {', '.join(SERIES)}; default: both gates")
    flags.add_argument("--fresh", action="store_true", default=os.environ.get("CI") == "true",
                       help="run what has passed with the same inputs again; so do --only and CI=true")
    flags.add_argument("--list", action="store_true", help="print the names of the tests and what each shows, run none")
    args = flags.parse_args()
    if args.only and args.changed:
        raise UsageError("--only names the tests, --changed finds them; give one of the two")
    return args


def _pattern(text: str) -> "re.Pattern[str]":
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is not a regular expression: {error}") from None


class Run:
    """What was asked for, and the tasks that it comes to."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.report = args, Report()
        self.pythons = [test for test in python_tests.collect(ROOT / "tests") if self._named(test.name)]
        self.changed = inputs.changed_since(ROOT, args.changed) if args.changed else []
        if inputs.unknown(self.changed):
            print(f"tools/test: {inputs.unknown(self.changed)[0]} is of unknown use, so everything is run", flush=True)
        self.partly = bool(args.changed) and not inputs.unknown(self.changed)
        self.choice = self._choice()
        passes = None if args.fresh or args.only else Passes(cache.root() / "passed")
        self.maker = tasks.Maker(ROOT, self.report, Times(cache.root() / "times.json"), inputs.Contents(ROOT), passes,
                                float("inf") if args.all or args.only else CHECK_SECONDS, once=not (args.all or args.only))

    def _named(self, name: str) -> bool:
        return not self.args.only or bool(self.args.only.search(name))

    def _choice(self) -> Choice:
        if self.args.only:
            return choice.matching(ROOT, self.args.kernel, self.args.only)
        chosen = choice.choose(ROOT, self.args.kernel, self.args.all)
        if self.partly:
            choice.keep_touched(chosen, self.changed)
        return chosen

    def _concerns(self, prefixes: inputs.Prefixes, *names: str) -> bool:
        """Whether tests of these names, which depend on these files, are wanted."""
        if self.args.only:
            return any(map(self._named, names))
        return not self.partly or inputs.touched(prefixes, self.changed)

    @property
    def checkers(self) -> List[str]:
        return [name for name in static.names() if self._concerns(inputs.CHECKED, static.title(name))]

    def install(self) -> None:
        checks = bool(self.checkers) or any(test.file.parent.name == "static" for test in self.pythons)
        prepare.install(ROOT, checks, self.choice.guests, self.choice.rows)

    def units(self, prefix: str = "ctest") -> "List[str] | None":
        """Names ctest knows that --only names; None: all. They are known once it is built."""
        if not self.args.only:
            return None if self._concerns(inputs.UNITS) else []
        if prefix in userspace.SANITIZED and prefix not in self.args.only.pattern:
            return []  # it takes a build of its own
        return [name for name in userspace.names(ROOT / "build/release") if self._named(f"{prefix}/{name}")]

    def tasks(self) -> List[Task]:
        """All of it; what --only does not name is built and not counted."""
        make, only = self.maker, self.args.only
        found = make.guests(self.choice.tests)
        own = () if only or self.partly else choice.kernels(self.args.kernel, self.args.all)
        needed = [series for series in SERIES if series in own or any(tasks.ko(series) in task.after for task in found)]
        found += make.modules(needed, counted=not only)
        found += make.checkers(self.checkers)
        found += make.python([test for test in self.pythons if only or self._concerns(tasks.PYTHON[test.file.parent.name])])
        for prefix in ("ctest", *userspace.SANITIZED):
            units = self.units(prefix)
            if units is None or units:
                found += make.ctest(units) if prefix == "ctest" else make.sanitized(prefix, units)
        if any(tasks.RELEASE in task.after for task in found) or not (only or self.partly):
            found.append(make.user_space(counted=not only))
        return found

    def list(self) -> None:
        """Every name on a line, with what an end-to-end test says that it shows."""
        units = userspace.names(ROOT / "build/release")
        if not units:
            print("tools/test: those of ctest are known once user space is built", file=sys.stderr)
        for name in [*(f"{prefix}/{name}" for prefix in ("ctest", *userspace.SANITIZED) for name in units),
                     *(test.name for test in self.pythons), *map(static.title, self.checkers)]:
            if self._named(name):
                print(name)
        for test in self.choice.tests:
            print(f"{test.name}: {choice.shows(test)}")


def main() -> int:
    """0 only if nothing failed and something passed."""
    args = parse()
    if args.all:
        os.environ["HMK_PLANTED_DEBUG"] = "1"  # bugs on the kernels with checks: minutes, which the night has
    run = Run(args)
    if args.list:
        run.list()
        return 0
    run.install()
    if args.only and not WITHOUT_BUILD.match(args.only.pattern):  # which tests of ctest it names is known once they are built
        built = userspace.build(ROOT)
        if built.outcome == FAILED:
            run.report.add(built)
            return run.report.close()
    made = run.tasks()
    if run.partly and not made and not run.report.kept:
        print("nothing that a test depends on has changed")
        return 0
    for reason, names in run.choice.left_out.items():
        run.report.left_out(reason, names)
    Schedule(made, run.report, run.maker.done).run(LANES)
    if any(booted.counted()):
        run.report.add(boots.result())
    run.maker.times.save()
    run.maker.forget_old()
    return run.report.close()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        os._exit(130)  # not waiting for guests under way: they end with us
    except LabError as problem:
        print(f"tools/test: {problem}", file=sys.stderr)
        sys.exit(problem.exit_code)
