# SPDX-License-Identifier: MIT
"""tools/bench placement --here: this machine and no guest; the same loads under first-touch and under hmkd, in turns.

Times are the machine's: nanoseconds for an operation that the load counts itself, over the window and over its last quarter.
"""
import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from lab.build import user_space
from lab.errors import LabError, UsageError

import against
import cells
import counters
from guest import hmkd, waiting
from systems.base import cpu_seconds, threads
from workloads import WORKLOADS, base
from workloads.base import MEBI, TIER_1, OneProgram, along, memory_by_node

FIRST_TOUCH, OURS = "first-touch", "hm-keeper"
DEVICE, NODES = Path("/dev/hmk"), Path("/sys/devices/system/node")
WINDOW, REPEATS = 120.0, 3
SETTLED_FROM = 0.75
PROFILERS = r"hmk/\d+"               # threads of the module
MOST = {"bfs": 16 << 30, "sssp": 16 << 30, "pagerank": 16 << 30}
MOST_OTHERS = 32 << 30               # what the loads can hold
#: One program of ours on one CPU each.
LOADS = tuple(name for name, kind in WORKLOADS.items()
              if issubclass(kind, OneProgram) and kind.programs and kind.application_cpus == (0,) and not kind.packages)
Sample = Dict[str, Any]


def why_not(nodes: int) -> Optional[str]:
    """Why nothing can be placed on a machine, or None."""
    return None if nodes > 1 else ("this machine has one memory node, so there is nowhere to place memory; --here needs two or more "
                                   "(numactl -H lists them); without --here the lab's guest has four")


def left_out() -> Optional[str]:
    """Why hmkd cannot run here, or None."""
    if not DEVICE.exists():
        return f"{DEVICE} is not there: hmk.ko is not loaded (README.md, On your machine: build it and insmod hmk.ko)"
    if os.geteuid():
        return "hmkd moves other programs' memory as root only; run this as root"
    if Path(hmkd.CONTROL).exists():
        return f"{hmkd.CONTROL} is there: another hmkd runs, and would move memory of the first-touch runs, too; stop it"
    return None


