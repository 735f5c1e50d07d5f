# SPDX-License-Identifier: MIT
"""Which cells the comparison needs, and what they come to. Everything timed is modelled."""
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

from lab.prices import COPY_MBPS, HUGE, SMALL, move_seconds  # noqa: E402
import cells  # noqa: E402
import like  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

KERNEL, GIB = "6.12", 1 << 30
Key = Tuple[str, str, str, str]  # workload, system, setting, page size
NOTHING = ("first-touch", "")
#: The ratio of these two runs, by time or by bytes moved.
FASTER: Dict[str, Tuple[Key, Key]] = {
    "selection": (("gups-levels", "numa-balancing", "like-selection", "4K"), ("gups-levels", "numa-balancing", "like-base", "4K")),
    "limit": (("gups-levels", "numa-balancing", "like-limited", "4K"), ("gups-levels", "numa-balancing", "like-selection", "4K")),
    "tpp": (("gups-stable", "numa-balancing", "like-selection", "4K"), ("gups-stable", *NOTHING, "4K")),
    "thp": (("gups-fits", *NOTHING, "THP"), ("gups-fits", *NOTHING, "4K")),
    "damon": (("memcached-zipf", "damon", "damo", "4K"), ("memcached-zipf", *NOTHING, "4K")),
    "nb-default": (("memcached-zipf", "numa-balancing", "default", "4K"), ("memcached-zipf", *NOTHING, "4K")),
    "hmsdk": (("memcached-zipf", "damon", "hmsdk", "4K"), ("memcached-zipf", *NOTHING, "4K")),
}
STEADY = ("tpp",)  # by the last quarter: measured on a fleet that had run for long; the others are scores of whole runs
#: Measured seconds, where the load's own would be too few to place memory, or more than one needs that stays where it is.
WINDOWS = {"like-base": 30.0, "like-selection": 30.0, "like-limited": 30.0, "": 8.0}
MOVED = {"selection-moved": "selection", "limit-moved": "limit"}
FOLIOS = {"move-4K": SMALL, "move-64K": 65536, "move-2M": HUGE}


def plan(density: int = 1) -> Dict[Key, cells.Cell]:
    """Every run that a ratio needs, once."""
    return {key: _cell(*key, density) for pair in FASTER.values() for key in pair}


def _cell(workload: str, system: str, setting: str, pages: str, density: int) -> cells.Cell:
    knobs = like.SETTINGS[setting] if setting in like.SETTINGS else cells.settings(system)[setting]
    window = WINDOWS.get(setting, WORKLOADS[workload].window_seconds)
    return cells.Cell(workload, system, setting, KERNEL, pages, 1, window, knobs, density=density)


def of(runs: Dict[Key, Any], moves: List[Dict[str, Any]]) -> Dict[str, Optional[float]]:
    """By the names of world.py: from finished cells, and from the rows of tools/bench moves; None where a run is missing."""
    found: Dict[str, Optional[float]] = {name: GIB / move_seconds(GIB, folio, COPY_MBPS) / 1e9 for name, folio in FOLIOS.items()}
    for name, (first, second) in FASTER.items():
        found[name] = _ratio(runs.get(second), runs.get(first), _settled_ns if name in STEADY else _application_ns)
        found[f"{name}-user"] = _ratio(runs.get(second), runs.get(first), _user_ns)
    for name, compared in MOVED.items():
        first, second = FASTER[compared]
        found[name] = _ratio(runs.get(first), runs.get(second), _promoted_pace)
    found["nomad"] = _beside(moves)
    return found


def facts(runs: Dict[Key, Any]) -> List[Dict[str, Any]]:
    """What lies behind the ratios, a row for each run: so that a reason can be looked up."""
    return [_fact(key, run) for key, run in runs.items()]


def _fact(key: Key, run: Any) -> Dict[str, Any]:
    own, counted = run["figures"], run["figures"]["counters"]
    whole, settled = own["per_operation"], own["settled_per_operation"]
    seconds = own["tier_share_over_time"]["seconds"]
    pages = WORKLOADS[key[0]].memory_bytes / SMALL
    return {
        "workload": key[0], "system": key[1], "setting": key[2], "page_size": key[3],
        "operations_per_page": whole["operations"] / pages,
        "guest_seconds_per_modelled": (seconds[-1] - seconds[0]) / (whole["application_ns"] * whole["operations"] / 1e9),
        "tier_1_share": [own["tier_share_over_time"]["shares"][0][0], own["tier_share"][0]],
        "application_ns": whole["application_ns"], "settled_application_ns": settled["application_ns"],
        "kernel_percent": 100 * whole["application_kernel_ns"] / whole["application_ns"],
        "hint_faults_per_kilo_operation": 1e3 * counted["hint_faults"] / whole["operations"] if "hint_faults" in counted else None,
        "promoted_bytes_per_operation": counted["promoted_bytes"] / whole["operations"] if "promoted_bytes" in counted else None,
        "moved_bytes_per_operation": counted["moved_bytes"] / whole["operations"],
    }


def _application_ns(run: Any) -> Optional[float]:
    """Per operation, for servers spend more instructions on one when fewer wait for them; over the whole window, as scores of others are."""
    return (run["figures"]["per_operation"] or {}).get("application_ns")


def _settled_ns(run: Any) -> Optional[float]:
    return (run["figures"]["settled_per_operation"] or {}).get("application_ns")


def _user_ns(run: Any) -> Optional[float]:
    """The program's own part of it."""
    whole = run["figures"]["per_operation"] or {}
    return whole["application_ns"] - whole["application_kernel_ns"] if whole else None


def _promoted_pace(run: Any) -> Optional[float]:
    """Bytes promoted in a modelled second of the application."""
    whole = run["figures"]["per_operation"] or {}
    return run["figures"]["counters"]["promoted_bytes"] / (whole["application_ns"] * whole["operations"]) if whole else None


def _ratio(above: Any, below: Any, figure: Any) -> Optional[float]:
    of_above, of_below = (figure(run) if run else None for run in (above, below))
    return of_above / of_below if of_above and of_below else None


def _beside(moves: List[Dict[str, Any]]) -> Optional[float]:
    """Accesses a millisecond during the move: hmkd's way over move_pages(2)'s."""
    speed = {row["method"]: row["accesses"] / row["move_ms"] for row in moves if row["move_ms"]}
    return speed["hm-keeper"] / speed["move_pages"] if {"hm-keeper", "move_pages"} <= speed.keys() else None
