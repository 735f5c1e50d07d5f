#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# seconds: 4
# timeout: 420
"""hmkd at intervals of 50 ms with targets that come, are moved and go: its resident size, its descriptors and what
the kernel holds are after the last target what they were after the first ones."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

CONTROL, CONFIG = "/run/hmk.sock", "/run/hmkd.yaml"
HMKCTL = [lib.build("tools/hmkctl/hmkctl"), "--socket", CONTROL, "--json"]
ROUND_INTERVALS = 8
WARM = 3         # rounds after which nothing may grow any more
ROOM_KB = 1024   # what an allocator keeps
ENDS = 240       # seconds: four probes go, each after a grace period of the kernel, which took 14 s on a host at work


def start_target(huge):
    """8 MiB on the slowest node, half of it read over and over, in huge pages every other time."""
    target = lib.Touch(3)
    area, _ = target.map(2048, "thp" if huge else "4KiB")
    target.tell(f"loop read {area} 0 1024 1")
    return target


def intervals(pid):
    """Of one target, 0 when it is not managed."""
    return next((row.get("intervals", 0) for row in json.loads(lib.run(*HMKCTL, "stats").stdout)["targets"] if row["pid"] == pid), 0)


lib.load_module()
keeper = start_target(False)  # so that hmkd does not end with its last target
Path(CONFIG).write_text("mode: manage\ninterval: 50ms\noverhead: 20%\npromote_limit: 64MiB\nreserve: 8MiB\ntiers: [1, 0, 2, 3]\n",
                        encoding="ascii")
with open("/run/hmkd.log", "wb") as log:
    daemon = subprocess.Popen([lib.build("daemon/hmkd"), "--pid", str(keeper.pid), "--config", CONFIG,
                               "--socket", CONTROL], stdout=log, stderr=log)
lib.wait_for(lambda: os.path.exists(CONTROL), 30, "hmkd serves")
end = time.monotonic() + int(os.environ["HMK_SECONDS"])
rounds, seen, first, books = 0, 0, (0, 0), None
while time.monotonic() < end or rounds <= WARM:
    target = start_target(rounds % 2 == 1)
    lib.run(*HMKCTL, "attach", target.pid)
    lib.wait_for(lambda: intervals(target.pid) >= ROUND_INTERVALS, 60, f"round {rounds}: intervals")
    seen += intervals(target.pid)
    target.end()
    lib.wait_for(lambda: not intervals(target.pid), 20, f"round {rounds}: hmkd lets a dead target go")
    rounds += 1
    if rounds == WARM:
        first, books = lib.held(daemon.pid), lib.Books()
seen += intervals(keeper.pid)
last = lib.held(daemon.pid)
print(f"{rounds} targets, {seen} intervals; resident {first[0]} kB, then {last[0]} kB; descriptors {first[1]}, then {last[1]}")
lib.check(last[0] <= first[0] + ROOM_KB, "hmkd's resident size does not grow")
lib.check(last[1] <= first[1], "nor its descriptors")
lib.wait_for(lambda: not books.leaked(), 20, f"nor what the kernel holds: {books.leaked()}")
daemon.terminate()
lib.check(daemon.wait(ENDS) == 0, "hmkd ends")
keeper.end()
lib.figures(count=seen, lost=0)
lib.unload_module()
