# SPDX-License-Identifier: MIT
"""DAMON's migration schemes over physical memory, through its sysfs interface (kernel 6.11 and later)."""
import time
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from .base import KERNEL_CPU, System, cpu_seconds, pin, threads, vmstat, write

ROOT = "/sys/kernel/mm/damon/admin/kdamonds"
TRACING = "/sys/kernel/tracing"
STAT = "/sys/module/damon_stat/parameters/enabled"  # a kdamond of the kernel's own over all memory, since 6.17
LONGEST_AGGREGATION = 6  # times its nominal length
LONGEST_LOOK = 3.0       # seconds; what has told nothing by then is not heard
FOREVER = (1 << 32) - 1  # DAMON keeps ages and access counts in 32 bits
EVERYTHING = (1 << 64) - 1
HOT, COLD = "migrate_hot", "migrate_cold"


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
    each scheme (0: none). Those of damo's recipe may be absent: weights, permil by which a quota prefers size,
    accesses and age; young, whether a page's own accessed bit decides at last; apply_ms; goals, bp of the fast
    node's memory in use for promotion and of a node's free memory for demotion; tune, by which intervals tune
    themselves: bp of the accesses to be seen, aggregations, shortest and longest sample_us.
    """

    is_physical = True

    def start(self, pids: Sequence[int]) -> None:
        ranges = memory_ranges()
        if Path(STAT).exists():
            write(STAT, "N")
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
        if "tune" in self.knobs and self._has(f"{attributes}/intervals/intervals_goal", "tune"):
            for name, value in zip(("access_bp", "aggrs", "min_sample_us", "max_sample_us"), self.knobs["tune"]):
                write(f"{attributes}/intervals/intervals_goal/{name}", value)
        write(f"{attributes}/nr_regions/max", self.knobs["max_nr_regions"])
        write(f"{attributes}/nr_regions/min", self.knobs["min_nr_regions"])
        write(f"{context}/targets/nr_targets", 1)
        write(f"{context}/targets/0/regions/nr_regions", 1)
        write(f"{context}/targets/0/regions/0/start", start)
        write(f"{context}/targets/0/regions/0/end", end)
        checks = self.knobs["aggr_us"] // self.knobs["sample_us"]
        hot, cold = (max(1, checks * self.knobs[name] // 100) for name in ("hot_percent", "cold_percent"))
        schemes: List[Tuple[str, int, Tuple[int, int], Tuple[int, int]]] = []
        if node > 0:
            schemes.append((HOT, 0, (hot, FOREVER), (0, FOREVER)))
        if node < last:
            schemes.append((COLD, node + 1, (0, cold - 1), (self.knobs["cold_age"], FOREVER)))
        write(f"{context}/schemes/nr_schemes", len(schemes))
        for number, (action, target, accesses, age) in enumerate(schemes):
            folder = f"{context}/schemes/{number}"
            self._scheme(folder, action, target, accesses, age)
            self._refine(folder, action, 0 if action == HOT else node)

    def _scheme(self, folder: str, action: str, target: int, accesses: Tuple[int, int], age: Tuple[int, int]) -> None:
        write(f"{folder}/action", action)
        write(f"{folder}/target_nid", target)
        write(f"{folder}/quotas/ms", self.knobs["quota_ms"])
        write(f"{folder}/quotas/bytes", self.knobs["quota_bytes"])
        write(f"{folder}/quotas/reset_interval_ms", 1000)
        for name, (low, high) in (("sz", (4096, EVERYTHING)), ("nr_accesses", accesses), ("age", age)):
            write(f"{folder}/access_pattern/{name}/min", low)
            write(f"{folder}/access_pattern/{name}/max", high)

    def _refine(self, folder: str, action: str, node: int) -> None:
        """What damo's tiering recipe adds to a scheme that keeps `node` full but for a little; as far as the kernel has it."""
        for name, value in zip(("sz", "nr_accesses", "age"), self.knobs.get("weights", ())):
            write(f"{folder}/quotas/weights/{name}_permil", value)
        if "apply_ms" in self.knobs and self._has(f"{folder}/apply_interval_us", "apply_ms"):
            write(f"{folder}/apply_interval_us", 1000 * self.knobs["apply_ms"])
        if self.knobs.get("young"):
            write(f"{folder}/filters/nr_filters", 1)
            write(f"{folder}/filters/0/type", "young")
            write(f"{folder}/filters/0/matching", "N" if action == HOT else "Y")  # what matches is left where it is
        if "goals" in self.knobs:
            goals = f"{folder}/quotas/goals"
            write(f"{goals}/nr_goals", 1)
            if not self._has(f"{goals}/0/nid", "goals"):
                write(f"{goals}/nr_goals", 0)
                return
            write(f"{goals}/0/target_metric", "node_mem_used_bp" if action == HOT else "node_mem_free_bp")
            write(f"{goals}/0/target_value", self.knobs["goals"][action != HOT])
            write(f"{goals}/0/nid", node)

    def _has(self, path: str, knob: str) -> bool:
        """Whether this kernel has what a knob is for."""
        there = Path(path).exists()
        if not there and knob not in self.left_out:
            self.left_out.append(knob)
        return there

    def believed(self) -> Dict[str, Any]:
        """One aggregation of every kdamond as the tracepoint tells it: cheap, unlike thousands of files in sysfs."""
        write(f"{TRACING}/trace", "")
        write(f"{TRACING}/events/damon/damon_aggregated/enable", 1)
        text, names = "", [f"kdamond.{node}-" for node in range(len(memory_ranges()))]
        pace = self.knobs["aggr_us"] / 1e6
        for _ in range(max(1, min(LONGEST_AGGREGATION, int(LONGEST_LOOK / pace)))):  # a busy kdamond comes late
            time.sleep(pace)
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
