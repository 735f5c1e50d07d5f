# SPDX-License-Identifier: MIT
"""What a run does, as tasks: builds, checkers, the tests of user space and of the tools, guests."""
import functools
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, FrozenSet, Iterable, Iterator, List, Sequence, Union

from lab import LabError
from lab.debug import FRAGMENTS
from lab.emulator import emulator
from lab.kernels import GATES, kernel
from lab.module import build_module
from suite import choice, inputs, python_tests, shared, static, userspace
from suite.case import FAILED, PASSED, Report, Result
from suite.e2e import EndToEnd
from suite.kept import Passes, Times
from suite.python_tests import PythonTest
from suite.schedule import Task
from suite.torture import Torture

Guest = Union[EndToEnd, Torture]

PROGRAMS, BUILD, CHECK, TEST = 4, 3, 2, 0   # ranks: what most others wait for comes first
RELEASE = "build/user-space"
#: Checkers that share a build, or are too short for a task of their own.
TOGETHER = (("clang-tidy",), ("gcc", "sparse", "clang"), ("cppcheck",), ("coccinelle", "checkpatch", "mypy", "pyflakes", "shellcheck"))


#: Files that the tests of the tools depend on, by their folder.
PYTHON = {"lab": inputs.LAB, "bench": inputs.BENCH, "static": inputs.STATIC, "packaging": inputs.PACKAGING}


def ko(series: str) -> str:
    return f"build/hmk.ko [{series}]"


