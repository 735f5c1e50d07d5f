#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
# seconds: 40
# defines: HMK_TEST_SWITCHES
"""Memory that the kernel reads and writes while it moves: O_DIRECT, libaio, io_uring (also registered buffers), vmsplice,
process_vm_readv and _writev, /proc/PID/mem as ptrace does, swap, userfaultfd; into base pages, huge pages and shared
memory, by the own path and migrate_vma, called and by paired tickets. Every word read or written is right, and pages are
refused because somebody held them. With the references counted only after the copy, words are wrong."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SHARED, FORCE_VMA, TEST_LATE_COUNT = 1 << 2, 1 << 3, 1 << 28
CONTROL_SECONDS = 120
# Share of the time, kind of memory, flags of the moves.
CASES = [("huge pages", 0.4, "thp", 0), ("base pages", 0.2, "base", 0), ("shared memory", 0.2, "shmem", 0),
         ("memory mapped twice", 0.1, "shared", SHARED), ("base pages by migrate_vma", 0.1, "base", FORCE_VMA)]
SECONDS = int(os.environ["HMK_SECONDS"])


def devices():
    """A device whose reader copies itself and one whose reads are done by a kernel thread, both in memory."""
    lib.run("modprobe", "brd", "rd_nr=1", "rd_size=16384")
    with open("/dev/shm/disk", "wb") as file:
        file.write(bytes(16 << 20))
    return ["/dev/ram0", lib.run("losetup", "--find", "--show", "/dev/shm/disk").stdout.strip()]


swap = lib.swap_on(64 << 20)
disks = devices()
lib.load_module()
total = {"reads": 0, "writes": 0, "held": 0}
for name, share, kind, flags in CASES:
    done = lib.run("taskset", "-c", "0,1", lib.helper("io"), kind, flags, max(1, round(SECONDS * share)), *disks)
    seen = json.loads(done.stdout.splitlines()[-1])
    print(name, done.stdout, end="", flush=True)
    lib.intact(seen["wrong"] == 0, f"{name}: {seen['wrong']} of {seen['reads']} reads and {seen['writes']} writes are wrong")
    lib.check(seen["moved"] > 0 and seen["tickets"] > 0 and seen["calls"] > 0 and all(seen["ways"]),
              f"{name}: {seen['moved']} pages moved, {seen['tickets']} tickets, {seen['calls']} calls, by each way {seen['ways']}")
    lib.check(flags == FORCE_VMA or seen["held"] > 0, f"{name}: {seen['held']} pages refused since somebody held them")
    total = {key: total[key] + seen[key] for key in total}
lib.figures(count=total["reads"] + total["writes"], lost=0, **total)
lib.unload_module()
if os.uname().release.startswith("6.1."):  # where direct I/O takes no pins, which the kernel itself would see
    lib.load_module(os.environ["HMK_VARIANT"])
    done = lib.run("taskset", "-c", "0,1", lib.helper("io"), "thp", TEST_LATE_COUNT, CONTROL_SECONDS, *disks, check_status=False)
    seen = json.loads(done.stdout.splitlines()[-1])
    lib.check(done.returncode == 1 and seen["wrong_words"] > 0, f"counted after the copy, {seen['wrong_words']} words of "
              f"{seen['reads']} reads are wrong within {CONTROL_SECONDS} s")
    lib.unload_module()
lib.run("swapoff", swap)
