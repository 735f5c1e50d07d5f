# SPDX-License-Identifier: MIT
"""tools/bench placement --against REV: the same cells on two commits in turns, and what chance has to do with the difference.

The ruler is this checkout's for both: loads, lab and arithmetic. Only hmkd and hmk.ko are REV's.
"""
import argparse
import dataclasses
import json
import subprocess
import sys
from dataclasses import dataclass
from math import comb
from pathlib import Path
from statistics import median
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from lab import load_machine
from lab.build import run_preset
from lab.errors import LabError, UsageError
from lab.machine import available_memory
from lab.module import build_module
from lab.progress import step

import build
import keep
import publish
import runner
from cells import Cell
from figures import at

Pair = Tuple[Dict[str, Any], Dict[str, Any]]  # a run of ours, and the one of REV beside it
#: Less is better of all but the first.
FIGURES = {"tier 1 serves, share": ("tier_share", 0), "ns/op, settled": ("settled_per_operation", "application_ns"),
           "ns/op, whole": ("per_operation", "application_ns"), "ns per 1000 instructions": ("modelled_ns_per_kilo_instruction",),
           "service ns/op": ("per_operation", "service_cpu_ns"), "moved B/op": ("per_operation", "moved_bytes")}
REPEATS = 5   # fewer pairs cannot differ by chance once in 16 at most


@dataclass(frozen=True)
class Other:
    """Another commit, checked out and built."""

    commit: str
    build: Path
    modules: Dict[str, Path]


def resolve(root: Path, revision: str) -> str:
    """The commit's short hash. Raises UsageError in one line."""
    done = subprocess.run(["git", "-C", str(root), "rev-parse", "--quiet", "--verify", "--short=10", "--end-of-options", f"{revision}^{{commit}}"],
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode:
        raise UsageError(f"--against {revision}: no commit of this repository; name a hash, branch or tag that `git log` knows")
    return done.stdout.strip()


def prepare(root: Path, commit: str, wanted: Sequence[Cell]) -> Other:
    """Check it out into a worktree below build/ and build what of it runs. Raises LabError."""
    place = root / "build/against" / commit
    if not (place / "CMakeLists.txt").exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        _git(root, "worktree", "prune")
        with step(f"checking out {commit}"):
            _git(root, "worktree", "add", "--detach", "--force", str(place), commit)
    out = place / "build"
    out.mkdir(exist_ok=True)
    run_preset(place, out, "release", "--target", "hmkd")
    return Other(commit, place / "build/release", {kernel: build_module(kernel, root=place) for kernel in dict.fromkeys(cell.kernel for cell in wanted)})


def _git(root: Path, *words: str) -> None:
    done = subprocess.run(["git", "-C", str(root), *words], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise LabError(f"git {' '.join(words)}: {done.stderr.strip().splitlines()[-1:]}")


def run(args: argparse.Namespace, wanted: Sequence[Cell], root: Path) -> int:
    """The cells on this checkout and on --against, in turns. 0: every pair has a result."""
    theirs = resolve(root, args.against)
    machine = load_machine(args.machine, available_memory() // args.jobs)
    folder = args.out / "against" / args.machine.stem
    own = build.prepare(root, keep.Store(folder).folder, wanted)
    other = prepare(root, theirs, wanted)
    tools = {False: own, True: dataclasses.replace(own, modules=other.modules, commit=theirs, daemon=other.build)}
    stores = {is_other: keep.Store(folder / of.commit) for is_other, of in tools.items()}
    if own.commit.endswith(publish.DIRTY):  # what it stands for changes
        for cell in wanted:
            stores[False].drop(cell)
    failed = runner.every([(cell, tools[is_other], stores[is_other]) for cell, is_other in in_turns(wanted)
                           if args.again or not stores[is_other].has(cell)], machine, args.jobs)
    pairs: Dict[str, List[Pair]] = {}
    for cell in wanted:
        if all(store.has(cell) for store in stores.values()):
            pairs.setdefault(f"{cell.workload} {cell.system} {cell.page_size}", []).append((stores[False].read(cell), stores[True].read(cell)))
    found = rows(pairs)
    print(text(found, own.commit, theirs))
    if args.json:
        args.json.write_text(json.dumps({"ours": own.commit, "theirs": theirs, "rows": found}, indent=1) + "\n", encoding="utf-8")
    for reason in failed:
        print(f"bench: failed: {reason}", file=sys.stderr)
    return 0 if sum(map(len, pairs.values())) == len(wanted) else 1


def in_turns(wanted: Sequence[Cell]) -> Iterator[Tuple[Cell, bool]]:
    """Every cell with whether REV runs it: of each repeat both, now one first, now the other."""
    for cell in wanted:
        for is_other in (False, True) if cell.repeat % 2 else (True, False):
            yield cell, is_other


def rows(pairs: Dict[str, List[Pair]]) -> List[Dict[str, Any]]:
    """A row for each cell and figure that both commits have, from the pairs of runs by the cell's title."""
    found = []
    for title, of_cell in pairs.items():
        for name, path in FIGURES.items():
            both = [(ours, theirs) for ours, theirs in ((at(a, path), at(b, path)) for a, b in of_cell)
                    if ours is not None and theirs is not None]
            if both:
                found.append({"cell": title, "figure": name, **compare(both)})
    return found


def compare(both: Sequence[Tuple[float, float]]) -> Dict[str, Any]:
    """Medians and ranges of ours and theirs, and the sign test over the pairs."""
    ours, theirs = [list(column) for column in zip(*both)]
    less = sum(a < b for a, b in both)
    more = sum(a > b for a, b in both)
    return {"pairs": len(both), "ours": median(ours), "ours_range": [min(ours), max(ours)], "theirs": median(theirs),
            "theirs_range": [min(theirs), max(theirs)], "ratio": median(ours) / median(theirs) if median(theirs) else None,
            "less": less, "more": more, "p": sign_test(less, more)}


def sign_test(less: int, more: int) -> float:
    """How often a fair coin falls at least as unevenly, to either side; pairs without a difference do not count."""
    tossed, fewer = less + more, min(less, more)
    return min(1.0, 2 * sum(comb(tossed, heads) for heads in range(fewer + 1)) / 2 ** tossed)


def text(found: Sequence[Dict[str, Any]], ours: str, theirs: str) -> str:
    """The rows as aligned text."""
    lines = [["", "figure", f"ours {ours}", f"theirs {theirs}", "ratio", "less:more", "p"]]
    last = ""
    for row in found:
        ratio = "–" if row["ratio"] is None else f"{row['ratio']:.3f}"
        lines.append(["" if row["cell"] == last else row["cell"], row["figure"], _shown(row["ours"], row["ours_range"]),
                      _shown(row["theirs"], row["theirs_range"]), ratio, f"{row['less']}:{row['more']}", f"{row['p']:.3f}"])
        last = row["cell"]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip() for line in lines)


def _shown(middle: float, least_most: Sequence[float]) -> str:
    form = "{:.3f}" if abs(middle) < 10 else "{:.1f}"
    return f"{form.format(middle)} ({'–'.join(form.format(value) for value in least_most)})"