@dataclass
class Maker:
    """Makes the tasks of one run; with `passes`, what passed with the same inputs is counted instead; with `once`, each
    test of user space is compiled for one of release and ASan."""

    root: Path
    report: Report
    times: Times
    contents: inputs.Contents
    passes: "Passes | None"
    check_seconds: float = float("inf")  # of a slow checker
    once: bool = False

    def __post_init__(self) -> None:
        self._keys: Dict[str, str] = {}

    def user_space(self, counted: bool = True) -> Task:
        return Task(RELEASE, lambda: userspace.build(self.root, targets=self._part("release")[0]), seconds=self.times.of(RELEASE),
                    rank=PROGRAMS, counted=counted)

    def _part(self, preset: str) -> "tuple[Sequence[str], str]":
        """Targets to build and the label of tests to run; nothing for all."""
        return userspace.ONCE.get(preset, ((), "")) if self.once else ((), "")

    def sanitized(self, preset: str, chosen: "List[str] | None") -> List[Task]:
        """The build with a sanitizer, and the user-space tests in it."""
        name = f"{RELEASE} [{preset}]"
        targets, label = self._part(preset)
        if chosen is None and self._kept(preset, inputs.UNITS, lambda: [*_tools(), label]):
            return []
        return [Task(name, lambda: userspace.build(self.root, preset, 1, targets), seconds=self.times.of(name), rank=CHECK),
                Task(preset, lambda: list(userspace.run(self.root, preset, chosen, 1, label)), frozenset({name}),
                     self.times.of(preset), CHECK)]

    def ctest(self, chosen: "List[str] | None") -> List[Task]:
        label = self._part("release")[1]
        if chosen is None and self._kept("ctest", inputs.UNITS, lambda: [*_tools(), label]):
            return []
        return [Task("ctest", lambda: list(userspace.run(self.root, "release", chosen, 1, label)), frozenset({RELEASE}),
                     self.times.of("ctest"), CHECK)]

    def checkers(self, wanted: Sequence[str]) -> List[Task]:
        """Those that found nothing in the same files are not asked again."""
        found = []
        for names in TOGETHER:
            left = [name for name in names if name in wanted and not self._kept(static.title(name), inputs.CHECKED, _gates)]
            run = functools.partial(self._check, left)
            name = static.title("+".join(left))
            if left:
                found.append(Task(name, run, seconds=self.times.of(name), rank=CHECK))
        return found

    def _check(self, names: Sequence[str]) -> List[Result]:
        return [static.run(self.root, name, self.check_seconds) for name in names]

    def python(self, tests: Sequence[PythonTest]) -> List[Task]:
        """A task for each file."""
        found = []
        for file in dict.fromkeys(test.file for test in tests):
            mine = [test for test in tests if test.file == file]
            left = [test for test in mine if not self._kept(test.name, PYTHON[file.parent.name], _gates)]
            run = functools.partial(python_tests.run, file, left)
            name = f"{file.parent.name}/{file.stem}"
            if left:
                found.append(Task(name, run, seconds=self.times.of(name), rank=CHECK))
        return found

    def modules(self, kernels: Sequence[str], counted: bool) -> List[Task]:
        """That it builds is a promise of its own; kernels are fetched by the way."""
        return [Task(ko(series), functools.partial(_module, series), seconds=self.times.of(ko(series)), rank=BUILD, counted=counted)
                for series in kernels]

    def guests(self, tests: Sequence[Guest]) -> List[Task]:
        """A task for each guest; a test that fails is repeated in one of its own."""
        left = [test for test in tests if not self._kept(
            test.name, choice.row_inputs(test) if isinstance(test, Torture) else choice.guest_inputs(test),
            functools.partial(_machinery, test))]
        return [Task(" + ".join(test.name for test in group), functools.partial(_run, group), frozenset().union(*map(self._needs, group)),
                     self.times.of(*(test.name for test in group)), TEST, alone=functools.partial(_alone, group))
                for group in (together.tests for together in shared.groups(left))]

    def _needs(self, test: Guest) -> FrozenSet[str]:
        if isinstance(test, EndToEnd) and not choice.needs_build(test):
            return frozenset()
        module = test.kernel in (*GATES, *FRAGMENTS, "newest") and (
            isinstance(test, Torture) or test.needs.get("module", "yes") == "yes")
        return frozenset({RELEASE, ko(test.kernel)} if module else {RELEASE})

    def _kept(self, name: str, prefixes: inputs.Prefixes, more: Callable[[], Iterable[str]]) -> bool:
        """Whether that has passed with these inputs; if not, its key for done()."""
        if self.passes is None:
            return False
        key = self.contents.key(prefixes, name, *more())  # asked only now: it may fetch a kernel
        if self.passes.has(key):
            self.report.keep(1)
            return True
        self._keys[name] = key
        return False

    def done(self, task: Task, results: Sequence[Result]) -> None:
        """Remember how long it took, and what passed: each test, and of a task that is kept as a whole, all of it."""
        for name, seconds in [(task.name, sum(result.seconds for result in results)), *((r.name, r.seconds) for r in results)]:
            self.times.add(name, seconds)
        incomplete = {result.name for result in results if result.reason and result.name in map(static.title, static.names())}
        whole = PASSED if all(result.outcome == PASSED for result in results) else FAILED
        for name, outcome in [(task.name, whole), *((result.name, result.outcome) for result in results)]:
            if self.passes is not None and outcome == PASSED and name in self._keys and name not in incomplete:
                self.passes.add(self._keys[name])

    def forget_old(self) -> None:
        if self.passes is not None:
            self.passes.forget_old()


def _run(group: Sequence[Guest]) -> Iterator[Result]:
    yield from shared.Group(tuple(group)).run()


def _alone(group: Sequence[Guest], name: str) -> Result:
    return next(test for test in group if test.name == name).run()


def _module(series: str) -> Result:
    began = time.monotonic()
    try:
        build_module(series)
    except LabError as error:
        return Result(ko(series), FAILED, time.monotonic() - began, str(error))
    return Result(ko(series), PASSED, time.monotonic() - began)


@functools.lru_cache(maxsize=None)
def _release(series: str) -> str:
    """What "6.1" is today; that of no kernel is its name."""
    try:
        return kernel(series).release if series in GATES else series
    except LabError as error:
        return str(error)


def _gates() -> List[str]:
    return list(map(_release, GATES))


def _machinery(test: Guest) -> List[str]:
    """What a guest's test depends on beside files: kernel, QEMU and length."""
    qemu = test.qemu if isinstance(test, EndToEnd) else "system"
    length = (test.length, os.environ.get("HMK_E2E_SECONDS")) if isinstance(test, EndToEnd) else test.row
    return [_release(test.kernel), str(emulator(qemu).version), str(length)]


def _tools() -> List[str]:
    """The compiler decides, too."""
    return [Path(os.path.realpath("/usr/bin/c++")).name]
