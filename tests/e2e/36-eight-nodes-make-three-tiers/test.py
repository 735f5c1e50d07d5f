#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 400
# clock: instructions
"""Two sockets of two clusters each, CXL and slow memory on both: eight nodes, three tiers. A process with a thread on each
socket has all of its memory in the slower two. What is hot comes into the DRAM tier though no node of it holds it alone,
and no page goes from one node of a tier to another."""
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

TIERS = [[0, 1, 2, 3], [4, 5], [6, 7]]
SIZE_MIB, HOT_MIB, LEFT_MIB, MIB, HOT_UPDATES = 232, 136, 64, 1 << 20, 0.9
TIER = {node: number for number, nodes in enumerate(TIERS) for node in nodes}
CPUS, NODES, ENOUGH, INTERVALS = (0, 2), (4, 7), 0.95, 6


def share_of(pages: list, now: dict) -> float:
    """Of the pages whose place is known, those in the fastest tier."""
    known = [now[page] for page in pages if now[page] >= 0]
    return sum(node in TIERS[0] for node in known) / len(known)


def look() -> float:
    """The share of the updates that the fastest tier serves; also notes the pages that changed their node within a tier."""
    time.sleep(0.3)
    now = load.places()
    for page, node in now.items():
        if node != seen[page] and TIER.get(node, -1) == TIER.get(seen[page], -2):
            within[(seen[page], node)] = within.get((seen[page], node), 0) + 1
    seen.update(now)
    shares.append(HOT_UPDATES * share_of(hot, now) + (1 - HOT_UPDATES) * share_of(every, now))
    return shares[-1]


shares: list = []
within: dict = {}
lib.load_module()
Path("/proc/sys/vm/min_free_kbytes").write_text("4096", encoding="ascii")  # what is left can be had
beside = lib.Touch(0, bind=True)
beside.map((lib.node_free_bytes(0) // MIB - LEFT_MIB) * MIB // 4096)
room = sum(lib.node_free_bytes(node) for node in TIERS[0])
load = lib.Threads(SIZE_MIB, HOT_MIB, *(f"{cpu}:{node}" for cpu, node in zip(CPUS, NODES)))
seen, hot, every = load.places(), load.pages(hot=True), load.pages(hot=False)
size, hot_size = len(CPUS) * SIZE_MIB * MIB, len(CPUS) * HOT_MIB * MIB
best = HOT_UPDATES + (1 - HOT_UPDATES) * min(room, size) / size
print(f"MiB free in DRAM: {[lib.node_free_bytes(node) // MIB for node in TIERS[0]]}, hot: {hot_size // MIB}", flush=True)
lib.check(max(lib.node_free_bytes(node) for node in TIERS[0]) < hot_size // 2 < hot_size < room, "what is hot needs several nodes")

daemon = lib.start_hmkd(f"mode: manage\ninterval: 500ms\noverhead: 5%\npromote_limit: 32MiB\nreserve: 4MiB\nattach: [{load.pid}]\n")
try:
    lib.wait_for(lambda: look() >= ENOUGH * best, 120, f"the fastest tier serves {ENOUGH * best:.3f} of the updates")
    for _ in range(INTERVALS):
        lib.check(look() >= ENOUGH * best, f"it stays so, at {shares[-1]:.3f}")
finally:
    print(f"share of the fastest tier, best {best:.3f}:", [round(share, 3) for share in shares], f"within a tier: {within}", flush=True)
    tiers = lib.ask_hmkd("tiers", "--pid", str(load.pid))
    stats = lib.ask_hmkd("stats")["targets"][0]
    keys = ("intervals", "promoted_bytes", "demoted_bytes", "refused_bytes", "pairs")
    print(tiers["order"], {key: stats[key] for key in keys}, flush=True)
lib.check([tier["nodes"] for tier in tiers["tiers"]] == TIERS, "eight nodes make three tiers")
lib.check(all(pair["from_tier"] != pair["to_tier"] for pair in stats["pairs"]), "no move was from a tier to itself")
lib.check(not within, f"{sum(within.values())} of {len(every)} pages changed their node within a tier")
used = {seen[page] for page in hot}
lib.check(len(used & set(TIERS[0])) > 1, f"what is hot is on several nodes of it: {used}")
lib.end_hmkd(daemon)
load.end()
beside.end()
lib.unload_module()
