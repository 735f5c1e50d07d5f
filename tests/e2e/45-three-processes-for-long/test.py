#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: none
# timeout: 300
# seconds: 30
# clock: instructions
"""Three processes whose hot parts jump all the time, for as long as one likes (T-12): each gets as much promoted as the
others, profiling stays within its budget, and neither hmkd nor the kernel holds more at the end."""
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW = 1, 2
LIMIT_MIB = 2
LONG = 600       # seconds after which all have the same within 10 %; 30 of them see one jump
SECONDS = int(os.environ["HMK_SECONDS"])
ROOM_KB = 1024   # what an allocator keeps
STEADY, PAGES_KB = 10, 128  # looks at half a second, and what may come in that time
WHY_KB = 3 * (32768 * 248 >> 10)  # what `hmkctl why` remembers of three processes, when it is full: after hours


def start_load() -> subprocess.Popen:
    """Half of it is hot, every forty seconds another one; most of the CPU is nobody's."""
    return lib.start_gups("--size", "128MiB", "--hot", "50%", "--jump-every", "40s", "--rate", 60000,
                       under=("numactl", f"--preferred={SLOW}"))


def counters() -> list:
    """Of each process, in the order of `loads`."""
    rows = {row["pid"]: row for row in lib.ask_hmkd("stats")["targets"]}
    return [rows[load.pid] for load in loads]


def look_at_intervals() -> None:
    """Keep those not seen before."""
    for row in lib.ask_hmkd("status")["targets"]:
        last = row["last_interval"]
        seen[row["pid"], last["seq"]] = last["profiling_percent"] <= last["budget_percent"]
    sizes.append(lib.held(daemon.pid)[0])


def is_warm() -> bool:
    """hmkd's size is that of STEADY looks ago: what it fills once, from its heap to its histories' rings, is filled."""
    sizes.append(lib.held(daemon.pid)[0])
    time.sleep(0.5)
    return len(sizes) > STEADY and sizes[-1] - sizes[-1 - STEADY] <= PAGES_KB


lib.load_module()
loads = [start_load() for _ in range(3)]
daemon = lib.start_hmkd(f"mode: manage\ninterval: 1s\noverhead: 5%\npromote_limit: {LIMIT_MIB}MiB\ntiers: [{FAST}, {SLOW}]\n"
                        f"attach: [{', '.join(str(load.pid) for load in loads)}]\n")
lib.wait_for(lambda: all(row["intervals"] > 8 for row in counters()), 60, "all are watched")
sizes: list = []
lib.wait_for(is_warm, 60, "hmkd has its size")
began, first, books, sizes = counters(), lib.held(daemon.pid), lib.Books(), []
seen: dict = {}
end = time.monotonic() + SECONDS
while time.monotonic() < end:
    time.sleep(max(0.4, SECONDS / 1000))
    look_at_intervals()
ended, last = counters(), lib.held(daemon.pid)

grown = [{key: now[key] - before[key] for key in ("promoted_bytes", "intervals")} for before, now in zip(began, ended)]
for row in ended:
    print({key: row[key] for key in ("pid", "intervals", "profiling_percent", "promoted_bytes", "demoted_bytes", "refused_bytes",
                                     "state_bytes", "late_intervals", "degraded_intervals")})
over = sum(not kept for kept in seen.values())
print(f"promoted in intervals {grown}; {over} of {len(seen)} intervals looked at over their budget; "
      f"hmkd held {first[0]} kB and {first[1]} descriptors, half-way {sizes[len(sizes) // 2]} kB, now {last[0]} and {last[1]}", flush=True)
promoted = [row["promoted_bytes"] for row in grown]
lib.check(max(promoted) <= (1.1 if SECONDS >= LONG else 1.2) * min(promoted), f"the limit is shared fairly: {promoted} bytes")
lib.check(sum(promoted) <= (max(row["intervals"] for row in grown) + 1) * LIMIT_MIB * (1 << 20), "and kept")
lib.check(sum(row["profiling_percent"] for row in ended) <= 5, "profiling keeps its budget over the whole time")
lib.check(not over, "and in every interval")
lib.check(last[0] <= first[0] + ROOM_KB + (WHY_KB if SECONDS >= LONG else 0), "hmkd's size does not grow without bound")
lib.check(last[1] <= first[1], "nor do its descriptors")
lib.wait_for(lambda: not books.leaked(), 20, f"nor does the kernel: {books.leaked()}")
lib.end_hmkd(daemon)
for load in loads:
    lib.end_load(load)
lib.figures(count=sum(row["intervals"] for row in ended), lost=0)
lib.unload_module()
