# SPDX-License-Identifier: MIT
"""What all runs of a row add up to, as rows of JSON, of text and of a page."""
import datetime
import os
import platform
from collections import Counter
from typing import Any, Dict, List, Sequence, Set, Tuple

from rows import Row
from runs import counting, is_commit, is_reached

Sum = Dict[str, Any]
COLUMNS = ("row", "kernel", "count", "wanted", "unit", "lost", "splats", "leaked", "seconds", "commits", "verdict")


def add_up(row: Row, kernel: str, runs: Sequence[Dict[str, Any]]) -> Sum:
    """One object of --json. `verdict` is `ok` only where the count is reached and nothing was wrong.

    Explained failures and runs that are older or of no known commit are told apart and add nothing.
    """
    counted = counting(runs)
    total = {name: sum(run[name] for run in counted) for name in ("count", "lost", "splats", "leaked", "seconds")}
    failed = [f"{run['commit']}: {run['failed']}" for run in counted if run["failed"]]
    wrong = failed or total["lost"] or total["splats"] or total["leaked"]
    parts: Counter[str] = sum((Counter({part: run.get(part, 0) for part in row.least} | run.get("of", {})) for run in counted), Counter())
    return {"row": row.name, "kernel": kernel, **total, "wanted": row.wanted[kernel], "unit": row.unit,
            "inputs": sum(run.get("inputs", 0) for run in counted),
            "commits": _counts(counted),
            "releases": sorted({run["release"] for run in counted if "release" in run}),
            "of": dict(parts), "failed": failed,
            "verdict": "failed" if wrong else "ok" if is_reached(row, kernel, counted) else "fewer" if counted else "not run",
            "explained": [f"{run['commit']}: {run['failed']}: {run['explained']}" for run in runs if run.get("explained")],
            "older": _counts([run for run in runs if run.get("older") and is_commit(run["commit"]) and not run.get("explained")]),
            "unknown": sum(run["count"] for run in runs if not is_commit(run["commit"]) and not run.get("explained"))}


def text(sums: Sequence[Sum]) -> str:
    lines = [COLUMNS, *(_cells(row) for row in sums)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def page(sums: Sequence[Sum]) -> str:
    """Markdown. What is missing shows as missing."""
    parts = ["<!-- SPDX-License-Identifier: MIT -->", "# Torture", "",
             "Written by `tools/torture --report`; not edited by hand. Every run ended with the same check: no splat in the "
             "kernel log, taint as before, slab, vmalloc and pages that are in nobody's books within 1 % of before, kmemleak "
             "(6.1-debug: KASAN, lockdep, page-table checks; 6.1-kcsan: KCSAN) twice. *ok*: done as often as wanted, nothing wrong. *fewer*: "
             "nothing wrong, but not yet as often. *not run*: no figure. *commits*: how many on which; a run is of one commit, with "
             "module and ABI, or for a fuzzer hmkd, as they are today; what ran on older ones stands below. A huge page is one page.", "",
             f"- date: {datetime.date.today().isoformat()}", f"- host: {platform.machine()}, {os.cpu_count()} cores, guests under QEMU TCG",
             "- the runs, a line each: [torture.jsonl](torture.jsonl)", *_kernels(sums), "",
             "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    parts += ["| " + " | ".join(_cells(row)) + " |" for row in sums]
    for title, name in (("What failed", "failed"), ("What failed and is explained, counted for nothing", "explained")):
        found = [f"- {row['row']}, {row['kernel']}: {why}" for row in sums for why in row[name]]
        parts += ["", f"## {title}", "", *found] if found else []
    made_of = [f"- {row['row']}, {row['kernel']}: {', '.join(f'{n} {what}' for what, n in row['of'].items())}"
               for row in sums if row["of"]]
    if made_of:
        parts += ["", "## What the counts are made of", "", "Of pages *asked* for in some way a huge one is 512.", "", *made_of]
    older = [f"- {row['row']}, {row['kernel']}: {_by_commit(row['older'])}" for row in sums if row["older"]]
    if older:
        parts += ["", "## Runs of an older module, counted for nothing", "",
                  "How many on which commit. One of 7 digits is the last that had changed module or daemon; what else had changed "
                  "was not kept then.", "", *older]
    unknown = [f"- {row['row']}, {row['kernel']}: {row['unknown']} {row['unit']}" for row in sums if row["unknown"]]
    if unknown:
        parts += ["", "## Runs of no known commit, counted for nothing", "",
                  "Sums of runs on several commits, merged before each run kept its own; a huge page was 512 pages.", "", *unknown]
    inputs = [f"- {row['row']}: {row['inputs']} inputs" for row in sums if row["inputs"]]
    if inputs:
        parts += ["", "## Inputs the fuzzers made", "", *inputs]
    return "\n".join(parts) + "\n"


def _kernels(sums: Sequence[Sum]) -> List[str]:
    """What the names of the kernels stood for, where runs have noted it."""
    found: Dict[str, Set[str]] = {}
    for row in sums:
        found.setdefault(row["kernel"], set()).update(row["releases"])
    return [f"- {kernel}: {', '.join(sorted(releases))}" for kernel, releases in found.items() if releases]


def _cells(row: Sum) -> Tuple[str, ...]:
    return tuple(_by_commit(row[name]) if name == "commits" else str(row[name]) for name in COLUMNS)


def _counts(runs: Sequence[Dict[str, Any]]) -> Dict[str, int]:
    """By commit."""
    return dict(sum((Counter({run["commit"]: run["count"]}) for run in runs), Counter()))


def _by_commit(counts: Dict[str, int]) -> str:
    return ", ".join(f"{commit}: {count}" for commit, count in counts.items())
