# SPDX-License-Identifier: MIT
"""What all runs of a row add up to, as rows of JSON, of text and of a page."""
import datetime
import os
import platform
from typing import Any, Dict, List, Sequence, Tuple

from rows import Row

Sum = Dict[str, Any]
COLUMNS = ("row", "kernel", "count", "wanted", "unit", "lost", "splats", "leaked", "seconds", "commits", "verdict")


def add_up(row: Row, kernel: str, runs: Sequence[Dict[str, Any]]) -> Sum:
    """One object of --json. `verdict` is `ok` only where the count is reached and nothing was wrong."""
    total = {name: sum(run[name] for run in runs) for name in ("count", "lost", "splats", "leaked", "seconds")}
    failed = [run["failed"] for run in runs if run["failed"]]
    wrong = failed or total["lost"] or total["splats"] or total["leaked"]
    reached = total["count"] >= row.wanted[kernel]
    return {"row": row.name, "kernel": kernel, **total, "wanted": row.wanted[kernel], "unit": row.unit,
            "inputs": sum(run.get("inputs", 0) for run in runs), "commits": sorted({run["commit"] for run in runs}),
            "verdict": "failed" if wrong else "ok" if reached else "fewer" if runs else "not run", "failed": failed}


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
             "nothing wrong, but not yet as often. *not run*: no figure.", "",
             f"- date: {datetime.date.today().isoformat()}", f"- host: {platform.machine()}, {os.cpu_count()} cores, guests under QEMU TCG",
             "- the runs, a line each: [torture.jsonl](torture.jsonl)", "",
             "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    parts += ["| " + " | ".join(_cells(row)) + " |" for row in sums]
    failures = [f"- {row['row']}, {row['kernel']}: {why}" for row in sums for why in row["failed"]]
    if failures:
        parts += ["", "## What failed", "", *failures]
    inputs = [f"- {row['row']}: {row['inputs']} inputs" for row in sums if row["inputs"]]
    if inputs:
        parts += ["", "## Inputs the fuzzers made", "", *inputs]
    return "\n".join(parts) + "\n"


def _cells(row: Sum) -> Tuple[str, ...]:
    return tuple(", ".join(row[name]) if name == "commits" else str(row[name]) for name in COLUMNS)
