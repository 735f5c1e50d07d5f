#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
# clock: instructions
"""A load whose hot set fits into the fast tier; all else is equally warm, in the rest of that tier and in the slow one.
Once the hot set is there, little moves any more: of what is by chance the hottest of the warm next to nothing changes
places with what is by chance the coldest, a thousandth of the load in an interval at most."""
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, MIB = 1, 2, 1 << 20
SIZE_MIB, HOT_MIB = 256, 48
SETTLING, WATCHED = 30, 60   # intervals
MOST_KIB = 256               # promoted in one of them at rest, on average: a thousandth of the load


def stats() -> dict:
    """Of the load."""
    return lib.ask_hmkd("stats")["targets"][0]


def wait_for_intervals(number: int) -> dict:
    """The figures once so many intervals have ended. Looking costs the guest's clock."""
    def seen() -> dict:
        time.sleep(2)
        row = stats()
        return row if row["intervals"] >= number else {}
    return lib.wait_for(seen, 120, f"{number} intervals")


def moved(row: dict) -> dict:
    return {key: row[key] / MIB for key in ("promoted_bytes", "demoted_bytes", "returned_bytes")}


lib.load_module()
# A warm page is accessed in a third of the windows, a hot one in nearly all.
load = subprocess.Popen(["numactl", f"--preferred={SLOW}", lib.build("tools/load/hmk-load-gups"), "--size", f"{SIZE_MIB}MiB",
                         "--hot", f"{HOT_MIB}MiB", "--hot-updates", "70%", "--rate", "200000"], stdout=subprocess.PIPE, text=True)
lib.check(any('"truth"' in line for line in load.stdout), "the load has filled its memory")
daemon = lib.start_hmkd(f"mode: manage\ninterval: 1s\noverhead: 2%\npromote_limit: 16MiB\nreserve: 4MiB\n"
                        f"tiers: [{FAST}, {SLOW}]\nattach: [{load.pid}]\n")
before = wait_for_intervals(SETTLING)
print(moved(before), lib.resident_bytes(load.pid), flush=True)
after = wait_for_intervals(before["intervals"] + WATCHED)
print(moved(after), lib.resident_bytes(load.pid), flush=True)
passed = after["intervals"] - before["intervals"]
kib = (after["promoted_bytes"] - before["promoted_bytes"]) / 1024 / passed
lib.check(kib <= MOST_KIB, f"at rest {kib:.0f} KiB of {MOST_KIB} are promoted in each of {passed} intervals")
lib.end_hmkd(daemon)
lib.end_load(load)
lib.unload_module()
