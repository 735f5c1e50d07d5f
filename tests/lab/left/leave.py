# SPDX-License-Identifier: MIT
"""Runs in a guest: leaves behind what its argument says, and ends well."""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))
import lib  # noqa: E402

GROUP, NODE = Path("/sys/fs/cgroup/left"), Path("/sys/devices/system/node/node3")


def write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="ascii")


def all_that_can_be_put_back() -> None:
    lib.load_module()
    lib.trace_module()
    busy = subprocess.Popen(["sh", "-c", "trap '' TERM HUP; while :; do sleep 100; done"], start_new_session=True)
    write("/sys/fs/cgroup/cgroup.subtree_control", "+memory")
    GROUP.mkdir()
    (GROUP / "below").mkdir()
    write(f"{GROUP}/below/cgroup.procs", str(busy.pid))
    lib.swap_on(16 << 20)
    lib.run("modprobe", "brd", "rd_nr=1", "rd_size=16384")
    lib.run("mkfs.ext4", "-q", "/dev/ram0")
    os.mkdir("/mnt/left")
    lib.run("mount", "-t", "ext4", "/dev/ram0", "/mnt/left")
    lib.run("mount", "-t", "tmpfs", "tmpfs", "/tmp")
    for folder in ("/etc", "/run", "/dev/shm"):
        write(f"{folder}/left", "x" * (1 << 20))
    write("/etc/hostname", "of another")
    lib.run("ipcmk", "--shmem", str(8 << 20))
    for path, text in (("/proc/sys/vm/max_map_count", "1000"), ("/proc/sys/kernel/pid_max", "1000"), ("/proc/sys/kernel/numa_balancing", "1"),
                       ("/sys/kernel/mm/transparent_hugepage/enabled", "always"), ("/sys/kernel/mm/transparent_hugepage/defrag", "always"),
                       ("/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none", "0"), ("/sys/kernel/mm/ksm/run", "1"),
                       (f"{NODE}/hugepages/hugepages-2048kB/nr_hugepages", "4"), ("/sys/devices/virtual/workqueue/cpumask", "3")):
        write(path, text)
    print(next((str(block) for block in sorted(NODE.glob("memory[0-9]*")) if goes_offline(block)), "no block"), "went offline")


def goes_offline(block: Path) -> bool:
    """A block with pages that cannot be moved stays."""
    try:
        write(f"{block}/online", "0")
        return True
    except OSError:
        return False


def a_mount_where_every_test_sees_it() -> None:
    lib.run("nsenter", "--target", "1", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt")


def taint() -> None:
    write("/proc/sys/kernel/tainted", "512")  # as a warning does


def a_cpu_that_is_away() -> None:
    write("/sys/devices/system/cpu/cpu1/online", "0")


globals()[sys.argv[1]]()
print(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"), flush=True)
