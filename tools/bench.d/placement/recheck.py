# SPDX-License-Identifier: MIT
"""tools/bench placement --recheck N: some of the table's cells once more; whether they lie where the page says."""
import argparse
import dataclasses
import random
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from lab import load_machine
from lab.errors import UsageError
from lab.machine import available_memory

import build
import keep
import runner
from cells import Cell
from figures import at

FIGURES = {"tier 1's share": ("tier_share", 0), "settled ns/op": ("settled_per_operation", "application_ns"),
           "settled ns per 1000 instructions": ("settled_modelled_ns_per_kilo_instruction",)}
ROOM = 0.5      # of a range's width, on either side: one more of three runs lies within them every other time only
LEAST = 0.01    # of the middle: few runs by a clock of instructions can be closer than the next one is


def draw(wanted: Sequence[Cell], store: keep.Store, number: int, seed: int) -> List[List[Cell]]:
    """`number` times all runs of a cell that ran more than once. Raises UsageError if there are not so many."""
    several: Dict[Cell, List[Cell]] = {}
    for cell in wanted:
        if store.has(cell):
            several.setdefault(dataclasses.replace(cell, repeat=0), []).append(cell)
    repeated = [cells for cells in several.values() if len(cells) > 1]
    if not 1 <= number <= len(repeated):
        raise UsageError(f"--recheck {number}: of the cells that are there {len(repeated)} ran more than once; take a number up to that, or run more")
    return random.Random(seed).sample(repeated, number)


def outside(again: Dict[str, Any], runs: Sequence[Dict[str, Any]]) -> List[str]:
    """What of the new run lies out of the range of the others, in words."""
    found = []
    for name, path in FIGURES.items():
        value, values = at(again, path), [value for value in (at(run, path) for run in runs) if value is not None]
        if value is None or not values:
            continue
        low, high = bounds(values)
        if not low <= value <= high:
            found.append(f"{name} {value:.4g}, not within {low:.4g} to {high:.4g}")
    return found


def bounds(values: Sequence[float]) -> Tuple[float, float]:
    least, most = min(values), max(values)
    room = max(ROOM * (most - least), LEAST * (least + most) / 2)
    return least - room, most + room


def run(args: argparse.Namespace, wanted: Sequence[Cell], store: keep.Store, root: Path) -> int:
    """0: each lies within; 1: one does not, or gave no result. Raises LabError."""
    drawn = draw(wanted, store, args.recheck, args.seed)
    anew = [dataclasses.replace(cells[0], repeat=max(cell.repeat for cell in cells) + 1) for cells in drawn]
    machine = load_machine(args.machine, available_memory() // args.jobs)
    own = keep.Store(store.folder / "recheck")
    tools = build.prepare(root, own.folder, anew)
    failed = runner.every([(cell, tools, own) for cell in anew], machine, args.jobs)
    wrong = list(failed)
    for cell, cells in zip(anew, drawn):
        if own.has(cell):
            why = outside(own.read(cell), [store.read(one) for one in cells])
            print(f"{cell.key}: {'; '.join(why) or 'within its ranges'}")
            wrong += why
    for reason in failed:
        print(f"bench: failed: {reason}", file=sys.stderr)
    return 1 if wrong else 0
