#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
# seconds: 40
"""Page moves under writers on every path, then under programs that protect, fork, exec, drop, page out,
unmap, remap and exit: no write is lost, no page leaks. `seconds` is the length of the two together; from
FULL seconds on there must have been a million moves of base pages by the own path alone."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SECONDS, FULL, MILLION = int(os.environ["HMK_SECONDS"]), 600, 1_000_000
# Share of the writers' time; each case is a process of its own that ends as it stands. What is on both CPUs waits most
# of its time for TLB flushes (QEMU's threads share the host's CPUs), so the numbers are made on one.
CASES = [
    ("base pages", 0.5, "1", ["--mover-first"]),
    ("base pages that are written most of the time", 0.1, "1", []),
    ("base pages written on another CPU", 0.1, "0,1", []),
    ("base pages whose write bits are taken", 0.1, "1", ["--mover-first", "--clear-refs"]),
    ("huge pages", 0.1, "1", ["--mover-first", "--pages", "thp"]),
    ("shared memory", 0.05, "1", ["--mover-first", "--pages", "shmem"]),
    ("migrate_vma", 0.05, "1", ["--mover-first", "--force-vma", "--clear-refs"]),
]
CHAOS = 0.25  # of all


def writers(name, seconds, cpus, arguments):
    """Page moves of one case."""
    done = lib.run("taskset", "-c", cpus, lib.build("tests/programs/hmk-integrity"), "--size", "32MiB",
                   "--for", f"{max(1, round(seconds))}s", *arguments)
    seen = json.loads(done.stdout.splitlines()[-1])
    print(name, done.stdout, end="", flush=True)
    moved = seen["clean"] + seen["recopied"] + seen["sync"]
    lib.check(seen["corrupt"] == 0 and moved > 0, f"{name}: {moved} page moves, {seen['corrupt']} corrupt visits")
    return moved


def chaos(seconds):
    """Page moves, all by other processes, which are killed as the targets are."""
    seed = lib.seed()
    done = subprocess.run(["taskset", "-c", "0,1", lib.helper("chaos"), str(round(seconds)), seed], check=False,
                          stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    lib.check(done.returncode == 0, f"the chaos holds for {seconds:.0f} s")
    return int(re.search(r"pages_moved (\d+)", done.stdout).group(1))


Path("/proc/sys/kernel/pid_max").write_text("400", encoding="ascii")  # a PID comes again within a hundred forks
swap = lib.swap_on(128 << 20)
lib.load_module()
chaos(1)  # what is made once and kept (PIDs, slabs)
before = lib.free_pages()
counts = {name: writers(name, (1 - CHAOS) * SECONDS * share, *how) for name, share, *how in CASES}
counts["chaos"] = chaos(CHAOS * SECONDS)
print(counts, flush=True)
lib.figures(count=sum(counts.values()), lost=0)
lib.check(SECONDS < FULL or counts["base pages"] >= MILLION, f"{counts['base pages']} base pages moved by the own path")
lib.unload_module()
lib.run("swapoff", swap)
lib.wait_for(lambda: abs(lib.free_pages() - before) < 8192, 20, f"free pages {before} back (now {lib.free_pages()})")
