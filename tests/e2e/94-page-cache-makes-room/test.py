#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# suite: 6.1 6.12
# timeout: 300
"""A file that was read once fills the fastest tier. Without `reclaim_cache` hot memory stays in the slow one; with it, it rises,
and of the file as much is dropped as that takes, no more. What is left of it is as it was, and nobody is killed for memory."""
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, BESIDE, MIB, PAGES = 1, 2, 3, 1 << 20, 48 << 8
LEFT_MIB, FILE_MIB, WATCHED = 128, 192, 6
FILE = Path("/mnt/cache/file")


def cache() -> int:
    """MiB of the fast node that hold pages of files which were used once."""
    return lib.node_bytes(FAST, "Inactive(file)") // MIB


def share() -> float:
    return lib.nodes_of(touch.pid, hot, PAGES).count(FAST) / PAGES


def read_file(node: int) -> None:
    lib.run("numactl", f"--membind={node}", "cmp", "-n", str(FILE_MIB * MIB), FILE, "/dev/zero")


lib.load_module()
lib.run("modprobe", "brd", "rd_nr=1", f"rd_size={(FILE_MIB + 32) * 1024}")
lib.run("mkfs.ext4", "-q", "/dev/ram0")
FILE.parent.mkdir()
lib.run("mount", "/dev/ram0", FILE.parent)
lib.run("numactl", f"--membind={BESIDE}", "dd", "if=/dev/zero", f"of={FILE}", "bs=1M", f"count={FILE_MIB}", "oflag=direct", "status=none")

touch = lib.Touch(SLOW)
area, hot = touch.map(PAGES)
beside = lib.Touch(FAST, bind=True)
beside.map((lib.node_free_bytes(FAST) // MIB - LEFT_MIB) * MIB // 4096)
read_file(FAST)
full = cache()
print(f"MiB free in the fast tier: {lib.node_free_bytes(FAST) // MIB}, of the file: {full}", flush=True)
lib.check(full > LEFT_MIB * 3 // 4, "the file fills what was free")

touch.tell(f"loop read {area} 0 {PAGES} 1")
daemon = lib.start_hmkd(f"mode: manage\ninterval: 500ms\noverhead: 20%\nreserve: 8MiB\nreclaim_cache: no\ntiers: [{FAST}, {SLOW}]\n"
                        f"attach: [{touch.pid}]\n")
lib.wait_for(lambda: lib.intervals() >= WATCHED, 60, f"{WATCHED} intervals end")
before, full, free = share(), cache(), lib.node_free_bytes(FAST) / MIB
lib.check(before < 0.3 and full > LEFT_MIB * 3 // 4, f"without reclaim_cache {before:.3f} of what is hot is in the fast tier, {full} MiB of the file")

lib.ask_hmkd("set", "reclaim_cache", "yes")
lib.wait_for(lambda: share() >= 0.95, 120, "with it what is hot rises")
ended = lib.intervals()
lib.wait_for(lambda: lib.intervals() >= ended + 2, 60, "what was dropped meanwhile is told, an interval later")
told = lib.ask_hmkd("status")["daemon"]["cache_dropped_bytes"] / MIB
risen, dropped = (share() - before) * PAGES * 4096 / MIB, full - cache()
print(f"MiB that rose: {risen:.0f}, of the file dropped: {dropped}, by hmkd: {told:.0f}, more free: {lib.node_free_bytes(FAST) / MIB - free:.0f}", flush=True)
lib.check(risen / 2 <= dropped <= 2 * risen, "as much of the file is dropped as that takes")
lib.check(abs(told - dropped) <= dropped / 4, "hmkd says so")
read_file(FAST)
lib.end_hmkd(daemon)
beside.end()
touch.end()
lib.run("umount", FILE.parent)
lib.run("rmmod", "brd")
lib.check("oom_kill 0" in Path("/proc/vmstat").read_text(encoding="ascii").splitlines(), "nothing was killed for memory")
lib.unload_module()
