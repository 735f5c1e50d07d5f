#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: none
# seconds: 4
# timeout: 420
"""hmkd at intervals of 50 ms with targets that come, are moved and go: its resident size does not rise from round to
round, its descriptors and what the kernel holds are after the last target what they were after the first ones, and it
ends within the time that systemd gives it."""
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import List

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HMKCTL = [lib.build("tools/hmkctl/hmkctl"), "--socket", lib.CONTROL, "--json"]
UNIT = Path(os.environ["HMK_BUILD"]) / "systemd/hmkd.service"
ROUND_INTERVALS = 8
WARM = 3         # rounds after which nothing may grow any more but what an allocator keeps
LAST = 8         # rounds over which the size is looked at; of a long run it is the second half
MOST = 40        # rounds until the size has come to rest, however short the test
RISE_KB = 4.0    # a page, each round: a step of an allocator is over LAST rounds later, a leak never
ROOM_KB = 1024   # and in all over those rounds


def start_target(huge):
    """8 MiB on the slowest node, half of it read over and over, in huge pages every other time."""
    target = lib.Touch(3)
    area, _ = target.map(2048, "thp" if huge else "4KiB")
    target.tell(f"loop read {area} 0 1024 1")
    return target


def intervals(pid):
    """Of one target, 0 when it is not managed."""
    return next((row.get("intervals", 0) for row in json.loads(lib.run(*HMKCTL, "stats").stdout)["targets"] if row["pid"] == pid), 0)


def looked_at(sizes: List[int]) -> List[int]:
    """The second half, of LAST rounds at least."""
    return sizes[-max(LAST, len(sizes) // 2):]


def rise(sizes: List[int]) -> float:
    """Slope of the line through the sizes by least squares, in kB a round."""
    middle, mean = (len(sizes) - 1) / 2, sum(sizes) / len(sizes)
    return sum((n - middle) * (size - mean) for n, size in enumerate(sizes)) / sum((n - middle) ** 2 for n in range(len(sizes)))


def seconds_to_end() -> float:
    """What the unit gives it."""
    match = re.search(r"^TimeoutStopSec=(\d+)s$", UNIT.read_text(encoding="utf-8"), re.M)
    lib.check(match is not None, f"{UNIT} says how long hmkd may take to end")
    return float(match.group(1))


lib.load_module()
keeper = start_target(False)  # so that hmkd does not end with its last target
daemon = lib.start_hmkd("mode: manage\ninterval: 50ms\noverhead: 20%\npromote_limit: 64MiB\nreserve: 8MiB\ntiers: [1, 0, 2, 3]\n",
                        Path("/run/hmkd.log"), ("--pid", keeper.pid))
end = time.monotonic() + int(os.environ["HMK_SECONDS"])
seen, first, books = 0, (0, 0), None
sizes: List[int] = []
files: List[int] = []
while time.monotonic() < end or len(sizes) < WARM + LAST or rise(looked_at(sizes)) > RISE_KB and len(sizes) < MOST:
    target = start_target(len(sizes) % 2 == 1)
    lib.run(*HMKCTL, "attach", target.pid)
    lib.wait_for(lambda: intervals(target.pid) >= ROUND_INTERVALS, 60, f"round {len(sizes)}: intervals")
    seen += intervals(target.pid)
    target.end()
    lib.wait_for(lambda: not intervals(target.pid), 20, f"round {len(sizes)}: hmkd lets a dead target go")
    sizes.append(lib.held(daemon.pid)[0])
    files.append(lib.resident_of_files(daemon.pid))
    if len(sizes) == WARM:
        first, books = lib.held(daemon.pid), lib.Books()
seen += intervals(keeper.pid)
last = lib.held(daemon.pid)
for what, kept in (("its own", sizes), ("of files", files)):
    steps = [f"{size} from round {n} on" for n, size in enumerate(kept) if n == 0 or size != kept[n - 1]]
    print(f"{len(sizes)} targets, {seen} intervals; resident kB {what}: {', '.join(steps)}", flush=True)
rest = looked_at(sizes)
lib.check(rise(rest) <= RISE_KB, f"hmkd's resident size rises by {rise(rest):.2f} kB of {RISE_KB:.0f} in each of {len(rest)} rounds")
lib.check(rest[-1] <= rest[0] + ROOM_KB, f"by {rest[-1] - rest[0]} kB of {ROOM_KB} in all of them")
lib.check(last[1] <= first[1], f"{last[1]} of {first[1]} descriptors")
lib.wait_for(lambda: not books.leaked(), 20, f"nor does what the kernel holds: {books.leaked()}")
limit, began = seconds_to_end(), time.monotonic()
lib.end_hmkd(daemon, limit)
print(f"hmkd ended within {time.monotonic() - began:.1f} s of {limit:.0f}", flush=True)
keeper.end()
lib.figures(count=seen, lost=0)
lib.unload_module()
