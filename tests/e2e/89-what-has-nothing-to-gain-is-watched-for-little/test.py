#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: none
# timeout: 400
# clock: instructions
"""A load that fits into the fast tier has nothing to gain: its profiling budget falls to a 32nd.
When its hot set jumps the budget is whole again within five intervals, and falls once more."""
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SOON = 5  # intervals
WHOLE = 80  # percent of an interval of 3 s: an instruction takes ten times as long as on a machine of today
LEAST = WHOLE / 32


def budget() -> float:
    """Percent of the last interval. Asking costs the guest's clock."""
    time.sleep(1.5)
    return (lib.target_of(load.pid).get("last_interval") or {}).get("budget_percent") or 0


lib.load_module()
load = lib.start_gups("--size", "64MiB", "--hot", "10%", "--rate", 100000, "--jump-after", "200s", under=("numactl", "--preferred=0"))
daemon = lib.start_hmkd(f"mode: manage\ninterval: 3s\noverhead: {WHOLE}%\nattach: [{load.pid}]\n")
lib.wait_for(lambda: abs(budget() - WHOLE) < WHOLE / 10, 30, "the budget is whole at first")
lib.wait_for(lambda: 0 < budget() < 1.1 * LEAST, 190, "a 32nd of the budget is left")
lib.check(any('"truth"' in line and '"at_ms": 0,' not in line for line in load.stdout), "the hot set has jumped")
before = lib.intervals()
lib.wait_for(lambda: budget() > 0.9 * WHOLE, 90, "the budget is whole again")
lib.check(lib.intervals() - before <= SOON, f"that took {lib.intervals() - before} intervals of {SOON}")
lib.wait_for(lambda: 0 < budget() < 1.1 * LEAST, 400, "and falls once more")
lib.end_hmkd(daemon)
lib.end_load(load)
lib.unload_module()
