#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
# alone: yes
"""All programs and freezable threads are frozen as on the way to sleep (`pm_test`), while pages move, and the clock is set a
day forth and back: nothing of ours stands in the way, intervals go on, pages move again, no value is wrong."""
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

POWER, DAY, ROUNDS = Path("/sys/power"), 86400, 3


def seen():
    """Intervals and bytes moved up or down so far."""
    stats = lib.ask_hmkd("stats")["targets"][0]
    return stats["intervals"], stats["promoted_bytes"] + stats["demoted_bytes"]


def goes_on(what):
    """Three more intervals end, and more pages arrive."""
    intervals, moved = seen()
    lib.wait_for(lambda: seen()[0] >= intervals + 3 and seen()[1] > moved, 60, f"{what}: intervals and moves go on")
    print(f"ok: {what}: {seen()[0]} intervals, {seen()[1] >> 20} MiB moved", flush=True)


lib.load_module()
Path("/sys/module/suspend/parameters/pm_test_delay").write_text("1", encoding="ascii")
load = lib.start_gups("--size", "128MiB", "--hot", "40%", "--jump-every", "4s", under=("numactl", "--preferred=2"))
# The tier above holds less than what is hot, so that pages come and go all the time.
daemon = lib.start_hmkd(f"mode: manage\ninterval: 400ms\noverhead: 10%\ntiers: [1, 2]\ncaps: {load.pid}/1=32MiB\nattach: [{load.pid}]\n")
goes_on("at first")
(POWER / "pm_test").write_text("freezer", encoding="ascii")  # not "devices": the guest's root, a 9p share, does not outlive it
for _ in range(ROUNDS):
    (POWER / "state").write_text("freeze", encoding="ascii")
    goes_on("frozen and thawed")
for step in (DAY, -2 * DAY, DAY):
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + step)
    goes_on(f"the clock set by {step} s")
lib.end_hmkd(daemon)
lib.end_load(load)
lib.unload_module()
said = lib.run("dmesg").stdout
lib.check(len(re.findall(r"PM: suspend debug: Waiting", said)) == ROUNDS, "all was frozen each time")
