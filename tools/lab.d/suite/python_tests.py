# SPDX-License-Identifier: MIT
"""The tools' own tests: unittest files in FOLDERS of tests/, each method counted by itself."""
import sys
import time
import traceback
import unittest
from pathlib import Path
from typing import Iterator, List

from suite.case import FAILED, PASSED, SKIPPED, Result


FOLDERS = ("lab", "bench", "static")


def collect(tests: Path) -> List[unittest.TestCase]:
    """All test methods below FOLDERS of `tests`."""
    def flatten(suite) -> Iterator[unittest.TestCase]:
        for test in suite:
            if isinstance(test, unittest.TestSuite):
                yield from flatten(test)
            else:
                yield test
    found = []
    for folder in FOLDERS:
        for test in flatten(unittest.TestLoader().discover(str(tests / folder), "test_*.py", str(tests / folder))):
            test.folder = folder
            found.append(test)
    return found


def name(test: unittest.TestCase) -> str:
    """folder/Class.method."""
    return f"{test.folder}/" + ".".join(test.id().split(".")[-2:])


def run(test: unittest.TestCase) -> Result:
    """One method."""
    began, outcome = time.monotonic(), unittest.TestResult()
    try:
        test(outcome)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a test that calls sys.exit must not end the run
        outcome.errors.append((test, traceback.format_exc()))
    seconds = time.monotonic() - began
    sys.stdout.flush()
    for _, text in outcome.failures + outcome.errors:
        lines = text.strip().splitlines()
        return Result(name(test), FAILED, seconds, lines[-1], tuple(lines[-12:]))
    if outcome.skipped:
        return Result(name(test), SKIPPED, seconds, outcome.skipped[0][1])
    return Result(name(test), PASSED, seconds)
