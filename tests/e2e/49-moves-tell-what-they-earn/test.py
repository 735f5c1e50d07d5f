#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# suite: 6.12
# timeout: 400
# clock: instructions
"""A load whose hot set lies in the slow tier: while it is only tracked, hmkd tells what moves could save. Once they are made
they save that, they cost what their results say, and heat lasts. Of a load whose hot set jumps every 3 intervals heat lasts
less long, and the governor slows its moves or they end by themselves."""
import subprocess
import sys
import time
from typing import Callable

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW = 1, 2
SIZE_MIB, HOT_MIB = 256, 48
SETTLED, WATCHED = 30, 20   # intervals


def start_load(*arguments: str) -> subprocess.Popen:
    """Its memory lies in the slow tier."""
    return lib.start_gups("--size", f"{SIZE_MIB}MiB", "--hot", f"{HOT_MIB}MiB", "--hot-updates", "90%", "--rate", 400000, *arguments,
                          under=("numactl", f"--preferred={SLOW}"))


def one(verb: str) -> dict:
    """The one target's row."""
    return lib.ask_hmkd(verb)["targets"][0]


def wait_for(condition: Callable[[dict], bool], what: str) -> dict:
    """The gain for which it holds. Looking costs the guest's clock."""
    def seen() -> dict:
        time.sleep(2)
        row = one("gain")
        return row if condition(row) else {}
    row = lib.wait_for(seen, 120, what)
    print(what, row, flush=True)
    return row


def wait_for_intervals(number: int) -> None:
    """So many more."""
    end = one("stats")["intervals"] + number
    wait_for(lambda _: one("stats")["intervals"] >= end, f"{number} intervals have passed")


def config(mode: str, load: subprocess.Popen, more: str = "") -> str:
    return f"mode: {mode}\ninterval: 1s\noverhead: 2%\npromote_limit: 16MiB\nreserve: 4MiB\ntiers: [{FAST}, {SLOW}]\n" \
           f"attach: [{load.pid}]\n{more}"


lib.load_module()
load = start_load()
daemon = lib.start_hmkd(config("track-only", load, "governor: off\nmove_cost: measured\n"))
advice = wait_for(lambda row: (row["could_save_ns_per_s"] or 0) > 0, "there is something to save")
lib.check(advice["text"].startswith("could save"), f"it is advice: {advice['text']}")
lib.check(advice["could_save_ns_per_s"] <= advice["cpu_ns_per_s"], "no more than the load has CPU time")
lib.check(advice["saves_ns_per_s"] == 0, "nothing has moved")

lib.run(lib.build("tools/hmkctl/hmkctl"), "--socket", lib.CONTROL, "set", "mode", "manage")
wait_for_intervals(SETTLED)
gain, stats = one("gain"), one("stats")
print(gain, flush=True)
lib.check(stats["promoted_bytes"] >= HOT_MIB << 20, "the hot set was promoted")
lib.check(gain["saves_ns_per_s"] > 3 * gain["saves_dev_ns_per_s"], f"that surely saves time: {gain['text']}")
lib.check(0.3 < gain["kept"] < 3, f"about as much as was promised: {gain['kept']:.2f}")
lib.check(gain["spent_ns"] >= stats["copy_ns"] + stats["commit_ns"], "its cost holds all copies and commits")
lasts = gain["exchange_horizon_intervals"]
lib.check(lasts > 30, f"its heat lasts: {lasts:.0f} intervals")
lib.check("hmk_saved_seconds" in lib.get(lib.CONTROL, "/metrics"), "metrics tell it, too")
lib.end_hmkd(daemon)
lib.end_load(load)

load = start_load("--jump-every", "3s")
daemon = lib.start_hmkd(config("manage", load))
wait_for_intervals(2 * SETTLED)
gain, before = one("gain"), one("stats")
print(gain, flush=True)
# Where the hot set goes some of it has been, and a quarter of all heat is anywhere at any time.
lib.check(gain["exchange_horizon_intervals"] < lasts * 2 / 3, f"heat that jumps lasts less long: {gain['exchange_horizon_intervals']:.1f} intervals")
wait_for_intervals(WATCHED)
gain, after = one("gain"), one("stats")
most = WATCHED * (16 << 20) / gain["promote_limit_divisor"]
promoted = after["promoted_bytes"] - before["promoted_bytes"]
lib.check(gain["promote_limit_divisor"] > 1 or promoted < most / 4 or gain["saves_ns_per_s"] > gain["moves_ns_per_s"],
          f"what does not pay is slowed: {gain['text']}, {promoted >> 20} MiB of {int(most) >> 20} promoted")
lib.end_hmkd(daemon)
lib.end_load(load)
lib.unload_module()
