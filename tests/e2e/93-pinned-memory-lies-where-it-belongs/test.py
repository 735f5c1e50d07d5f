#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# suite: 6.12
# timeout: 300
"""Pins of a file in conf.d: memory that nobody uses comes into the fastest tier, hot memory goes into the slower one, and both
stay there. Once the file is gone, heat decides again."""
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, PAGES, HELD = 1, 2, 2048, 5
CONF_D = Path("/run/conf.d")
FILE = CONF_D / "10-pins.yaml"


def share_on(node: int, start: int) -> float:
    return lib.nodes_of(touch.pid, start, PAGES).count(node) / PAGES


def lies(cold_on: int, hot_on: int) -> bool:
    return share_on(cold_on, cold) >= 0.99 and share_on(hot_on, hot) >= 0.9


CONF_D.mkdir()
lib.load_module()
touch = lib.Touch(SLOW)
_, cold = touch.map(PAGES)
area, hot = touch.map(PAGES)
touch.tell(f"loop read {area} 0 {PAGES} 1")
lib.check(share_on(SLOW, cold) == share_on(SLOW, hot) == 1, "all begins in the slow tier")

daemon = lib.start_hmkd(f"mode: manage\ninterval: 500ms\noverhead: 20%\nreserve: 8MiB\ntiers: [{FAST}, {SLOW}]\nattach: [{touch.pid}]\n",
                        options=("--config-dir", CONF_D))
lib.wait_for(lambda: lies(SLOW, FAST), 120, "what is hot rises, what is cold does not")

ends = [f"{touch.pid}/{start:#x}-{start + PAGES * 4096:#x}={tier}" for start, tier in ((cold, 1), (hot, 2))]
FILE.write_text(f"pins: [{', '.join(ends)}]\n", encoding="ascii")
lib.ask_hmkd("reload")
lib.wait_for(lambda: lies(FAST, SLOW), 120, "each goes where it is pinned, whatever its heat")
pinned = lib.intervals()
lib.wait_for(lambda: lib.intervals() >= pinned + HELD, 60, f"{HELD} more intervals end")
lib.check(lies(FAST, SLOW), f"and stays: cold {share_on(FAST, cold):.3f} fast, hot {share_on(SLOW, hot):.3f} slow")
pins = lib.ask_hmkd("status")["targets"][0]["pins"]
lib.check(len(pins) == 2 and all(pin["elsewhere_bytes"] <= pin["bytes"] // 10 for pin in pins), f"status says so: {pins}")

FILE.unlink()
lib.ask_hmkd("reload")
lib.wait_for(lambda: share_on(FAST, hot) >= 0.9, 120, "without the pins what is hot rises again")
lib.check(not lib.ask_hmkd("status")["targets"][0]["pins"], "no pin is left")
lib.end_hmkd(daemon)
touch.end()
lib.unload_module()
