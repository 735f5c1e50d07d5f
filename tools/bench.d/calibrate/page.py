# SPDX-License-Identifier: MIT
"""The comparison as text, as objects and as docs/calibration.md. Pure."""
from typing import Any, Dict, List, Sequence

from verdict import Verdict


def objects(rows: Sequence[Verdict]) -> List[Dict[str, Any]]:
    """`name`, `what`, `published` (from, to), `ours` (null: not run), `source`, `same_direction`, `within_twice`, `passes`, `verdict`."""
    return [{"name": row.published.name, "what": row.published.what, "published": [row.published.low, row.published.high],
             "ours": row.ours, "source": row.published.source, "same_direction": row.has_direction,
             "within_twice": row.has_size, "passes": row.passes, "verdict": row.text} for row in rows]


def text(rows: Sequence[Verdict]) -> str:
    wide = max(len(row.published.what) for row in rows)
    return "\n".join(f"{row.published.what:{wide}}  {_published(row):>12}  {_ours(row):>8}  {row.text}" for row in rows)


def markdown(rows: Sequence[Verdict], commits: Sequence[str], density: int = 1) -> str:
    parts = ["<!-- SPDX-License-Identifier: MIT -->", "# Does the model behave like a machine?", "",
             "Written by `tools/bench calibrate --report`; not edited by hand. What others measured on real machines, and what the lab's "
             "modelled time makes of the same comparison. A ratio above 1: the first is faster, or moved more. The loads are other ones "
             "and smaller; what must agree is the direction, and the size within twice (of a ratio, of what it is away from 1). The three "
             "speeds of moves agree because the model's constants were made from them.", "",
             f"Commit: {', '.join(commits) or 'none'}. Density: {density} (`tools/bench.d/README.md`).", "", "| | published | ours | | source |", "|---|---|---|---|---|"]
    parts += [f"| {row.published.what} | {_published(row)} | {_ours(row)} | {row.text} | {row.published.source} |" for row in rows]
    return "\n".join(parts) + "\n"


def _published(row: Verdict) -> str:
    low, high = row.published.low, row.published.high
    return f"{low:.2f}" if low == high else f"{low:.2f} to {high:.2f}"


def _ours(row: Verdict) -> str:
    return "-" if row.ours is None else f"{row.ours:.2f}"
