#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# alone: yes
"""As many threads copy a chunk as a move asks for, the caller among them, but no more than there are CPUs: 1, 2, 4 and 16
on four CPUs and on three. The ranges of a pair share them; with one thread they are moved one by one."""
import sys
from pathlib import Path
from typing import Tuple

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

TRACE = Path("/sys/kernel/tracing")
QUEUED = TRACE / "events/workqueue/workqueue_queue_work/enable"
LAST_CPU = Path("/sys/devices/system/cpu/cpu3/online")


def queued(copy_threads: int, *how: str) -> Tuple[int, int, int]:
    """How many chunks were copied ahead, how many helpers were asked to, and second workers of pairs."""
    (TRACE / "trace").write_text("", encoding="ascii")
    chunks = int(lib.run(lib.helper("threads"), copy_threads, *how).stdout)
    trace = (TRACE / "trace").read_text(encoding="utf-8")
    return chunks, trace.count("function=copy_helper"), trace.count("function=second_worker")


lib.load_module()
if not QUEUED.exists():
    lib.run("mount", "-t", "tracefs", "tracefs", TRACE)
QUEUED.write_text("1", encoding="ascii")
for cpus in (4, 3):
    if cpus == 3:
        LAST_CPU.write_text("0", encoding="ascii")
    for threads in (0, 1, 2, 4, 16):
        chunks, helpers, _ = queued(threads)
        lib.check(helpers == chunks * (min(threads or 4, cpus) - 1) and chunks > 0,
                  f"copy_threads {threads} on {cpus} CPUs: {helpers} helpers in {chunks} chunks")
    for threads in (1, 2, 4):
        chunks, helpers, pairs = queued(threads, "paired")
        lib.check(helpers == chunks * (threads // 2 - 1 if threads > 1 else 0) and pairs == (2 if threads > 1 else 0),
                  f"copy_threads {threads} of a pair: {helpers} helpers in {chunks} chunks, {pairs} second workers")
QUEUED.write_text("0", encoding="ascii")
LAST_CPU.write_text("1", encoding="ascii")
lib.unload_module()
