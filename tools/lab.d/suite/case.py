# SPDX-License-Identifier: MIT
"""One test, one result, one line; and the count over all of them."""
import sys
import threading
from dataclasses import dataclass
from typing import Callable, Dict, List, Tuple

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Result:
    """`detail` is shown below a failure, `reason` on the line itself."""

    name: str
    outcome: str
    seconds: float = 0.0
    reason: str = ""
    detail: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A test that can be named before it is run; `run` may give several results (never none)."""

    name: str
    run: Callable[[], Result]


class Report:
    """Prints results as they come, from any thread, and remembers the count."""

    def __init__(self) -> None:
        self.counts: Dict[str, int] = {PASSED: 0, FAILED: 0, SKIPPED: 0}
        self.failed: List[str] = []
        self._lock = threading.Lock()

    def add(self, result: Result) -> None:
        """Count one result and print its line; a failure with its detail."""
        with self._lock:
            self.counts[result.outcome] += 1
            reason = f"  ({result.reason})" if result.reason else ""
            print(f"{result.outcome:7} {result.seconds:7.1f} s  {result.name}{reason}", flush=True)
            if result.outcome == FAILED:
                self.failed.append(result.name)
                for line in result.detail:
                    print(f"        | {line}", flush=True)

    def close(self) -> int:
        """The last line, and the exit status it means."""
        sys.stderr.flush()
        for name in self.failed:
            print(f"failed: {name}")
        counts = self.counts
        print(f"{counts[PASSED]} passed, {counts[FAILED]} failed, {counts[SKIPPED]} skipped", flush=True)
        return 0 if counts[PASSED] and not counts[FAILED] else 1