def factor(kind: Any, free: Sequence[int], fastest: int) -> int:
    """How many times as large as in the guest the workload is made: as much larger as the fastest node has more room.

    Raises LabError where it cannot be, in one line with what to do.
    """
    times = max(1, free[fastest] // TIER_1)
    most = MOST.get(kind.name, MOST_OTHERS)
    if times * kind.memory_bytes > most:
        fits = most // kind.memory_bytes * TIER_1
        raise LabError(f"{kind.name}: node {fastest} has {free[fastest] >> 20} MiB free, and a load of at most {most >> 20} MiB would fit "
                       f"into it as in no guest: leave at most {fits >> 20} MiB free there, for instance by "
                       f"{NODES}/node{fastest}/hugepages/hugepages-2048kB/nr_hugepages")
    if times * kind.memory_bytes > sum(free) * 0.95:
        raise LabError(f"{kind.name}: needs {times * kind.memory_bytes >> 20} MiB, all nodes have {sum(free) >> 20} MiB free; end other programs")
    return times


def in_turns(repeats: int, systems: Sequence[str]) -> Iterator[Tuple[int, str]]:
    """Now one first, now the other, so that a machine that warms up favours nobody."""
    for repeat in range(1, repeats + 1):
        for system in systems if repeat % 2 else reversed(systems):
            yield repeat, system


def figures(samples: Sequence[Sample], reports: Sequence[Tuple[float, int]], window: float) -> Dict[str, Any]:
    """Of one run, from samples (seconds, counters, moved_bytes, service_seconds) and the load's own counts of operations.

    Raises LabError for a load that counted none.
    """
    seconds, ops = [list(column) for column in zip(*reports)] if reports else ([], [])

    def between(first: Sample, last: Sample) -> Tuple[float, Dict[str, float]]:
        done = along(seconds, ops, last["seconds"]) - along(seconds, ops, first["seconds"])
        if done < 1:
            raise LabError(f"no operation was counted between {first['seconds']:.0f} and {last['seconds']:.0f} s; give it a longer --window")
        return (1e9 * (last["seconds"] - first["seconds"]) / done,
                {name: (value - first["counters"][name]) / done for name, value in last["counters"].items()})

    if len(seconds) < 2 or len(samples) < 2:
        raise LabError(f"the load told its operations {len(seconds)} times in {window:g} s; give it a longer --window")
    first, last = samples[0], samples[-1]
    settled = next(sample for sample in samples if sample["seconds"] >= SETTLED_FROM * last["seconds"])
    if settled is last:
        settled = samples[-2]
    whole_ns, _ = between(first, last)
    settled_ns, per_operation = between(settled, last)
    return {"ns_per_operation": whole_ns, "settled_ns_per_operation": settled_ns, "counters_per_operation": per_operation,
            "moved_bytes": last["moved_bytes"] - first["moved_bytes"],
            "service_percent_of_a_cpu": 100 * (last["service_seconds"] - first["service_seconds"]) / (last["seconds"] - first["seconds"])}


class Service:
    """hmkd on the load, or nothing; ended with the block, whatever happens in it."""

    def __init__(self, build: Path, pids: Sequence[int], knobs: Dict[str, str]) -> None:
        self._daemon = hmkd.Daemon(build, pids, knobs) if knobs else None

    def __enter__(self) -> "Service":
        if self._daemon:
            waiting.wait_for(lambda: threads(PROFILERS), 30, "hmk.ko profiles the load (see hmkd.log)")
        return self

    def __exit__(self, *_: Any) -> None:
        if self._daemon:
            self._daemon.stop()

    def seen(self) -> Dict[str, float]:
        if not self._daemon:
            return {"moved_bytes": 0.0, "service_seconds": 0.0}
        stats = self._daemon.ask_all("stats")
        return {"moved_bytes": float(sum(row["promoted_bytes"] + row["demoted_bytes"] for row in stats)),
                "service_seconds": cpu_seconds([*threads(PROFILERS), self._daemon.pid])}


def measure(load: OneProgram, build: Path, knobs: Dict[str, str], window: float) -> Tuple[Dict[str, Any], Dict[str, str]]:
    """Figures of one run, and what of the counters is missing."""
    with contextlib.ExitStack() as ends:
        load.prepare()
        ends.callback(load.program.kill)
        counted = counters.Counters(load.pids()[0])
        ends.callback(counted.close)
        with Service(build, load.pids(), knobs) as service:
            began = time.monotonic()
            load.start()
            samples: List[Sample] = []
            while not samples or samples[-1]["seconds"] < window:
                time.sleep(max(0.0, began + len(samples) * min(1.0, window / 8) - time.monotonic()))
                samples.append({"seconds": time.monotonic() - began, "counters": counted.read(), **service.seen()})
            reports = [(at - began, ops) for at, ops in load.reports()]
        if load.stop()["wrong_values"]:
            raise LabError(f"{load.name}: values were wrong in the end; the run is worth nothing")
    return figures(samples, reports, window), counted.missing


def rows(runs: Sequence[Dict[str, Any]]) -> List[Dict[str, Any]]:
    """Of each workload and system the medians and ranges; of ours the comparison of the runs that were in one turn, too."""
    found = []
    for workload, pages in dict.fromkeys((run["workload"], run["page_size"]) for run in runs):
        mine = [run for run in runs if (run["workload"], run["page_size"]) == (workload, pages)]
        for system in dict.fromkeys(run["system"] for run in mine):
            own = [run for run in mine if run["system"] == system]
            row: Dict[str, Any] = {"workload": workload, "page_size": pages, "system": system, "repeats": len(own), "counters_per_operation": {
                name: median(run["counters_per_operation"][name] for run in own) for name in own[0]["counters_per_operation"]}}
            for name in ("ns_per_operation", "settled_ns_per_operation", "moved_bytes", "service_percent_of_a_cpu"):
                values = [run[name] for run in own]
                row[name], row[f"{name}_range"] = median(values), [min(values), max(values)]
            both = [(run["settled_ns_per_operation"], other["settled_ns_per_operation"]) for run in own for other in mine
                    if system != FIRST_TOUCH and other["system"] == FIRST_TOUCH and other["repeat"] == run["repeat"]]
            row["beside_first_touch"] = against.compare(both) if both else None
            found.append(row)
    return found


def text(found: Sequence[Dict[str, Any]]) -> str:
    """Aligned; counters as there are."""
    names = list(dict.fromkeys(name for row in found for name in row["counters_per_operation"]))
    lines = [["workload", "pages", "system", "runs", "ns/op", "settled", "of first-touch", "p", "moved MiB", "service CPU", *(f"{n}/op" for n in names)]]
    for row in found:
        beside = row["beside_first_touch"]
        lines.append([row["workload"], row["page_size"], row["system"], str(row["repeats"]), _shown(row, "ns_per_operation"),
                      _shown(row, "settled_ns_per_operation"), f"{beside['ratio']:.3f}" if beside else "–", f"{beside['p']:.3f}" if beside else "–",
                      f"{row['moved_bytes'] / MEBI:.0f}", f"{row['service_percent_of_a_cpu']:.1f} %",
                      *(f"{row['counters_per_operation'][name]:.2f}" if name in row["counters_per_operation"] else "–" for name in names)])
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip() for line in lines)


