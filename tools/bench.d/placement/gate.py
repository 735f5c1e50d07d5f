# SPDX-License-Identifier: MIT
"""No program may be worse off: which workloads end slower than if nothing had been done. Pure."""
from typing import Any, Dict, List, Sequence

LIMIT = 1.02  # of first-touch's modelled time
WORKLOADS = ("gups-stable", "gups-fits", "redis-zipf", "memcached-zipf", "pagerank", "sort", "tpcc-postgresql", "tpcc-hsqldb")
SYSTEMS = ("first-touch", "hm-keeper")
FIGURES = {"modelled_time_vs_first_touch": "over the whole window", "settled_modelled_time_vs_first_touch": "in its last quarter"}


def slower(rows: Sequence[Dict[str, Any]], missing: Sequence[str] = ()) -> List[str]:
    """A line for each figure of HM-Keeper above LIMIT, and for each cell in `missing`, which proves nothing."""
    found = [f"{row['workload']}, {row['page_size']} pages: {row[figure]:.3f} times first-touch's time {when}; at most {LIMIT:g}"
             for row in rows if row["system"] == "hm-keeper" for figure, when in FIGURES.items()
             if row[figure] is not None and row[figure] > LIMIT]
    found += [f"{row['workload']}, {row['page_size']} pages: nothing to compare with" for row in rows
              if row["system"] == "hm-keeper" and any(row[figure] is None for figure in FIGURES)]
    return found + [f"{key}: no result" for key in missing]
