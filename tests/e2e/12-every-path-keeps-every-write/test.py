#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 240
"""Huge pages, shared memory, memory of two processes, migrate_vma, synchronous copies, small chunks, and a module that could
not look up a single unexported symbol: no write is lost, and each case takes the path it names."""
import sys
from typing import Any, Dict, List, Tuple

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

OWN, VMA = 1 << 3, 1 << 5  # HMK_FEAT_MOVE_OWN, HMK_FEAT_MOVE_VMA
WANTED = 5000  # pages moved in each case
CASES: List[Tuple[str, List[str], int, Dict[str, Any]]] = [
    ("huge pages", ["--pages", "thp"], OWN, {}),
    ("huge pages that are split meanwhile", ["--pages", "thp", "--split"], OWN, {}),
    ("shared memory", ["--pages", "shmem"], OWN, {}),
    ("memory of two processes", ["--pages", "shmem", "--shared"], OWN, {}),
    ("never ahead", ["--sync"], OWN, {}),
    ("chunks of 64 pages", ["--chunk", "64"], OWN, {}),
    ("migrate_vma", ["--force-vma"], VMA, {}),
    ("exported symbols only", [], VMA, {"symbols": 0}),
]


def moved(sums: dict) -> int:
    return sums["clean"] + sums["recopied"] + sums["sync"]


for name, arguments, path, parameters in CASES:
    lib.load_module(**parameters)
    seen = lib.integrity("--size", "16MiB", *arguments, until=lambda sums: moved(sums) >= WANTED)
    lib.intact(seen["corrupt"] == 0, f"{name}: no page is corrupt")
    lib.check(seen["paths"] & (OWN | VMA) == path, f"{name}: the path is {seen['paths']:#x}")
    lib.check(moved(seen) >= WANTED, f"{name}: {moved(seen)} pages of {WANTED} were moved")
    modes = {key: pages for key, pages in seen.items() if key.startswith("modes ")}
    lib.check(bool(modes) and all(modes.values()), f"{name}: pages by the way of asking: {modes}")
    if "--split" in arguments:
        lib.check(not seen["can_split"] or seen["huge_examined"] > 0, f"{name}: {seen['huge_examined']} were examined")
    lib.check("--sync" not in arguments or seen["clean"] + seen["recopied"] == 0, f"{name}: nothing was copied ahead")
    lib.unload_module()
