# SPDX-License-Identifier: MIT
"""Which cells the comparison needs, and what they come to. Everything timed is modelled."""
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

from lab.prices import COPY_MBPS, HUGE, SMALL, move_seconds  # noqa: E402
import cells  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

KERNEL, GIB = "6.12", 1 << 30
Key = Tuple[str, str, str, str]  # workload, system, setting, page size
NOTHING = ("first-touch", "")
#: The ratio of these two runs, by time or by bytes moved.
FASTER: Dict[str, Tuple[Key, Key]] = {
    "thp": (("gups-fits", *NOTHING, "THP"), ("gups-fits", *NOTHING, "4K")),
    "selection": (("gups-stable", "numa-balancing", "mode-2", "4K"), ("gups-stable", "numa-balancing", "unselected", "4K")),
    "limit": (("gups-stable", "numa-balancing", "mode-2-limited", "4K"), ("gups-stable", "numa-balancing", "mode-2", "4K")),
    "tpp": (("memcached-zipf", "numa-balancing", "mode-2", "4K"), ("memcached-zipf", *NOTHING, "4K")),
    "damon": (("memcached-zipf", "damon", "damo", "4K"), ("memcached-zipf", *NOTHING, "4K")),
    "nb-default": (("memcached-zipf", "numa-balancing", "default", "4K"), ("memcached-zipf", *NOTHING, "4K")),
    "hmsdk": (("memcached-zipf", "damon", "hmsdk", "4K"), ("memcached-zipf", *NOTHING, "4K")),
}
MOVED = {"selection-moved": "selection", "limit-moved": "limit"}
FOLIOS = {"move-4K": SMALL, "move-64K": 65536, "move-2M": HUGE}


def plan(density: int = 1) -> Dict[Key, cells.Cell]:
    """Every run that a ratio needs, once."""
    return {key: _cell(*key, density) for pair in FASTER.values() for key in pair}


def _cell(workload: str, system: str, setting: str, pages: str, density: int) -> cells.Cell:
    return cells.Cell(workload, system, setting, KERNEL, pages, 1, WORKLOADS[workload].window_seconds,
                      cells.settings(system)[setting], density=density)


def of(runs: Dict[Key, Any], moves: List[Dict[str, Any]]) -> Dict[str, Optional[float]]:
    """By the names of world.py: from finished cells, and from the rows of tools/bench moves; None where a run is missing."""
    found: Dict[str, Optional[float]] = {name: GIB / move_seconds(GIB, folio, COPY_MBPS) / 1e9 for name, folio in FOLIOS.items()}
    for name, (first, second) in FASTER.items():
        found[name] = _ratio(runs.get(second), runs.get(first), _application_ns)
    for name, compared in MOVED.items():
        first, second = FASTER[compared]
        found[name] = _ratio(runs.get(first), runs.get(second), lambda run: run["figures"]["bytes_migrated"])
    found["nomad"] = _beside(moves)
    return found


def _application_ns(run: Any) -> Optional[float]:
    """Per operation: servers spend more instructions on an operation when fewer wait for them."""
    return (run["figures"]["settled_per_operation"] or {}).get("application_ns")


def _ratio(above: Any, below: Any, figure: Any) -> Optional[float]:
    of_above, of_below = (figure(run) if run else None for run in (above, below))
    return of_above / of_below if of_above and of_below else None


def _beside(moves: List[Dict[str, Any]]) -> Optional[float]:
    """Accesses a millisecond during the move: hmkd's way over move_pages(2)'s."""
    speed = {row["method"]: row["accesses"] / row["move_ms"] for row in moves if row["move_ms"]}
    return speed["hm-keeper"] / speed["move_pages"] if {"hm-keeper", "move_pages"} <= speed.keys() else None
