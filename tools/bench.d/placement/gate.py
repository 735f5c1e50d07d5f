# SPDX-License-Identifier: MIT
"""No program may be worse off: which workloads end slower than if nothing had been done. Pure, and modelled time throughout."""
from typing import Any, Dict, List, Optional, Sequence

LIMIT = 1.02           # of first-touch's modelled time
FEW = 10_000           # operations; fewer of them, and which they were makes more than a hundredth
FEW_IN_ORDER = 100     # that are the same ones in both runs, as IN_ORDER says
SECONDS = 900          # what all of it may take on two CPUs
WORKLOADS = ("gups-stable", "gups-fits", "redis-zipf", "pagerank", "sort", "tpcc-postgresql", "tpcc-hsqldb")
IN_ORDER = ("tpcc-postgresql", "tpcc-hsqldb")  # each client draws with the same seed in every run
SYSTEMS = ("first-touch", "hm-keeper")
#: When, and by which figures of a row: of the operations that both did, per operation, and per user instruction where there are few.
FIGURES = {"over the whole window": ("common_operations", "per_operation", "modelled_time_vs_first_touch"),
           "in its last quarter": (None, "settled_per_operation", "settled_modelled_time_vs_first_touch")}
Row = Dict[str, Any]


def slower(rows: Sequence[Row], missing: Sequence[str] = ()) -> List[str]:
    """A line for each figure of HM-Keeper above LIMIT, and for each cell in `missing`, which proves nothing."""
    bases = {_place(row): row for row in rows if row["system"] == "first-touch"}
    found = []
    for row in rows:
        if row["system"] != "hm-keeper":
            continue
        for when, names in FIGURES.items():
            times = _times(row, bases.get(_place(row)), *names)
            if times is None or times > LIMIT:
                told = "nothing to compare with" if times is None else f"{times:.3f} times first-touch's time"
                found.append(f"{row['workload']}, {row['page_size']} pages: {told} {when}; at most {LIMIT:g}")
    return found + [f"{key}: no result" for key in missing]


def _place(row: Row) -> Any:
    return row["workload"], row["page_size"]


def _times(row: Row, base: Optional[Row], in_common: Optional[str], per_operation: str,
           by_instructions: str) -> Optional[float]:
    """Of first-touch's time: for the same operations, or as many, where both counted enough of them, or for as many user instructions."""
    common = row.get(in_common) if in_common else None
    if common and common["operations"] >= (FEW_IN_ORDER if row["workload"] in IN_ORDER else FEW):
        return common["time"]
    ours, theirs = row.get(per_operation), base and base.get(per_operation)
    if ours and theirs and min(ours["operations"], theirs["operations"]) >= FEW:
        return ours["application_ns"] / theirs["application_ns"]
    return row[by_instructions]
