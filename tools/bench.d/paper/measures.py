# SPDX-License-Identifier: MIT
"""Figures of finished runs that several experiments ask for; None where a run is missing. Pure."""
from statistics import mean
from typing import Any, Dict, List, Optional, Sequence, Tuple

PACE = "settled_modelled_ns_per_kilo_instruction"
Run = Optional[Dict[str, Any]]
Range = Tuple[int, int]


def per_operation(run: Run) -> Optional[float]:
    """Modelled ns of the application per operation, settled: for servers, which execute more when fewer wait for them."""
    return ((run["figures"]["settled_per_operation"] or {}).get("application_ns")) if run else None


def pace(run: Run) -> Optional[float]:
    """Modelled ns per thousand of its instructions, settled: for programs that execute as many for the same work. They report their
    operations once a second, too seldom for a quarter of a window."""
    return run["figures"][PACE] if run else None


def faster(ours: Run, other: Run, by: Any = pace) -> Optional[float]:
    """Percent more work of `ours` in the same modelled time."""
    of_ours, of_other = by(ours), by(other)
    return 100 * (of_other / of_ours - 1) if of_ours and of_other else None


def f1(recall: float, precision: float) -> float:
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def mean_f1(results: Sequence[Dict[str, Any]]) -> float:
    """Over all intervals of all of them, as tests/sim has it."""
    return mean(f1(r, p) for one in results for r, p in zip(one["recall"], one["precision"]))


def found_in(result: Dict[str, Any], least: float = 0.9) -> Optional[int]:
    """The interval from which on recall and precision are both at least so much, to the end."""
    good = [min(pair) >= least for pair in zip(result["recall"], result["precision"])]
    since = len(good)
    while since and good[since - 1]:
        since -= 1
    return since + 1 if since < len(good) else None


def hottest(ranking: Sequence[Sequence[float]], size: int) -> List[Range]:
    """The hottest `size` bytes of a simulated ranking; of equals the first, the last of them cut."""
    taken: List[Range] = []
    for start, end, _ in sorted(ranking, key=lambda region: (-region[2], region[0])):
        if size <= 0:
            break
        taken.append((int(start), int(min(end, start + size))))
        size -= taken[-1][1] - taken[-1][0]
    return taken


def differing(one: Sequence[Sequence[int]], other: Sequence[Sequence[int]]) -> float:
    """Of the bytes that either list of ranges holds, the percentage that only one of them does."""
    edges: List[Tuple[int, int, int]] = []
    for which, ranges in enumerate((one, other)):
        for start, end in ranges:
            edges += [(start, which, 1), (end, which, -1)]
    inside, at, either, both = [0, 0], 0, 0, 0
    for where, which, change in sorted(edges):
        either += (where - at) * bool(inside[0] or inside[1])
        both += (where - at) * bool(inside[0] and inside[1])
        inside[which] += change
        at = where
    return 100 * (1 - both / either) if either else 0.0
