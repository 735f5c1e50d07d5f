#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 400
# clock: instructions
"""Two sockets of two clusters each, CXL and slow memory on both: eight nodes, three tiers. A process with a thread on each
socket has all of its memory in the slower two. What is hot comes into the DRAM tier though no node of it holds it alone,
and nothing goes from one node of a tier to another."""
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

TIERS = [[0, 1, 2, 3], [4, 5], [6, 7]]
SIZE_MIB, HOT_MIB, LEFT_MIB, MIB, HOT_UPDATES = 200, 104, 64, 1 << 20, 0.9
CPUS, NODES, ENOUGH, INTERVALS = (0, 2), (4, 7), 0.95, 6


def tier_of(node: int) -> int:
    return next(n for n, tier in enumerate(TIERS) if node in tier)


def look() -> float:
    """The share of the updates that the fastest tier serves; also counts the pages that changed their node within a tier."""
    global seen
    time.sleep(1)  # looking costs the guest's clock
    now = load.places()
    within.append(sum(now[at] != seen[at] and tier_of(now[at]) == tier_of(seen[at]) for at in now if now[at] >= 0))
    seen = now
    hot = [tier_of(node) == 0 for at, node in now.items() if load.is_hot(at)]
    cold = [tier_of(node) == 0 for node in now.values()]
    shares.append(HOT_UPDATES * sum(hot) / len(hot) + (1 - HOT_UPDATES) * sum(cold) / len(cold))
    return shares[-1]


shares: list = []
within: list = []
lib.load_module()
beside = lib.Touch(0, bind=True)
beside.map((lib.node_free_bytes(0) // MIB - LEFT_MIB) * MIB // 4096)
room = sum(lib.node_free_bytes(node) for node in TIERS[0])
load = lib.Threads(SIZE_MIB, HOT_MIB, *(f"{cpu}:{node}" for cpu, node in zip(CPUS, NODES)))
seen = load.places()
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
    print(f"share of the fastest tier, best {best:.3f}:", [round(share, 3) for share in shares], "within a tier:", within, flush=True)
    tiers = lib.ask_hmkd("tiers", "--pid", str(load.pid))
    stats = lib.ask_hmkd("stats")["targets"][0]
    keys = ("intervals", "promoted_bytes", "demoted_bytes", "refused_bytes", "pairs")
    print(tiers["order"], {key: stats[key] for key in keys}, flush=True)
lib.check([tier["nodes"] for tier in tiers["tiers"]] == TIERS, "eight nodes make three tiers")
lib.check(sum(within) == 0, "no page changed its node within a tier")
used = {node for at, node in seen.items() if load.is_hot(at)}
lib.check(len(used & set(TIERS[0])) > 1, f"what is hot is on several nodes of it: {used}")
lib.end_hmkd(daemon)
load.end()
beside.end()
lib.unload_module()
