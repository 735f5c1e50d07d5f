# SPDX-License-Identifier: MIT
"""One cell from guest to file, and what is said meanwhile: how far each guest is, how long the rest will take."""
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Dict, List, Sequence, Tuple

from lab import Machine, pages
from lab.outcome import Mark

import belief
import counted
import figures
import hindsight
import pace
import stage
from build import Tools
from cells import Cell
from keep import Store
from workloads import WORKLOADS

Task = Tuple[Cell, Tools, Store]
SAY_EVERY = 10.0
GRANULES = {"4K": 4096, "2M": 2 << 20}
BULKY = ("belief-*.json", "pagemap-*.bin", pages.PATTERN)  # what a finished cell needs no more; logs stay


class Interrupted(Exception):
    """The user wants no more."""


class Progress:
    """Thread-safe; lines on standard error, one for each end and one for all guests every 10 s."""

    def __init__(self, total: int, jobs: int) -> None:
        self._total, self._jobs, self._done = total, jobs, 0
        self._began = self._said = time.monotonic()
        self._state: Dict[str, str] = {}
        self._stopped = False
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Have every cell under way give up."""
        self._stopped = True

    def check(self) -> None:
        """Called in each cell's thread now and then. Raises Interrupted."""
        if self._stopped:
            raise Interrupted

    def at(self, cell: Cell, state: str) -> None:
        with self._lock:
            self._state[cell.key] = state
            if time.monotonic() - self._said >= SAY_EVERY:
                self._said = time.monotonic()
                self._say("; ".join(f"{key} {text}" for key, text in sorted(self._state.items())))

    def finished(self, cell: Cell, text: str) -> None:
        with self._lock:
            self._state.pop(cell.key, None)
            self._done += 1
            under_way = min(self._jobs, self._total - self._done + 1) - 1  # half of each is done, one with another
            left = ((time.monotonic() - self._began) / (self._done + under_way / 2)
                    * (self._total - self._done - under_way / 2))
            self._say(f"{self._done} of {self._total}: {cell.key}: {text}; about {left / 60:.0f} min left")

    def failed(self, cell: Cell, text: str) -> None:
        self.finished(cell, f"FAILED: {text}")

    @staticmethod
    def _say(text: str) -> None:
        print(f"bench: {text}", file=sys.stderr, flush=True)


def one(cell: Cell, machine: Machine, tools: Tools, store: Store, watch: Progress) -> None:
    """Run a cell, work out its figures, keep both. Raises stage.CellFailed or LabError."""
    logs = store.logs(cell)
    store.drop(cell)  # a run that fails leaves nothing older in its place
    raw = stage.run(cell, machine, tools.build, tools.modules.get(cell.kernel), logs,
                    lambda text: watch.at(cell, text), watch.check, tools.daemon)
    run: Dict[str, Any] = {**raw, "figures": figures.of(raw, machine), "belief": belief.series(logs),
                           "commit": tools.commit, "has_truth": not cell.command and WORKLOADS[cell.workload].has_truth}
    invalid = pace.behind(run["figures"]["turns"])
    if invalid:
        raise stage.CellFailed(f"{cell.key}: {invalid}; logs are in {logs}")
    run["interval_seconds"] = float(cell.knobs["interval"].rstrip("s")) if "interval" in cell.knobs else None
    if raw["paged"]:
        run["hindsight"] = _hindsight(raw, machine, logs)
        scenario = counted.of(raw, machine, logs)
        if scenario:
            scenario.write(store.folder, cell.key)
    del run["marks"]
    store.write(cell, run)
    for pattern in BULKY:
        for file in logs.glob(pattern):
            file.unlink()
    own = run["figures"]
    watch.finished(cell, f"tier 1 serves {100 * own['tier_share'][0]:.1f} % in the end, {raw['host_seconds']:.0f} s")


def every(tasks: Sequence[Task], machine: Machine, jobs: int) -> List[str]:
    """Run them, in this order, `jobs` at a time; the reasons of those that failed."""
    if tasks and machine.assumed:
        print(f"bench: {machine.name}: prices not given and assumed: {'; '.join(machine.assumed)}", file=sys.stderr)
    watch, failed = Progress(len(tasks), jobs), []
    with ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(one, cell, machine, tools, store, watch): cell for cell, tools, store in tasks}
        try:
            for task in as_completed(running):
                error = task.exception()
                if error:
                    failed.append(str(error))
                    watch.failed(running[task], str(error))
        except KeyboardInterrupt:
            watch.stop()
            pool.shutdown(cancel_futures=True)
            raise
    return failed


def _hindsight(raw: Dict[str, Any], machine: Machine, logs) -> Dict[str, Any]:
    """Shares per tier of the best static placement, by granule."""
    ready = raw["events"]["ready"]
    room = hindsight.capacities(ready["free_bytes"], ready["resident_bytes"], machine.tiers())
    last = [Mark(row["mark"], row["seq"], row) for row in raw["marks"] if row["mark"] == pages.MARK][-1]
    counts = {page: count.misses for page, count in pages.read(pages.file_of(logs, last)).items()}
    return {name: hindsight.shares(counts, room, granule) for name, granule in GRANULES.items()}
