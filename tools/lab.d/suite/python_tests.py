# SPDX-License-Identifier: MIT
"""The tools' own tests: unittest files in FOLDERS of tests/, each method counted by itself, each file in a process of its own."""
import json
import subprocess
import sys
import time
import traceback
import unittest
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Iterator, List, Sequence

sys.path[:0] = [] if __name__ != "__main__" else [str(Path(__file__).resolve().parents[1])]

from suite.case import FAILED, PASSED, SKIPPED, Result  # noqa: E402

FOLDERS = ("lab", "bench", "static", "packaging")
LAST_LINES = 25


@dataclass(frozen=True)
class PythonTest:
    """One method; `id` is unittest's."""

    file: Path
    id: str

    @property
    def name(self) -> str:
        """folder/Class.method."""
        return f"{self.file.parent.name}/" + ".".join(self.id.split(".")[-2:])


def collect(tests: Path) -> List[PythonTest]:
    """All test methods below FOLDERS of `tests`."""
    return [PythonTest(file, test.id()) for folder in FOLDERS for file in sorted((tests / folder).glob("test_*.py"))
            for test in _load(file)]


def _load(file: Path) -> Iterator[unittest.TestCase]:
    def flatten(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
        for test in suite:
            if isinstance(test, unittest.TestSuite):
                yield from flatten(test)
            else:
                yield test
    return flatten(unittest.TestLoader().discover(str(file.parent), file.name, str(file.parent)))


def run(file: Path, chosen: Sequence[PythonTest]) -> List[Result]:
    """The chosen tests of one file."""
    with TemporaryDirectory() as scratch:
        told = Path(scratch) / "results"
        began = time.monotonic()
        done = subprocess.run([sys.executable, "-B", __file__, str(file), str(told), *(test.id for test in chosen)], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        seconds = time.monotonic() - began
        lines = told.read_text(encoding="utf-8").splitlines() if told.exists() else []
    rows = {row["id"]: row for row in map(json.loads, lines)}
    said = tuple(done.stdout.splitlines()[-LAST_LINES:])
    lost = Result("", FAILED, seconds, f"the process ended with {done.returncode} before it", said)
    return [_result(test, rows[test.id]) if test.id in rows else Result(test.name, lost.outcome, seconds, lost.reason, said)
            for test in chosen]


def _result(test: PythonTest, row: dict) -> Result:
    return Result(test.name, row["outcome"], row["seconds"], row["reason"], tuple(row["detail"]))


def _run_one(test: unittest.TestCase) -> dict:
    began, outcome = time.monotonic(), unittest.TestResult()
    row = {"id": test.id()}
    try:
        test(outcome)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a test that calls sys.exit must not end the run
        outcome.errors.append((test, traceback.format_exc()))
    seconds = time.monotonic() - began
    for _, text in outcome.failures + outcome.errors:
        lines = text.strip().splitlines()
        return {**row, "outcome": FAILED, "seconds": seconds, "reason": lines[-1], "detail": lines[-12:]}
    skipped = outcome.skipped[0][1] if outcome.skipped else ""
    return {**row, "outcome": SKIPPED if outcome.skipped else PASSED, "seconds": seconds, "reason": skipped, "detail": []}


def main(file: str, told: str, *chosen: str) -> None:
    """In the process of one file: a line of JSON for each test, as soon as it has ended."""
    with open(told, "a", encoding="utf-8") as results:
        for test in _load(Path(file)):
            if test.id() in chosen:
                results.write(json.dumps(_run_one(test)) + "\n")
                results.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
