#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 240
# seconds: 10
"""Concurrent writers and a reader while their memory visits all four nodes: no write is lost however a move is asked
for, in as many moves as it takes until thousands of pages have been met of every kind: those that stayed clean, those
that were copied again, and those that were not copied ahead because their neighbours had been written."""
import os
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SECONDS = int(os.environ["HMK_SECONDS"])  # at least
WANTED = {"clean": 3000, "recopied": 3000, "sync": 3000}
MOVED, LIMIT = 30000, 150


def moved(sums: dict) -> int:
    return sum(sums[kind] for kind in WANTED)


def is_enough(sums: dict) -> bool:
    return time.monotonic() >= began + SECONDS and all(sums[kind] >= least for kind, least in WANTED.items()) and moved(sums) >= MOVED


lib.load_module()
before = lib.free_pages()
began = time.monotonic()
sums = lib.integrity("--size", "32MiB", until=is_enough, limit=SECONDS + LIMIT)
print(f"{time.monotonic() - began:.0f} s", flush=True)
lib.intact(sums["corrupt"] == 0, "no page is corrupt")
modes = {key: pages for key, pages in sums.items() if key.startswith("modes ")}
lib.check(bool(modes) and all(modes.values()), f"pages by the way of asking: {modes}")
lib.check(moved(sums) >= MOVED, f"{moved(sums)} pages of {MOVED} were moved")
for kind, what in (("clean", "stayed clean"), ("recopied", "were written and copied again"), ("sync", "were not copied ahead")):
    lib.check(sums[kind] >= WANTED[kind], f"{sums[kind]} pages of {WANTED[kind]} {what}")
most = 0.001 * moved(sums)
lib.check(sums["off_target"] <= most, f"{sums['off_target']} of {most:.0f} were not where they were sent")
lib.unload_module()
lib.check(abs(lib.free_pages() - before) < 4096, f"free pages {before} came back: {lib.free_pages()}")
