#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 240
# seconds: 10
"""Concurrent writers and a reader while their memory visits all four nodes: no write is lost however a move is asked
for, in as many moves as it takes until thousands of pages have been met of every kind: those that stayed clean, those
that were copied again, and those that were not copied ahead because their neighbours had been written."""
import json
import os
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SECONDS = int(os.environ["HMK_SECONDS"])  # at least
# How much of the time writers and mover run side by side is the host's business: these are counts, not shares.
WANTED = {"clean": 3000, "recopied": 3000, "sync": 3000}
MOVED = 30000
TURN, LIMIT = 5, 150


def done(sums: dict) -> bool:
    return all(sums[kind] >= least for kind, least in WANTED.items()) and sum(sums[kind] for kind in WANTED) >= MOVED


lib.load_module()
before = lib.free_pages()
sums = {kind: 0 for kind in (*WANTED, "corrupt", "off_target")}
modes: dict = {}
began = time.monotonic()
while time.monotonic() < began + SECONDS or not done(sums) and time.monotonic() < began + SECONDS + LIMIT:
    line = lib.run(lib.build("tests/programs/hmk-integrity"), "--size", "32MiB", "--for", f"{TURN}s").stdout
    print(line, flush=True)
    seen = json.loads(line.splitlines()[-1])
    sums = {kind: count + seen[kind] for kind, count in sums.items()}
    modes = {mode: modes.get(mode, 0) + pages for mode, pages in seen["modes"].items()}
print(f"{time.monotonic() - began:.0f} s", flush=True)
moved = sum(sums[kind] for kind in WANTED)
lib.check(sums["corrupt"] == 0, "no page is corrupt")
lib.check(all(modes.values()), f"pages by the way of asking: {modes}")
lib.check(moved >= MOVED, f"{moved} pages of {MOVED} were moved")
for kind, what in (("clean", "stayed clean"), ("recopied", "were written and copied again"), ("sync", "were not copied ahead")):
    lib.check(sums[kind] >= WANTED[kind], f"{sums[kind]} pages of {WANTED[kind]} {what}")
lib.check(sums["off_target"] <= 0.001 * moved, f"{sums['off_target']} of {0.001 * moved:.0f} were not where they were sent")
lib.unload_module()
lib.check(abs(lib.free_pages() - before) < 4096, f"free pages {before} came back: {lib.free_pages()}")
