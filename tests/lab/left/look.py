# SPDX-License-Identifier: MIT
"""Runs in a guest after leave.py, or as the first: nothing of it is there. Its last line is the guest's boot."""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))
import lib  # noqa: E402

KERNEL_THREAD = 0x00200000
NODE = "/sys/devices/system/node/node3"


def read(path: str) -> str:
    return Path(path).read_text(encoding="ascii").strip()


def programs() -> list:
    stats = [read(f"/proc/{name}/stat") for name in os.listdir("/proc") if name.isdigit()]
    return [stat for stat in stats if not int(stat.rpartition(")")[2].split()[6]) & KERNEL_THREAD]


lib.check(len(programs()) == 2, f"no program runs but the first and this one: {programs()}")
lib.check(len(read("/proc/swaps").splitlines()) == 1, "there is no swap")
lib.check(not re.search(r"^(hmk|loop|brd) ", read("/proc/modules"), re.M), "no module of a test is loaded")
lib.check(not re.search(r" (/mnt|/mnt/left|/tmp) ", read("/proc/self/mountinfo")), "nothing is mounted")
lib.check(not [name for name in os.listdir("/sys/fs/cgroup") if os.path.isdir(f"/sys/fs/cgroup/{name}")], "there is no control group")
for file in ("/etc/left", "/run/left", "/dev/shm/left", "/mnt/left", "/dev/hmk"):
    lib.check(not os.path.exists(file), f"{file} is not there")
lib.check(len(read("/proc/sysvipc/shm").splitlines()) == 1, "no segment is left")
lib.check(read("/etc/hostname") != "of another", "what was overwritten is as the host has it")
for path, wanted in (("/sys/fs/cgroup/cgroup.subtree_control", ""), ("/proc/sys/vm/max_map_count", "65530"),
                     ("/proc/sys/kernel/numa_balancing", "0"), ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
                     ("/sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never"),
                     ("/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none", "511"), ("/sys/kernel/mm/ksm/run", "0"),
                     (f"{NODE}/hugepages/hugepages-2048kB/nr_hugepages", "0"), ("/sys/devices/virtual/workqueue/cpumask", "2"),
                     ("/sys/devices/system/cpu/online", "0-1"), ("/sys/kernel/tracing/set_event", "")):
    lib.check(read(path) == wanted, f"{path} is '{wanted}', it is '{read(path)}'")
lib.check(int(read("/proc/sys/kernel/pid_max")) > 1000, "there are as many PIDs as ever")
lib.check(all(read(str(file)) == "1" for file in Path(NODE).glob("memory[0-9]*/online")), "all memory is online")
lib.check(os.sched_getaffinity(0) == {1}, "a test starts on CPU 1")
print(read("/proc/sys/kernel/random/boot_id"), flush=True)
