#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
# seconds: 40
"""Page moves under writers on every path, then under programs that protect, fork, exec, drop, page out,
unmap, remap and exit: no write is lost, no page leaks. Requests are made as hmkd makes them and otherwise; every case
has moved pages in every way. `seconds` is the length of the two together; from FULL seconds on, the length of a run of
tools/torture, there must have been a million moves of base pages by the own path alone in MILLION_IN seconds."""
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SECONDS, FULL, MILLION_IN = int(os.environ["HMK_SECONDS"]), 300, 900 * lib.slowness()
# Share of the writers' time; each case is a process of its own that ends as it stands. What is on both CPUs waits most
# of its time for TLB flushes (QEMU's threads share the host's CPUs), so the numbers are made on one.
CASES = [
    ("base pages", 0.5, "1", ["--mover-first"]),
    ("base pages that are written most of the time", 0.1, "1", []),
    ("base pages written on another CPU", 0.1, "0,1", []),
    ("base pages whose write bits are taken", 0.1, "1", ["--mover-first", "--clear-refs"]),
    ("huge pages", 0.05, "1", ["--mover-first", "--pages", "thp"]),
    ("huge pages that are split meanwhile", 0.05, "1", ["--mover-first", "--pages", "thp", "--split"]),
    ("shared memory", 0.025, "1", ["--mover-first", "--pages", "shmem"]),
    ("memory of two processes", 0.025, "1", ["--mover-first", "--pages", "shmem", "--shared"]),
    ("migrate_vma", 0.05, "1", ["--mover-first", "--force-vma", "--clear-refs"]),
]
CHAOS = 0.25  # of all


def writers(name, seconds, cpus, arguments):
    """What moved in one case: base and huge pages, and base pages (a huge one is 512) by the way of asking."""
    done = lib.run("taskset", "-c", cpus, lib.build("tests/programs/hmk-integrity"), "--size", "32MiB",
                   "--for", f"{max(1, round(seconds))}s", *arguments)
    seen = json.loads(done.stdout.splitlines()[-1])
    print(name, done.stdout, end="", flush=True)
    lib.intact(seen["corrupt"] == 0, f"{name}: {seen['base']} base pages, {seen['huge']} huge pages, {seen['corrupt']} corrupt visits")
    lib.check(all(seen["modes"].values()), f"{name}: each way of asking has moved some: {seen['modes']}")
    if "--split" in arguments:
        lib.check(not seen["can_split"] or seen["huge_examined"] > 0, f"{name}: {seen['huge_split']} were split")
    return Counter({"base pages": seen["base"], "huge pages": seen["huge"],
                    **{f"asked {mode}": pages for mode, pages in seen["modes"].items()}})


def chaos(seconds):
    """All by other processes, which are killed as the targets are: what moved by the way of asking."""
    seed = lib.seed()
    done = subprocess.run(["taskset", "-c", "0,1", lib.helper("chaos"), str(round(seconds)), seed], check=False,
                          stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    lib.check(done.returncode == 0, f"the chaos holds for {seconds:.0f} s")
    return Counter({f"chaos, asked {mode}": int(pages) for mode, pages in re.findall(r"pages_(\w+) (\d+)", done.stdout)})


Path("/proc/sys/kernel/pid_max").write_text("400", encoding="ascii")  # a PID comes again within a hundred forks
swap = lib.swap_on(128 << 20)
lib.load_module()
chaos(lib.slowness())  # what is made once and kept (PIDs, slabs); in it everything happens, for which a debug kernel takes longer
before = lib.free_pages()
counts = {name: writers(name, (1 - CHAOS) * SECONDS * share, *how) for name, share, *how in CASES}
of = sum(counts.values(), Counter()) + chaos(CHAOS * SECONDS)
print(counts, of, flush=True)
# What moves in the chaos is not known to be huge or not, so it is told and not counted.
lib.figures(count=of["base pages"] + of["huge pages"], lost=0, of=dict(of))
moved = counts["base pages"]["base pages"]
lib.check(SECONDS < FULL or moved >= SECONDS / MILLION_IN * 1e6, f"{moved} base pages moved by the own path")
lib.unload_module()
lib.run("swapoff", swap)
lib.wait_for(lambda: abs(lib.free_pages() - before) < 8192, 20, f"free pages {before} back (now {lib.free_pages()})")
