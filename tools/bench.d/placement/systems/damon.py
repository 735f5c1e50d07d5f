# SPDX-License-Identifier: MIT
"""DAMON's migration schemes over physical memory, through its sysfs interface (kernel 6.11 and later)."""
import time
from pathlib import Path
from typing import Any, Dict, List, Sequence

from .base import KERNEL_CPU, System, cpu_seconds, pin, threads, vmstat, write

ROOT = "/sys/kernel/mm/damon/admin/kdamonds"
TRACING = "/sys/kernel/tracing"
LONGEST_AGGREGATION = 6  # times its nominal length
FOREVER = (1 << 32) - 1  # DAMON keeps ages and access counts in 32 bits
EVERYTHING = (1 << 64) - 1


def memory_ranges() -> List[List[int]]:
    """Physical [start, end) per node, the largest range of each, from the memory blocks."""
    block = int(Path("/sys/devices/system/memory/block_size_bytes").read_text(encoding="ascii"), 16)
    ranges = []
    for node in sorted(Path("/sys/devices/system/node").glob("node[0-9]*"), key=lambda p: int(p.name[4:])):
        numbers = sorted(int(entry.name[6:]) for entry in node.glob("memory[0-9]*"))
        runs: List[List[int]] = []
        for number in numbers:
            if runs and runs[-1][1] == number * block:
                runs[-1][1] += block
            else:
                runs.append([number * block, (number + 1) * block])
        ranges.append(max(runs, key=lambda run: run[1] - run[0]))
    return ranges


class Damon(System):
    """One kdamond over each node: what is hot moves to the fastest node, what is cold to the next one.

    Knobs: sample_us, aggr_us, min_nr_regions, max_nr_regions; hot_percent and cold_percent of the checks of
    one aggregation that found an access; cold_age, in aggregations; quota_ms and quota_bytes per second of
    each scheme (0: none).
    """

    is_physical = True

    def start(self, pids: Sequence[int]) -> None:
        ranges = memory_ranges()
        write(f"{ROOT}/nr_kdamonds", len(ranges))
        for node, (start, end) in enumerate(ranges):
            self._configure(node, start, end, last=len(ranges) - 1)
        for node in range(len(ranges)):
            write(f"{ROOT}/{node}/state", "on")
        self._threads = threads(r"kdamond\.\d+")
        pin(self._threads + threads(r"kswapd\d+|kcompactd\d+"), KERNEL_CPU)

    def _configure(self, node: int, start: int, end: int, last: int) -> None:
        write(f"{ROOT}/{node}/contexts/nr_contexts", 1)
        context = f"{ROOT}/{node}/contexts/0"
        write(f"{context}/operations", "paddr")
        attributes = f"{context}/monitoring_attrs"
        write(f"{attributes}/intervals/sample_us", self.knobs["sample_us"])
        write(f"{attributes}/intervals/aggr_us", self.knobs["aggr_us"])
        write(f"{attributes}/intervals/update_us", 60_000_000)
        write(f"{attributes}/nr_regions/max", self.knobs["max_nr_regions"])
        write(f"{attributes}/nr_regions/min", self.knobs["min_nr_regions"])
        write(f"{context}/targets/nr_targets", 1)
        write(f"{context}/targets/0/regions/nr_regions", 1)
        write(f"{context}/targets/0/regions/0/start", start)
        write(f"{context}/targets/0/regions/0/end", end)
        checks = self.knobs["aggr_us"] // self.knobs["sample_us"]
        hot, cold = (max(1, checks * self.knobs[name] // 100) for name in ("hot_percent", "cold_percent"))
        schemes = []
        if node > 0:
            schemes.append(("migrate_hot", 0, (hot, FOREVER), (0, FOREVER)))
        if node < last:
            schemes.append(("migrate_cold", node + 1, (0, cold - 1), (self.knobs["cold_age"], FOREVER)))
        write(f"{context}/schemes/nr_schemes", len(schemes))
        for number, (action, target, accesses, age) in enumerate(schemes):
            self._scheme(f"{context}/schemes/{number}", action, target, accesses, age)

    def _scheme(self, folder: str, action: str, target, accesses, age) -> None:
        write(f"{folder}/action", action)
        write(f"{folder}/target_nid", target)
        write(f"{folder}/quotas/ms", self.knobs["quota_ms"])
        write(f"{folder}/quotas/bytes", self.knobs["quota_bytes"])
        write(f"{folder}/quotas/reset_interval_ms", 1000)
        for name, (low, high) in (("sz", (4096, EVERYTHING)), ("nr_accesses", accesses), ("age", age)):
            write(f"{folder}/access_pattern/{name}/min", low)
            write(f"{folder}/access_pattern/{name}/max", high)

    def believed(self) -> Dict[str, Any]:
        """One aggregation of every kdamond as the tracepoint tells it: cheap, unlike thousands of files in sysfs."""
        write(f"{TRACING}/trace", "")
        write(f"{TRACING}/events/damon/damon_aggregated/enable", 1)
        text, names = "", [f"kdamond.{node}-" for node in range(len(memory_ranges()))]
        for _ in range(LONGEST_AGGREGATION):  # a busy kdamond comes late
            time.sleep(self.knobs["aggr_us"] / 1e6)
            text = Path(f"{TRACING}/trace").read_text(encoding="ascii")
            if all(name in text for name in names):
                break
        write(f"{TRACING}/events/damon/damon_aggregated/enable", 0)
        return {"trace": text}

    def counters(self) -> Dict[str, float]:
        return {"moved_bytes": 4096 * vmstat()["pgmigrate_success"], "cpu_seconds": cpu_seconds(self._threads)}

    def stop(self) -> None:
        for kdamond in Path(ROOT).glob("[0-9]*"):
            write(f"{kdamond}/state", "off")
        write(f"{ROOT}/nr_kdamonds", 0)
