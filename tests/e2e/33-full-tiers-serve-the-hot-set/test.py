#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
# clock: instructions
"""A load fills four tiers but for 12 MiB and is hot in a tenth that lies anywhere, while another program maps and frees
memory of the same tiers (T-5, T-6): by pages that change places the fastest tier comes to serve within 5 points of what
the best placement would, keeps doing so, and no allocation fails."""
import ctypes
import json
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

GUPS = lib.build("tools/load/hmk-load-gups")
TIERS, PAGE, MIB, HOT_UPDATES = (1, 2, 3, 4), 4096, 1 << 20, 0.9
LEFT_MIB, BESIDE_MIB = 12, 4
NUMA = ctypes.CDLL("libnuma.so.1", use_errno=True)


def in_fastest(pid: int, ranges: list) -> float:
    """Of one page in eight of some ranges."""
    pages = [address for start, length in ranges for address in range(start, start + length, 8 * PAGE)]
    status = (ctypes.c_int * len(pages))()
    lib.check(NUMA.move_pages(pid, ctypes.c_ulong(len(pages)), (ctypes.c_void_p * len(pages))(*pages), None, status, 0) == 0,
              "the kernel tells where pages are")
    return list(status).count(TIERS[0]) / len(pages)


def between(ranges: list, start: int, length: int) -> list:
    """What of a range lies in none of `ranges`, which are in order."""
    begins = [start, *(at + size for at, size in ranges)]
    ends = [*(at for at, _ in ranges), start + length]
    return [[begin, end - begin] for begin, end in zip(begins, ends) if end > begin]


def start_load() -> tuple:
    """A load that leaves LEFT_MIB of all tiers, its size, and where it is hot and cold."""
    size = (sum(lib.node_free_bytes(node) for node in TIERS) // MIB - LEFT_MIB) // 2 * 2
    process = subprocess.Popen(["numactl", f"--membind={NODES}", GUPS, "--size", f"{size}MiB", "--hot", "10%", "--hot-updates",
                                f"{HOT_UPDATES:.0%}"], stdout=subprocess.PIPE, text=True)
    lines = {}
    while "truth" not in lines:
        line = json.loads(process.stdout.readline())
        lines[line["verb"]] = line
    hot = lines["truth"]["hot"]
    return process, size * MIB, hot, between(hot, lines["ready"]["start"], lines["ready"]["length"])


def allocate_beside() -> None:
    """Another program asks for memory of these tiers, and gives it back."""
    area, _ = beside.map(BESIDE_MIB * MIB // PAGE)
    beside.tell(f"unmap {area} 0 {BESIDE_MIB * MIB // PAGE}")


def look() -> float:
    """The share of the updates that the fastest tier serves, as the load draws them."""
    time.sleep(0.8)  # looking costs the guest's clock: once in two intervals
    allocate_beside()
    shares.append(HOT_UPDATES * in_fastest(load.pid, hot) + (1 - HOT_UPDATES) * in_fastest(load.pid, cold))
    return shares[-1]


NODES = ",".join(map(str, TIERS))
shares: list = []
lib.load_module()
Path("/proc/sys/vm/min_free_kbytes").write_text("4096", encoding="ascii")  # what is left can be had
beside = lib.Touch(NODES, bind=True)
room = lib.node_free_bytes(TIERS[0])
load, size, hot, cold = start_load()
hot_size = sum(length for _, length in hot)
best = HOT_UPDATES + (1 - HOT_UPDATES) * (room - hot_size) / (size - hot_size)
print("MiB left in each tier:", [lib.node_free_bytes(node) >> 20 for node in TIERS], flush=True)
lib.check(look() < best / 2, f"at first the fastest tier serves {shares[0]:.3f}, it could {best:.3f}")

daemon = lib.start_hmkd(f"mode: manage\ninterval: 400ms\noverhead: 10%\npromote_limit: 16MiB\nreserve: 1MiB\n"
                        f"tiers: {list(TIERS)}\nattach: [{load.pid}]\n")
try:
    lib.wait_for(lambda: look() >= best - 0.05, 60, f"the fastest tier serves {best - 0.05:.3f} of the updates")
    for _ in range(5):
        lib.check(look() >= best - 0.05, "it stays so")
finally:
    print(f"share of the fastest tier, best {best:.3f}:", [round(share, 3) for share in shares], flush=True)

stats = lib.ask_hmkd("stats")["targets"][0]
print({key: stats[key] for key in ("intervals", "promoted_bytes", "demoted_bytes", "refused_bytes")}, flush=True)
lib.check(stats["demoted_bytes"] > 0, "pages changed places")
lib.end_hmkd(daemon)
allocate_beside()
beside.end()
lib.end_load(load)
lib.check("oom_kill 0" in Path("/proc/vmstat").read_text(encoding="ascii").splitlines(), "nothing was killed for memory")
lib.unload_module()
