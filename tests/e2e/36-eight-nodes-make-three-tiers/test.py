#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 400
# clock: instructions
"""Two sockets of two clusters each, CXL and slow memory on both: eight nodes, three tiers. A process with a thread on each
socket has all of its memory in the slower two. What is hot comes into the DRAM tier though no node of it holds it alone
and one keeps a part of what is free from all of it, and no page goes from one node of a tier to another."""
import collections
import itertools
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

TIERS = [[0, 1, 2, 3], [4, 5], [6, 7]]
SIZE_MIB, HOT_MIB, LEFT_MIB, MIB, HOT_UPDATES = 232, 136, 64, 1 << 20, 0.9
TIER = {lib.NOWHERE: -1, **{node: number for number, nodes in enumerate(TIERS) for node in nodes}}
CPUS, NODES, ENOUGH, INTERVAL, SETTLED, HELD = (0, 2), (4, 7), 0.95, 0.5, 2, 12


def share_of(places: bytes) -> float:
    """Of all pages those in the fastest tier. What is on its way may find no room there, and goes back."""
    return sum(map(places.count, TIERS[0])) / len(places)


def look() -> float:
    """The share of the updates that the fastest tier serves; also notes the pages that changed their node within a tier."""
    global seen
    time.sleep(0.05)
    now = load.places()
    looks.append(time.monotonic())
    for chunk in range(0, len(now), load.CHUNK):
        if (before := seen[chunk:chunk + load.CHUNK]) != (after := now[chunk:chunk + load.CHUNK]):
            within.update((old, new) for old, new in zip(before, after) if old != new and TIER[old] == TIER[new])
    seen = now
    hot = bytes(itertools.compress(now, load.is_hot))
    shares.append(HOT_UPDATES * share_of(hot) + (1 - HOT_UPDATES) * share_of(now))
    return shares[-1]


def is_served() -> bool:
    """Enough for a few intervals: the last moves go on while it is reached, and make room by moves of their own."""
    global reached
    if look() < ENOUGH * best:
        reached = len(looks)
    return len(looks) > reached and looks[-1] - looks[reached] >= SETTLED


shares: list = []
looks: list = []  # times
reached = 0  # the first look of those that have found enough so far
within: collections.Counter = collections.Counter()  # (node, node)
lib.load_module()
Path("/proc/sys/vm/min_free_kbytes").write_text("4096", encoding="ascii")  # what is left can be had
# Movable pages get none of its first zone, as a machine of 256 GiB keeps a gigabyte of its second from them.
Path("/proc/sys/vm/lowmem_reserve_ratio").write_text("1", encoding="ascii")
beside = lib.Touch(0, bind=True)
beside.map((lib.node_free_bytes(0) // MIB - LEFT_MIB) * MIB // 4096)
room = sum(lib.node_free_bytes(node) for node in TIERS[0])
load = lib.Threads(SIZE_MIB, HOT_MIB, *(f"{cpu}:{node}" for cpu, node in zip(CPUS, NODES)))
seen = load.places()
size, hot_size = len(CPUS) * SIZE_MIB * MIB, len(CPUS) * HOT_MIB * MIB
best = HOT_UPDATES + (1 - HOT_UPDATES) * min(room, size) / size
print(f"MiB free in DRAM: {[lib.node_free_bytes(node) // MIB for node in TIERS[0]]}, hot: {hot_size // MIB}", flush=True)
lib.check(max(lib.node_free_bytes(node) for node in TIERS[0]) < hot_size // 2 < hot_size < room, "what is hot needs several nodes")

daemon = lib.start_hmkd(f"mode: manage\ninterval: {INTERVAL * 1000:.0f}ms\noverhead: 5%\npromote_limit: 32MiB\nreserve: 4MiB\nattach: [{load.pid}]\n")
os.sched_setaffinity(0, {3})  # where nothing else is bound to
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
try:
    lib.wait_for(is_served, 120, f"the fastest tier serves {ENOUGH * best:.3f} of the updates")
    held = len(looks)
    lib.wait_for(lambda: look() < ENOUGH * best or looks[-1] - looks[held - 1] >= HELD, HELD + 60, f"{HELD} s go by")
    lib.check(min(shares[held:]) >= ENOUGH * best, f"it stays so, at {min(shares[held:]):.3f} and more in {len(shares) - held} looks")
finally:
    gap = max(later - earlier for earlier, later in zip(looks, looks[1:]))
    print(f"share of the fastest tier, best {best:.3f}:", [round(share, 3) for share in shares[::10]], flush=True)
    tiers = lib.ask_hmkd("tiers", "--pid", str(load.pid))
    stats = lib.ask_hmkd("stats")["targets"][0]
    keys = ("intervals", "promoted_bytes", "demoted_bytes", "refused_bytes", "pairs")
    print(tiers["order"], {key: stats[key] for key in keys}, flush=True)
lib.check([tier["nodes"] for tier in tiers["tiers"]] == TIERS, "eight nodes make three tiers")
lib.check(all(pair["from_tier"] != pair["to_tier"] for pair in stats["pairs"]), "no move was from a tier to itself")
refused = stats["refused_bytes"]["no_room"]
lib.check(refused < stats["promoted_bytes"] / 8, f"hmkd sees what room there is: {refused >> 20} MiB did not find the room they were planned for")
# A page that leaves a tier may come back to another node of it; in between it stays elsewhere for an interval at least.
lib.check(gap < INTERVAL, f"{len(looks)} looks were at most {gap:.2f} s apart")
lib.check(not within, f"of {len(seen)} pages that changed their node within a tier: {within}")
used = set(itertools.compress(seen, load.is_hot))
lib.check(len(used & set(TIERS[0])) > 1, f"what is hot is on several nodes of it: {used}")
lib.end_hmkd(daemon)
load.end()
beside.end()
lib.unload_module()
