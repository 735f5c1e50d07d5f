#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Minutes of hmkd's judgement, for the night; the other kernel by --kernel 6.1.
# suite: 6.12
# gate: none
# timeout: 300
# seconds: 150
# clock: instructions
"""Two processes, weights 3 and 1, whose hot parts jump before what is hot has been promoted: of the promotion limit and of
the fast tier the first has three times as much as the second, within 10 %. What is hot for so short a time is not worth
moving, and with `governor: on` little of it would be: here it is asked who moves, not whether.

For an interval or two after a jump a process may find no victim colder than what is hot now. The other then has its part of
the limit, as it should; so what is compared is the median plan, not the sum, which is 2.5 to 1 where a few such come together.
A plan, for in what moves from one look to the next there are those of one interval or of two."""
import os
import statistics
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, MIB, PAUSE = 1, 2, 1 << 20, 1.0
LIMIT_KIB = 512  # less than either finds to promote: of 134 MiB that are hot the first has room for 88
SECONDS = int(os.environ["HMK_SECONDS"])  # of the guest's clock


def told(verb: str) -> list:
    """Of each in the order of `loads`."""
    rows = {row["pid"]: row for row in lib.ask_hmkd(verb)["targets"]}
    return [rows[load.pid] for load in loads]


def promoted() -> list:
    """Bytes of each, and intervals of the one that has had fewer, so far."""
    rows = told("stats")
    return [*(row["promoted_bytes"] for row in rows), min(row["intervals"] for row in rows)]


def planned() -> list:
    """Bytes to promote by the plan of each from its last interval."""
    return [row["last_interval"]["planned_promote_bytes"] for row in told("status")]


def look() -> list:
    """Bytes of each in the fast tier. Looking costs the guest's clock: once an interval."""
    time.sleep(PAUSE)
    return [lib.resident_bytes(load.pid).get(FAST, 0) for load in loads]


def tier_is_full() -> bool:
    """Nothing is left of it but the reserve."""
    return sum(look()) > 0.85 * room


def check_share(amounts: list, what: str) -> None:
    ratio = amounts[0] / max(amounts[1], 1)
    lib.check(2.7 <= ratio <= 3.3, f"{what}: {amounts[0] / MIB:.2f} and {amounts[1] / MIB:.2f} MiB, {ratio:.2f} to 1")


lib.load_module()
room = lib.node_free_bytes(FAST)
loads = [lib.start_gups("--size", "224MiB", "--hot", "60%", "--jump-every", "12s", "--rate", 60000,
                       under=("numactl", f"--preferred={SLOW}"))
         for _ in range(2)]
daemon = lib.start_hmkd(f"mode: manage\ninterval: 1s\noverhead: 20%\ngovernor: off\npromote_limit: 16MiB\ntiers: [{FAST}, {SLOW}]\n"
                        f"attach: [{loads[0].pid}, {loads[1].pid}]\nweights: {loads[0].pid}=3\n")
lib.wait_for(tier_is_full, 120, "the tier is full")
lib.ask_hmkd("set", "promote_limit", f"{LIMIT_KIB}KiB")
looks, plans, before, end = [], [], promoted(), time.monotonic() + SECONDS
while time.monotonic() < end:
    looks.append(look())
    plans.append(planned())
    if len(looks) % 10 == 0:
        print([round(size / MIB, 1) for size in looks[-1]], [size >> 10 for size in plans[-1]], flush=True)
check_share([sum(column) / len(looks) for column in zip(*looks)], "in the fast tier, on average")
check_share([statistics.median(column) for column in zip(*plans)], "planned to rise in an interval")
*total, ended = [now - then for then, now in zip(before, promoted())]
lib.check(sum(total) > 0.8 * LIMIT_KIB * 1024 * ended, f"the limit was used up: {total} bytes in {ended} intervals")
lib.end_hmkd(daemon)
for load in loads:
    lib.end_load(load)
lib.unload_module()
