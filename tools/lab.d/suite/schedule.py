# SPDX-License-Identifier: MIT
"""Runs tasks side by side, the longest first, each once what it needs is there."""
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Callable, Dict, FrozenSet, Iterable, Iterator, List, Optional, Sequence, Set, Union

from lab.splat import NO_DEFECT
from suite.case import FAILED, Report, Result

Outcome = Union[Result, Iterable[Result]]
BROKEN_AT_MOST = 3   # runs of a test alone, while QEMU's own faults end them


@dataclass(frozen=True)
class Task:
    """Something that gives results, when those named in `after` have passed. Of a higher `rank` comes earlier, then the longer one."""

    name: str
    run: Callable[[], Outcome] = field(compare=False)
    after: FrozenSet[str] = frozenset()
    seconds: float = 0.0     # about; of an unknown one the scheduler thinks it long
    rank: int = 0
    counted: bool = True     # it is a test; else only its failure is told
    alone: Optional[Callable[[str], Outcome]] = field(default=None, compare=False)  # runs the test of that name once more


class Schedule:
    """`done` is told of every task that has run, with its results; from several threads."""

    def __init__(self, tasks: Sequence[Task], report: Report, done: Callable[[Task, Sequence[Result]], None] = lambda task, results: None) -> None:
        self._waiting = sorted(tasks, key=lambda task: (-task.rank, -task.seconds))
        self._known = {task.name for task in tasks}
        self._passed: Dict[str, bool] = {}
        self._again: List["tuple[Task, Result]"] = []
        self._report, self._done = report, done
        self._change = threading.Condition()
        self._stopped = False

    def run(self, lanes: int) -> None:
        """All of them, and then those that failed and can be repeated, one after the other with nothing beside."""
        single = len(self._waiting) == 1
        with ThreadPoolExecutor(lanes) as pool:
            futures = [pool.submit(self._lane) for _ in range(lanes)]
            for future in futures:
                future.result()
        for task, beside in self._again:
            if single or task.alone is None:  # nothing was beside it
                self._report.add(beside)
                continue
            for alone in _alone(beside.name, partial(task.alone, beside.name)):
                self._report.again(beside, alone)

    def _lane(self) -> None:
        try:
            while True:
                task = self._next()
                if task is None:
                    return
                self._finish(task)
        except BaseException:
            with self._change:
                self._stopped = True
                self._change.notify_all()
            raise

    def _next(self) -> Optional[Task]:
        """The first that can run; waits for one. A task whose need failed or is not there is ready: it fails."""
        with self._change:
            while self._waiting and not self._stopped:
                for task in self._waiting:
                    if self._lacks(task) or all(name in self._passed for name in task.after):
                        self._waiting.remove(task)
                        return task
                self._change.wait()
            return None

    def _lacks(self, task: Task) -> Set[str]:
        return {name for name in task.after if name not in self._known or self._passed.get(name) is False}

    def _results(self, task: Task) -> Iterator[Result]:
        """As they come. What goes wrong is a failure of this task, not of the others."""
        lacking = self._lacks(task)
        if lacking:
            yield Result(task.name, FAILED, 0.0, f"not run: {', '.join(sorted(lacking))} failed")
            return
        yield from _safely(task.name, task.run)

    def _finish(self, task: Task) -> None:
        results = []
        for result in self._results(task):
            results.append(result)
            if result.outcome == FAILED and task.alone is not None and not self._lacks(task):
                self._report.put_off(result)
                self._again.append((task, result))
            elif task.counted or result.outcome == FAILED:
                self._report.add(result)
        self._done(task, results)
        with self._change:
            self._passed[task.name] = all(result.outcome != FAILED for result in results)
            self._change.notify_all()


def _alone(name: str, run: Callable[[], Outcome]) -> List[Result]:
    """Run once, and again while QEMU itself breaks the guest: that says nothing of what is tested."""
    for _ in range(BROKEN_AT_MOST):
        results = list(_safely(name, run))
        if not any(NO_DEFECT in result.reason and not result.grave for result in results):
            break
    return results


def _safely(name: str, run: Callable[[], Outcome]) -> Iterator[Result]:
    began = time.monotonic()
    try:
        outcome = run()
        yield from [outcome] if isinstance(outcome, Result) else outcome
    except Exception as error:
        yield Result(name, FAILED, time.monotonic() - began, f"{type(error).__name__}: {error}")