def _shown(row: Dict[str, Any], name: str) -> str:
    least, most = row[f"{name}_range"]
    return f"{row[name]:.1f} ({least:.1f}–{most:.1f})"


def run(args: argparse.Namespace, names: Sequence[str], pages: Sequence[str], root: Path) -> int:
    """Measure and print. 0 with a table, also where it has first-touch only, which is said. Raises LabError."""
    unfit = [name for name in names if name not in LOADS]
    if unfit:
        raise UsageError(f"--here --workload {unfit[0]}: needs the lab's guest; of those that run anywhere there are {', '.join(LOADS)}")
    free = memory_by_node("MemFree")
    why = why_not(len(free))
    if why:
        raise LabError(why)
    without = left_out()
    if without:
        print(f"bench: hm-keeper is left out: {without}", file=sys.stderr)
    systems = [FIRST_TOUCH] if without else [FIRST_TOUCH, OURS]
    knobs = {name: str(value) for name, value in cells.HM_KEEPER["shipped"].items()}
    fastest = next(int(node.name[4:]) for node in NODES.glob("node[0-9]*") if (node / "cpu0").exists())
    args.out.mkdir(parents=True, exist_ok=True)
    build = user_space(root, args.out, ["hmkd", *{program for name in names for program in WORKLOADS[name].programs}])
    runs: List[Dict[str, Any]] = []
    missing: Dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="hmk-here.") as folder:
        base.LOGS = hmkd.LOGS = Path(folder)
        for name in names:
            for size in pages:
                times = factor(WORKLOADS[name], memory_by_node("MemFree"), fastest)
                for repeat, system in in_turns(args.repeat or REPEATS, systems):
                    load = made(name, build, size, times, args.window or WINDOW)
                    try:
                        own, missing = measure(load, build, knobs if system == OURS else {}, load.window_seconds)
                    except (waiting.Failed, OSError) as failure:
                        raise LabError(f"{name}, {system}: {failure}") from None
                    runs.append({"workload": name, "page_size": size, "system": system, "repeat": repeat, **own})
                    print(f"bench: {name} {size} {system} {repeat}: {own['settled_ns_per_operation']:.1f} ns an operation", file=sys.stderr)
    for why in dict.fromkeys(missing.values()):
        print(f"bench: this machine does not count {', '.join(name for name in missing if missing[name] == why)}: {why}", file=sys.stderr)
    found = rows(runs)
    print(text(found))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


def made(name: str, build: Path, pages: str, times: int, window: float) -> Any:
    """The workload, so many times as large, for a window of that length."""
    load: Any = WORKLOADS[name](build, pages, False)
    load.memory_bytes *= times
    if hasattr(load, "hot_bytes"):
        load.hot_bytes *= times
    load.window_seconds, load.checked = window, True
    return load
