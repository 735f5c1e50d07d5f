#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
# alone: yes
# seconds: 14
"""Moves beside everything else in the kernel that moves, splits, merges or takes away memory and CPUs: compaction,
khugepaged, NUMA balancing, DAMON (where the kernel has its sysfs interface), a cpuset that changes 10 times a second,
memory blocks and a CPU that go and come back, a node with no room. No write is lost and nothing leaks."""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

GROUP = Path("/sys/fs/cgroup/beside")
HUGE = Path("/sys/kernel/mm/transparent_hugepage")
DAMON = Path("/sys/kernel/mm/damon/admin/kdamonds")
BLOCKS = sorted(Path("/sys/devices/system/node/node2").glob("memory[0-9]*")) + \
    sorted(Path("/sys/devices/system/node/node3").glob("memory[0-9]*"))


def write(path, text):
    """True when the kernel took it: to be busy is its right."""
    try:
        Path(path).write_text(text, encoding="ascii")
        return True
    except OSError:
        return False


def compaction(_):
    return write("/proc/sys/vm/compact_memory", "1")


def khugepaged(turn):
    write(HUGE / "khugepaged/scan_sleep_millisecs", "0")
    write(HUGE / "khugepaged/alloc_sleep_millisecs", "0")
    return write(HUGE / "enabled", ("always", "madvise")[turn % 2])


def numa_balancing(_):
    write("/sys/kernel/debug/sched/numa_balancing/scan_delay_ms", "10")
    write("/sys/kernel/debug/sched/numa_balancing/scan_period_min_ms", "10")
    return write("/proc/sys/kernel/numa_balancing", "1")


def cpuset(turn):
    return write(GROUP / "cpuset.mems", ("0-3", "0-1", "2-3", "1-2")[turn % 4])


def memory_blocks(turn):
    block = BLOCKS[turn % len(BLOCKS)]
    gone = write(block / "state", "offline")
    write(block / "state", "online")
    return gone


def cpus(turn):
    return write("/sys/devices/system/cpu/cpu1/online", str(turn % 2))


def damon(turn):
    """The kernel's own access monitoring looks at the same memory 200 times a second; true while it does."""
    if turn == 0:
        write(DAMON / "nr_kdamonds", "1")
        write(DAMON / "0/contexts/nr_contexts", "1")
        context = DAMON / "0/contexts/0"
        for name, value in (("operations", "vaddr"), ("monitoring_attrs/intervals/sample_us", "5000"),
                            ("monitoring_attrs/intervals/aggr_us", "50000"), ("monitoring_attrs/intervals/update_us", "100000"),
                            ("targets/nr_targets", "1"), ("targets/0/pid_target", str(PROGRAMS[-1].pid))):
            lib.check(write(context / name, value), f"DAMON takes {name} {value}")
        lib.check(write(DAMON / "0/state", "on"), "DAMON begins")
    return (DAMON / "0/state").read_text(encoding="ascii").strip() == "on"


LONGER = 60    # seconds, at most
PROGRAMS = []  # what runs beside, the last one now
HOG = []


def full_node(turn):
    """All but a few MiB of node 1 taken."""
    if turn == 0:
        size = max(1, (lib.node_free_bytes(1) >> 20) - 4)
        HOG.append(subprocess.Popen(["numactl", "--preferred=1", "/usr/bin/python3", "-c",
                                     f"a = bytearray({size} << 20); import time; time.sleep(60)"]))
    return True


def undo():
    for block in BLOCKS:
        write(block / "state", "online")
    for path, text in ((HUGE / "enabled", "madvise"), ("/proc/sys/kernel/numa_balancing", "0"), (GROUP / "cpuset.mems", "0-3"),
                       ("/sys/devices/system/cpu/cpu1/online", "1")):
        write(path, text)
    write(DAMON / "0/state", "off")
    write(DAMON / "nr_kdamonds", "0")
    while HOG:
        HOG.pop().kill()


def join():
    """What runs it shares the group's memory and has two CPUs."""
    write(GROUP / "cgroup.procs", "0")
    os.sched_setaffinity(0, {0, 1})


def beside(neighbour, seconds):
    """Pages moved while it is at work: so long, and until both have come to something."""
    with subprocess.Popen([lib.helper("beside")], stdout=subprocess.PIPE, text=True, preexec_fn=join) as program:
        PROGRAMS.append(program)
        lib.check(program.stdout.readline() == "ready\n", "the program is ready")
        turn = done = 0
        end = time.monotonic() + seconds
        while program.poll() is None and time.monotonic() < end + LONGER:
            done += neighbour(turn)
            turn += 1
            if done and time.monotonic() > end:
                program.terminate()
            time.sleep(0.1)
        program.kill()  # one that has not ended by itself fails
        undo()
        said = program.stdout.read()
    moved = int((re.search(r"moved (\d+)", said) or [0, 0])[1])
    lib.check(program.returncode == 0 and moved > 0, f"{neighbour.__name__}: {done} of {turn} times beside moves: {said.strip()}")
    lib.check(done > 0, f"{neighbour.__name__} was at work")
    return moved


Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+memory +cpuset", encoding="ascii")
GROUP.mkdir()
undo()
lib.load_module()
books = lib.Books()
neighbours = [compaction, khugepaged, cpuset, full_node, memory_blocks, numa_balancing, cpus]
if DAMON.exists():
    neighbours.append(damon)
if not Path("/proc/sys/kernel/numa_balancing").exists():
    neighbours.remove(numa_balancing)
print("not there in this kernel:", [one.__name__ for one in (numa_balancing, damon) if one not in neighbours] or "nothing", flush=True)
each = max(2, round(int(os.environ["HMK_SECONDS"]) / len(neighbours)))
lib.figures(count=sum(beside(neighbour, each) for neighbour in neighbours), lost=0)
lib.unload_module()
books.balanced()
