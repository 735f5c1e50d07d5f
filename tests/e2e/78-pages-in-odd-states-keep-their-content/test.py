#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 200
# defines: HMK_TEST_SWITCHES
"""Pages that were freed lazily after a write, poisoned, locked by two, unmapped in part (before or while they move) or
cannot be read keep what they hold or stay where they are; so do those for which there is no room above the low watermark;
CPUs are interrupted once for a batch, and a huge page is one entry of their TLBs; the batches of the LRU lists are emptied
only for a page that sits in one, and moves are counted in vmstat; where the self-test at load fails, or on a new kernel could
not try every kind of page, pages are moved by migrate_vma alone, and the module says so."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

BY_MIGRATE_VMA = 1 << 5
NOISE = 512  # pages: programs that start take some hundred of the node meanwhile; of ours 4,096 more would be gone
OLD = os.uname().release.startswith("6.1.")


def odd(*arguments: object) -> str:
    """What the program printed."""
    done = lib.run("taskset", "-c", "0,1", lib.helper("odd"), *arguments)
    print(*arguments, done.stdout, flush=True)
    return done.stdout


def interrupts(pid: int) -> list:
    """Pages to flush of each interrupt to other CPUs that this process sent; -1 is all."""
    lines = (lib.TRACING / "trace").read_text(encoding="utf-8").splitlines()
    sent = [line for line in lines if re.search(rf"-{pid}\s.*tlb_flush: .*reason:remote ipi send", line)]
    return [int(re.search(r"pages:(-?\d+)", line).group(1)) for line in sent]


def drains(pid: int) -> int:
    """How often the batches of all CPUs' LRU lists were emptied for this process while it was looked for: others do so, too."""
    return sum(f"-{pid} " in line for line in lib.traced("hmk_drain"))


def counted() -> None:
    """Each step of the program, and what came of it."""
    (lib.TRACING / "kprobe_events").write_text("p:hmk_drain lru_add_drain_all\n", encoding="ascii")
    (lib.TRACING / "events/kprobes/hmk_drain/enable").write_text("1", encoding="ascii")
    with subprocess.Popen([lib.helper("odd"), "counted"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as program:
        seen: Dict[str, int] = {}
        for line in program.stdout:
            print(line, end="", flush=True)
            if ":" not in line:
                seen[line.strip()] = drains(program.pid) - sum(seen.values())
                program.stdin.write("\n")
    (lib.TRACING / "events/kprobes/hmk_drain/enable").write_text("0", encoding="ascii")
    (lib.TRACING / "kprobe_events").write_text("", encoding="ascii")
    lib.check(program.returncode == 0, f"it ends with 0, it ended with {program.returncode}")
    lib.check((seen["asked"], seen["moved"], seen["from a batch"]) == (0, 0, 1), f"all batches are emptied where one is in the way: {seen}")


def above_low(node: int) -> int:
    """Free pages of a node above the low watermarks of its zones; a zone that keeps all of them for others has none for us."""
    Path("/proc/sys/vm/stat_refresh").write_text("1", encoding="ascii")
    zones = Path("/proc/zoneinfo").read_text(encoding="ascii").split("\nNode ")
    room = 0
    for zone in zones:
        rows = [re.search(row, zone) for row in (r"pages free +(\d+)", r" low +(\d+)", r"protection: \(.*?(\d+)\)")]
        if re.match(rf"(Node )?{node},", zone) and all(rows):
            free, low, kept = (int(row.group(1)) for row in rows if row)
            room += free - low - kept if free > kept else 0
    return room


def areas_in_part(node: int, left: int) -> int:
    """A move takes what is left above the low watermark, and no more: kswapd is not woken for it."""
    Path("/proc/sys/vm/watermark_scale_factor").write_text("1000", encoding="ascii")  # kswapd sleeps until all is filled
    hog, cpu = lib.Touch(node, bind=True), 0
    while (more := (above_low(node) - left) // 2) > 16:
        # From each CPU: thousands of pages may wait in its list, which nothing counts as free and an allocation takes first.
        os.sched_setaffinity(hog.pid, {cpu := (cpu + 1) % (os.cpu_count() or 1)})
        hog.map(more)
    seen, free = json.loads(odd("full", node).splitlines()[-1]), above_low(node)
    hog.end()
    Path("/proc/sys/vm/watermark_scale_factor").write_text("10", encoding="ascii")
    lib.check(seen["moved"] >= 512 and seen["no_room"] >= 2048, f"of 6144 pages some find room: {seen}")
    lib.check(free >= -NOISE, f"{free} pages of node {node} are free above the low watermark")
    return int(seen["parts"])


def full(node: int, left: int) -> None:
    """Where the room ends with an area, by chance, there is none to move in part: then once more, thrice at most."""
    lib.check(any(areas_in_part(node, left) for _ in range(4)), "of an area that does not fit as much moves as does")


lib.load_module()
for what in ("freed", "poisoned", "locked", "partial"):
    odd(what)
full(1, left=2300)
# Movable pages get none of the first zone of node 0, as a machine of 256 GiB keeps a gigabyte of its second from them.
Path("/proc/sys/vm/lowmem_reserve_ratio").write_text("1", encoding="ascii")
full(0, left=2300)
lib.trace_module()
counted()
for kind in ("base", "huge"):
    seen = json.loads(odd(f"busy-{kind}").splitlines()[-1])
    sent = interrupts(seen["pid"])
    print(f"{len(sent)} interrupts: {sent[:20]}", flush=True)
    lib.check(seen["clean"] >= 480, f"{seen['clean']} of 512 pages were copied ahead and not written")
    if kind == "huge":
        # Ours for the write-protected entry, then the kernel's for the unmapped one, which flushes all.
        lib.check(len(sent) <= 4 and sent[0] == 512, f"a huge page moves with {len(sent)} interrupts, the first for itself alone")
    elif not OLD:  # there each page is unmapped and flushed by itself
        lib.check(len(sent) <= 1 + 512 // 64 + 2, f"512 pages move with {len(sent)} interrupts")
odd("halved")  # last: what it frees comes back bit by bit
lib.unload_module()

lib.load_module(os.environ["HMK_VARIANT"])
odd("unreadable")
odd("unreadable", "by migrate_vma")
lib.unload_module()

def paths(**parameters: object) -> int:
    """By which paths pages move when the module is loaded like this."""
    lib.load_module(os.environ["HMK_VARIANT"], **parameters)
    seen = json.loads(lib.run(lib.build("tests/programs/hmk-integrity"), "--size", "8MiB", "--for", "1s").stdout.splitlines()[-1])
    lib.intact(seen["corrupt"] == 0, f"no page is corrupt: {seen}")
    lib.unload_module()
    return seen["paths"]


lib.check(paths(fail_selftest=1) == BY_MIGRATE_VMA, "where the self-test fails the own path is off")
lib.check(paths(tested_before=0) != BY_MIGRATE_VMA, "on a kernel that nobody has tested it is on when all kinds of pages could be moved")
Path("/sys/kernel/mm/transparent_hugepage/enabled").write_text("never", encoding="ascii")
lib.check(paths(tested_before=0) == BY_MIGRATE_VMA, "and off when a kind could not")
lib.check(paths() != BY_MIGRATE_VMA, "on one that was tested it is on")
