# SPDX-License-Identifier: MIT
"""One result, one line; and the count over all of them."""
import sys
import threading
from dataclasses import dataclass, replace
from typing import Dict, List, Sequence, Tuple

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
FLAKY_AT_MOST = 2   # tests of a run that may fail beside others and pass alone
SHOWN_NAMES = 6


@dataclass(frozen=True)
class Result:
    """`detail` is shown below a failure, `reason` on the line itself. A `grave` failure stands, whatever comes out alone."""

    name: str
    outcome: str
    seconds: float = 0.0
    reason: str = ""
    detail: Tuple[str, ...] = ()
    grave: bool = False


def both(beside: Result, alone: Result) -> Result:
    """What came out of a test that failed beside others and was run once more alone."""
    if alone.outcome == FAILED:
        return replace(alone, reason=f"{alone.reason}; beside others: {beside.reason}")
    if beside.grave:
        return replace(beside, reason=f"{beside.reason}; alone it {alone.outcome}, which excuses nothing")
    return replace(alone, reason=f"flaky: failed beside others: {beside.reason}; alone it {alone.outcome}",
                   detail=beside.detail)


class Report:
    """Prints results as they come, from any thread, and remembers the count."""

    def __init__(self) -> None:
        self.counts: Dict[str, int] = {PASSED: 0, FAILED: 0, SKIPPED: 0}
        self.failed: List[str] = []
        self.flaky: List[str] = []
        self.unrun: Dict[str, List[str]] = {}
        self.kept = 0
        self._lock = threading.Lock()

    def add(self, result: Result) -> None:
        """Count one result and print its line; a failure with its detail."""
        with self._lock:
            self.counts[result.outcome] += 1
            _show(result)
            if result.outcome == FAILED:
                self.failed.append(result.name)

    def put_off(self, result: Result) -> None:
        """Print a failure that is to be repeated; again() counts it."""
        with self._lock:
            _show(replace(result, reason=f"{result.reason}; to be run again alone"))

    def again(self, beside: Result, alone: Result) -> None:
        """Count a test that failed beside others by what it did alone."""
        if alone.outcome != FAILED and not beside.grave:
            self.flaky.append(beside.name)
        self.add(both(beside, alone))

    def keep(self, count: int) -> None:
        """So many passed before with the same inputs."""
        self.kept += count
        self.counts[PASSED] += count

    def left_out(self, reason: str, names: Sequence[str]) -> None:
        """Tests that exist and are not run, told at the end."""
        if names:
            self.unrun.setdefault(reason, []).extend(names)

    def close(self) -> int:
        """What there is to know, the last line, and the exit status it means."""
        sys.stderr.flush()
        for reason, names in self.unrun.items():
            more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
            print(f"not run: {len(names)} {reason}: {', '.join(names[:SHOWN_NAMES])}{more}")
        for name in self.flaky:
            print(f"flaky: {name}: failed beside others, passed alone")
        if len(self.flaky) > FLAKY_AT_MOST:
            print(f"failed: {len(self.flaky)} tests are flaky, {FLAKY_AT_MOST} may be")
        for name in self.failed:
            print(f"failed: {name}")
        if self.kept:
            print(f"{self.kept} of the passed were not run: they passed with the same inputs before; --fresh runs them")
        counts = self.counts
        print(f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped", flush=True)
        return 0 if counts[PASSED] and not counts[FAILED] and len(self.flaky) <= FLAKY_AT_MOST else 1


def _show(result: Result) -> None:
    reason = f"  ({result.reason})" if result.reason else ""
    print(f"{result.outcome:7} {result.seconds:7.1f} s  {result.name}{reason}", flush=True)
    for line in result.detail if result.outcome == FAILED else ():
        print(f"        | {line}", flush=True)
