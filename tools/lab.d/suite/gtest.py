# SPDX-License-Identifier: MIT
"""Runs the cases of a GoogleTest program in one process, with a result for each: under ASan starting a process costs 0.2 s.

A case that ends the process or takes too long fails, and the cases after it run in a new process. What the process reports after its
last case (a leak, a bad exit status) fails the program.
"""
import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Dict, Iterator, List, Mapping, Sequence

from suite.case import FAILED, PASSED, SKIPPED, Result

LAST_LINES = 25
ENDS = {"OK": PASSED, "FAILED": FAILED, "SKIPPED": SKIPPED}
BEGIN = re.compile(r"^\[ RUN      \] (\S+)$")
END = re.compile(r"\[ *(OK|FAILED|SKIPPED) *\] (\S+?)(?:, where .*)? \((\d+) ms\)$")  # not at its start: a case may print no newline


class Program:
    """One program, run in `folder`; a case may take `limit` seconds."""

    def __init__(self, file: Path, folder: Path, environment: Dict[str, str], limit: float) -> None:
        self._file, self._folder, self._environment, self._limit = file, folder, environment, limit

    def run(self, cases: Mapping[str, str], prefix: str) -> Iterator[Result]:
        """A result for each of `cases`, by the name that it maps to, and one failure more, PREFIX/PROGRAM, if the program itself fails."""
        left, own = dict(cases), f"{prefix}/{self._file.name}"
        while left:
            ran = False
            for result in self._process(list(left)):
                ran = ran or result.name in left
                yield replace(result, name=left.pop(result.name, own))
            if not ran:
                yield from (Result(name, FAILED, 0.0, f"{self._file.name} did not run it") for name in left.values())
                return

    def _process(self, cases: Sequence[str]) -> Iterator[Result]:
        """What one process does of them, each by its own name; a failure without name is the program's."""
        began, running, failed = time.monotonic(), "", False
        output: List[str] = []
        with subprocess.Popen([str(self._file), "--gtest_color=no", f"--gtest_filter={':'.join(cases)}"], cwd=self._folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=self._environment, start_new_session=True) as process:
            watchdog = _Watchdog(process, self._limit)
            for line in process.stdout or ():
                output.append(line.rstrip("\n"))
                started, ended = BEGIN.match(output[-1]), END.search(output[-1])
                if started:
                    began, running, output = time.monotonic(), started[1], []
                elif ended and ended[2] == running:
                    failed = failed or ended[1] == "FAILED"
                    yield _result(running, ENDS[ended[1]], int(ended[3]) / 1000, output[:-1])
                    running, output = "", []
                if started or ended:
                    watchdog.feed()
            watchdog.stop()
        why = f"took longer than {self._limit:g} s" if watchdog.bit else f"the process ended with {process.returncode}"
        if running or (process.returncode and not failed):
            yield Result(running, FAILED, time.monotonic() - began, why if running else f"{why} after its last case", tuple(output[-LAST_LINES:]))


def _result(case: str, outcome: str, seconds: float, output: Sequence[str]) -> Result:
    said = tuple(line for line in output if line.strip())
    if outcome == FAILED:
        return Result(case, outcome, seconds, "", said[-LAST_LINES:])
    return Result(case, outcome, seconds, (said or ("no reason given",))[-1].strip() if outcome == SKIPPED else "")


class _Watchdog:
    """Kills `process` and its children, which may hold its output open, when nobody has fed it for `seconds`."""

    def __init__(self, process: "subprocess.Popen[str]", seconds: float) -> None:
        self._process, self._seconds, self.bit = process, seconds, False
        self._timer = self._started()

    def feed(self) -> None:
        self._timer.cancel()
        self._timer = self._started()

    def stop(self) -> None:
        self._timer.cancel()

    def _started(self) -> threading.Timer:
        timer = threading.Timer(self._seconds, self._bite)
        timer.daemon = True
        timer.start()
        return timer

    def _bite(self) -> None:
        self.bit = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
