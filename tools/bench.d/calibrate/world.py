# SPDX-License-Identifier: MIT
"""What others measured on real machines, as ratios where two runs were compared, with where it stands. Pure data."""
from dataclasses import dataclass

LKML_MOVES = "move_pages(2) on Zen 3, LKML, March 2026"
LKML_SELECTION = "pmbench, DRAM and PMEM of two sockets, cover letter of hot page selection, LKML 2204.1/00143"
NOT_SETTLED = ("a third of a hint fault for each page is all a window holds, so both serve about as much from the fast tier in the end; "
               "what shows is the moves that were saved")


@dataclass(frozen=True)
class Published:
    """A figure from `low` to `high`; ratios are above 1 where the first of the two is faster, or moved more."""

    name: str
    what: str
    low: float
    high: float
    source: str
    is_ratio: bool = True
    unlike: str = ""  # why ours may be of another size
    but_for: str = ""  # of ours.of(): the same comparison without what that reason names, which must agree
    makes_less: bool = False  # it explains why ours is nearer to 1, and nothing else


FIGURES = (
    Published("move-4K", "moves of 4 KiB pages, GB/s", 3.55, 3.55, LKML_MOVES, False),
    Published("move-64K", "moves of 64 KiB folios, GB/s", 6.16, 6.16, LKML_MOVES, False),
    Published("move-2M", "moves of 2 MiB pages, GB/s", 10.88, 10.88, LKML_MOVES, False),
    Published("thp", "GUPS in one tier, 2 MiB pages over 4 KiB", 1.20, 1.40, "usual on servers; no one source"),
    Published("selection", "NUMA balancing, hot page selection over none", 165.7 / 146.9, 165.7 / 146.9, LKML_SELECTION,
              unlike=NOT_SETTLED, makes_less=True),
    Published("selection-moved", "... its bytes moved", 544.0 / 725.6, 544.0 / 725.6, LKML_SELECTION),
    Published("limit", "... rate limit and automatic threshold over selection alone", 170.5 / 165.7, 170.5 / 165.7, LKML_SELECTION),
    Published("limit-moved", "... its bytes moved", 136.9 / 544.0, 136.9 / 544.0, LKML_SELECTION),
    Published("tpp", "TPP over Linux without tiering", 1.18, 1.18, "a fleet in production, ASPLOS 2023, arXiv 2206.02878",
              unlike="the fast tier's share still rises as the window ends", makes_less=True),
    Published("damon", "DAMON, tuned by itself, over no tiering", 1.0442, 1.0442, "Taobench-like, linux-mm, March 2025",
              unlike="what is gained is the kernel's part of an operation, 4343 to 3607 ns, for its socket buffers find the room that is freed in the "
                     "fast tier; the program's own part gains nothing"),
    Published("nb-default", "NUMA balancing as it comes over no tiering", 0.9266, 0.9266, "Taobench-like, linux-mm, March 2025"),
    Published("hmsdk", "HMSDK over no tiering", 1 / 0.66, 1 / 0.66, "HiBench RandomForest, two CXL cards, HMSDK's wiki"),
    Published("nomad", "a program while its pages are copied beside it over while it waits for them", 1.0, 6.0,
              "Nomad over TPP under memory pressure, \"up to\", OSDI 2024"),
)
