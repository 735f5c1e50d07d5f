#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
"""A paired ticket has two ranges under way at a time and says of each what any ticket says; a stopped one ends, before it
has begun or soon after, and so does that of a killed target; what had been copied ahead is given back; of two threads
one fetches a ticket. Pages are copied on CPUs of the node they go to, or of the one they come from where that has none."""
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

TRACE = Path("/sys/kernel/tracing")
CPUMASK = Path("/sys/devices/virtual/workqueue/cpumask")


def cpus_that_copied(caller: int, *nodes: int) -> Counter:
    """How often a helper began on each CPU while memory of node 2 visits `nodes`."""
    (TRACE / "trace").write_text("", encoding="ascii")
    print(lib.run("taskset", "-c", caller, lib.helper("pairs"), *nodes).stdout)
    lines = (TRACE / "trace").read_text(encoding="utf-8").splitlines()
    return Counter(int(re.search(r"\[(\d+)\]", line).group(1)) for line in lines if "copy_helper" in line)


lib.load_module()
if not TRACE.is_dir() or not (TRACE / "events").is_dir():
    lib.run("mount", "-t", "tracefs", "tracefs", TRACE)
(TRACE / "events/workqueue/workqueue_execute_start/enable").write_text("1", encoding="ascii")
CPUMASK.write_text("3", encoding="ascii")  # the lab keeps it to CPU 1
for near, caller in ((1, 0), (0, 1)):  # from node 2 and back: it has no CPU
    began = cpus_that_copied(caller, near, 2)
    lib.check(began[near] >= 9 * sum(began.values()) / 10 > 0, f"called on CPU {caller}, helpers of node {near}: {began}")
(TRACE / "events/workqueue/workqueue_execute_start/enable").write_text("0", encoding="ascii")
print(lib.run("taskset", "-c", "0,1", lib.helper("pairs")).stdout)  # what is made once and kept
lib.unload_module()
books = lib.Books()
lib.load_module()
print(lib.run("taskset", "-c", "0,1", lib.helper("pairs")).stdout)
print(lib.run(lib.helper("fetch")).stdout)
lib.unload_module()
books.balanced()
