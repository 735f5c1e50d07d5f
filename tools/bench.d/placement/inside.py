# SPDX-License-Identifier: MIT
"""One cell inside the guest: prepare the workload, let the system place it, sample, end everything.

Prints JSON lines for stage.py: say, ready, started, sample, reports, jumps, placed, ended, failed. The argument is a JSON object:
workload, command, settle_seconds, system, knobs, page_size, window_seconds, period_seconds, believe_every, pages, build,
daemon, module.
"""
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parent)]
from guest.play import run, tell  # noqa: E402
from guest.waiting import LOGS  # noqa: E402
from systems import SYSTEMS  # noqa: E402
from systems.base import System, cpu_seconds, write  # noqa: E402
from workloads import WORKLOADS  # noqa: E402
from workloads.base import LAUNCHER, Workload, memory_by_node  # noqa: E402
from workloads.command import Command  # noqa: E402

PAGES_EVERY = 4  # samples, between two looks at which pages were missed
MARK_PERIOD, MARK_PAGES, MARK_REST = "1", "14", "15"
PAGE = 4096
TICKS = os.sysconf("SC_CLK_TCK")


def mark(number: str) -> None:
    subprocess.run(["hmk-mark", number], check=True)


def resident_bytes(workload: Workload) -> List[int]:
    """Memory of the processes by node; what they share is counted once, as the largest of them has it or the workload knows."""
    nodes = len(memory_by_node("MemFree"))
    private, shared = [0] * nodes, workload.shared_bytes() or [0] * nodes
    for pid in workload.pids():
        own_shared = [0] * nodes
        try:
            maps = Path(f"/proc/{pid}/numa_maps").read_text(encoding="utf-8")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended meanwhile
        for line in maps.splitlines():
            told = re.search(r"kernelpagesize_kB=(\d+)", line)
            size = int(told[1]) << 10 if told else PAGE
            where = own_shared if re.search(r"file=|mapmax=", line) else private
            for node, pages in re.findall(r"\bN(\d+)=(\d+)", line):
                where[int(node)] += size * int(pages)
        shared = [max(pair) for pair in zip(shared, own_shared)]
    return [a + b for a, b in zip(private, shared)]


def mappings(workload: Workload) -> List[List[int]]:
    """Where the memory of its first process lies that it may write: start and end."""
    lines = Path(f"/proc/{workload.pids()[0]}/maps").read_text(encoding="utf-8").splitlines()
    found = (re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line) for line in lines)
    return [[int(one[1], 16), int(one[2], 16)] for one in found if one]


def idle_seconds() -> List[float]:
    """By CPU, since boot."""
    rows = (line.split() for line in Path("/proc/stat").read_text(encoding="ascii").splitlines())
    return [(int(row[4]) + int(row[5])) / TICKS for row in rows if re.fullmatch(r"cpu\d+", row[0])]


def snapshot(number: int, system: System, workload: Workload, began: float) -> None:
    """What the system believes and what is true, into a file; with the page table where the belief is physical."""
    truth = workload.truth()
    believed = system.believed() if truth else {}
    if not believed:
        return
    pid, start, length = workload.extent()
    record: Dict[str, Any] = {"seconds": time.monotonic() - began, "start": start, "length": length,
                              "truth": [[a, n] for p, a, n in truth if p == pid], **believed}
    (LOGS / f"belief-{number}.json").write_text(json.dumps(record), encoding="ascii")
    if system.is_physical:
        with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
            pagemap.seek(start // PAGE * 8)
            (LOGS / f"pagemap-{number}.bin").write_bytes(pagemap.read(length // PAGE * 8))


def measure(plan: Dict[str, Any], workload: Workload, system: System) -> float:
    """A sample a period until the window is over; where looking takes longer than that, fewer of them.

    Returns the CPU seconds that the workload's processes used meanwhile, by the guest's clock.
    """
    began, used = time.monotonic(), cpu_seconds(workload.pids())
    before, number, due = system.counters(), 0, 0.0
    while due < plan["window_seconds"]:
        number += 1
        due = min(plan["window_seconds"], max(due + plan["period_seconds"], time.monotonic() - began))
        time.sleep(max(0.0, began + due - time.monotonic()))
        mark(MARK_PERIOD)
        now, counters = time.monotonic(), system.counters()
        tell("sample", seconds=now - began, ops=workload.ops(), idle_seconds=idle_seconds(), program_seconds=cpu_seconds(workload.pids()) - used,
             counters={name: value - before.get(name, 0.0) for name, value in counters.items()})
        if plan["pages"] and number % PAGES_EVERY == 0:
            mark(MARK_PAGES)
        if plan["believe_every"] and number % plan["believe_every"] == 0:
            snapshot(number, system, workload, began)
    used = cpu_seconds(workload.pids()) - used
    reports = workload.reports()
    tell("reports", seconds=[at - began for at, _ in reports], ops=[ops for _, ops in reports])
    tell("jumps", seconds=[at - began for at in workload.jumps()])
    return used


def play(plan: Dict[str, Any]) -> None:
    write("/sys/devices/virtual/workqueue/cpumask", "e")  # kernel work that may run anywhere keeps off CPU 0
    build, module = Path(plan["build"]), Path(plan["module"]) if plan["module"] else None
    if plan["command"]:
        workload: Workload = Command(build, plan["page_size"], plan["command"], plan["settle_seconds"])
    else:
        workload = WORKLOADS[plan["workload"]](build, plan["page_size"], plan["system"] == "oracle")
    workload.window_seconds = plan["window_seconds"]
    workload.checked = plan["system"].startswith("hm-keeper")
    system = SYSTEMS[plan["system"].partition("/")[0]](plan["knobs"], Path(plan["daemon"]), module)
    LAUNCHER[:] = system.launcher()
    began = time.monotonic()
    workload.prepare()
    tell("ready", seconds=time.monotonic() - began, free_bytes=memory_by_node("MemFree"),
         resident_bytes=resident_bytes(workload), mappings=mappings(workload) if plan["pages"] else [])
    mark("0")
    workload.start()
    system.start(workload.pids())
    tell("started", left_out=system.left_out)
    used = measure(plan, workload, system)
    tell("placed", cpu_seconds=used, free_bytes=memory_by_node("MemFree"), resident_bytes=resident_bytes(workload))
    if plan["pages"]:
        mark(MARK_PAGES)
    mark(MARK_REST)
    system.stop()
    tell("ended", **workload.stop())


if __name__ == "__main__":
    run(play)
