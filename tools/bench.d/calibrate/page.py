# SPDX-License-Identifier: MIT
"""The comparison as text, as objects and as docs/calibration.md. Pure."""
from typing import Any, Dict, List, Sequence

from verdict import Verdict


FACTS = (
    "Each run: operations for each page of 4 KiB that the load has; seconds of the guest's clock in which the application does a modelled "
    "second's work; tier 1's share of its misses at the start and in the last quarter; modelled time of an operation over the window, and in that "
    "quarter, and how much of the former is the kernel's; hint faults and bytes promoted, and moved either way. On the published machine NUMA "
    "balancing promoted 4.9 B an access without selection, 3.3 B with it, 0.8 B with limit and threshold.")
COLUMNS = (("load", "workload", ""), ("run", "run", ""), ("ops/page", "operations_per_page", ".1f"),
           ("guest s", "guest_seconds_per_modelled", ".1f"), ("tier 1 from", "from", ".1f"), ("to, %", "to", ".1f"),
           ("ns/op", "application_ns", ".1f"), ("settled", "settled_application_ns", ".1f"), ("kernel %", "kernel_percent", ".0f"),
           ("hint faults/1000 ops", "hint_faults_per_kilo_operation", ".2f"), ("promoted B/op", "promoted_bytes_per_operation", ".2f"),
           ("moved B/op", "moved_bytes_per_operation", ".2f"))


def objects(rows: Sequence[Verdict]) -> List[Dict[str, Any]]:
    """`name`, `what`, `published` (from, to), `ours` (null: not run), `source`, `same_direction`, `within_twice`, `passes`, `verdict`."""
    return [{"name": row.published.name, "what": row.published.what, "published": [row.published.low, row.published.high],
             "ours": row.ours, "source": row.published.source, "same_direction": row.has_direction,
             "within_twice": row.has_size, "passes": row.passes, "verdict": row.text} for row in rows]


def text(rows: Sequence[Verdict]) -> str:
    wide = max(len(row.published.what) for row in rows)
    return "\n".join(f"{row.published.what:{wide}}  {_published(row):>12}  {_ours(row):>8}  {row.text}" for row in rows)


def markdown(rows: Sequence[Verdict], commits: Sequence[str], density: int = 1, facts: Sequence[Dict[str, Any]] = ()) -> str:
    parts = ["<!-- SPDX-License-Identifier: MIT -->", "# Does the model behave like a machine?", "",
             "Written by `tools/bench calibrate --report`; not edited by hand. What others measured on real machines, and what the lab's "
             "modelled time makes of the same comparison. A ratio above 1: the first is faster, or moved more. The loads are other ones "
             "and smaller; what must agree is the direction, and the size within twice (of a ratio, of what it is away from 1). The three "
             "speeds of moves agree because the model's constants were made from them.", "",
             f"Commit: {', '.join(commits) or 'none'}. Density: {density} (`tools/bench.d/README.md`).", "", "| | published | ours | | source |", "|---|---|---|---|---|"]
    parts += [f"| {row.published.what} | {_published(row)} | {_ours(row)} | {row.text} | {row.published.source} |" for row in rows]
    parts += ["", "## Behind them", "", FACTS, "", "| " + " | ".join(name for name, _, _ in COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    parts += ["| " + " | ".join(_show(fact[name], form) for _, name, form in COLUMNS) + " |" for fact in map(_flat, facts)]
    return "\n".join(parts) + "\n"


def _flat(fact: Dict[str, Any]) -> Dict[str, Any]:
    name = " ".join(filter(None, (fact["system"], fact["setting"], "THP" if fact["page_size"] == "THP" else "")))
    return {**fact, "run": name, "from": 100 * fact["tier_1_share"][0], "to": 100 * fact["tier_1_share"][1]}


def _show(value: Any, form: str) -> str:
    return "–" if value is None else format(value, form)


def _published(row: Verdict) -> str:
    low, high = row.published.low, row.published.high
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def _ours(row: Verdict) -> str:
    return "-" if row.ours is None else f"{row.ours:.2f}"
