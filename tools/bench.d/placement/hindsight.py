# SPDX-License-Identifier: MIT
"""The best static placement there could have been, from the counts per page of a run that moved nothing."""
from typing import Dict, List, Sequence

PAGE = 4096
RESERVE = 24 << 20  # what nobody can use of a tier, as the loads' own oracle assumes


def capacities(free: Sequence[int], resident: Sequence[int], order: Sequence[int]) -> List[int]:
    """Bytes of each tier, fastest first, that the application could have had."""
    return [max(0, free[node] + resident[node] - RESERVE) for node in order]


def shares(counts: Dict[int, int], room: Sequence[int], granule: int) -> List[float]:
    """Share of the misses per tier if the most missed pieces of `granule` bytes lay in the fastest tier, and so on.

    `counts`: misses by page number. A piece takes its whole size; the last tier takes what is left.
    """
    pages = granule // PAGE
    pieces: Dict[int, int] = {}
    for page, count in counts.items():
        pieces[page // pages] = pieces.get(page // pages, 0) + count
    ordered = sorted(pieces.values(), reverse=True)
    total = max(1, sum(ordered))
    found, at = [], 0
    for size in room[:-1]:
        fits = size // granule
        found.append(sum(ordered[at:at + fits]) / total)
        at += fits
    return [*found, sum(ordered[at:]) / total]
