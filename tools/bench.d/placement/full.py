# SPDX-License-Identifier: MIT
"""The full table: which cells it has, how often each runs, and about how long they take."""
import dataclasses
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence, Tuple

import cells
from workloads import WORKLOADS

#: What README.md quotes, each run five times.
QUOTED = ("gups-mixed", "redis-latest", "bfs", "tpcc-postgresql")
#: What else people run: more or less hot than fits, by degrees, alike, on both sockets, two at once, a JVM, many backends. The
#: workloads that are in neither are like one of these, and there by --workload.
OTHERS = ("needle", "gups-large", "gups-fits", "gups-phases", "gups-sockets", "gups-two", "redis-zipf", "sort", "stream",
          "tpcc-postgresql-40", "tpcc-hsqldb")
QUOTED_RUNS, OTHER_RUNS = 5, 3
STATIC = ("first-touch", "weighted-interleave", "oracle")  # nothing moves by itself: one run is like another
MOVERS = ("numa-balancing", "damon", "hm-keeper")
#: Runs of each in --headline, which is a part of the full table.
HEADLINE = {"first-touch": 1, "numa-balancing": 2, "damon": 2, "hm-keeper": 3}
VARIED = tuple(f"hm-keeper/{name}" for name in cells.VARIATIONS)


@dataclass(frozen=True)
class Part:
    """Some of the table: workloads by systems; THP is as Debian ships it, `always`."""

    workloads: Tuple[str, ...]
    systems: Tuple[str, ...]
    pages: str
    runs: int = 1
    settings: Tuple[str, ...] = ()    # the tuned ones
    window: Optional[float] = None    # the workload's own
    density: int = 1


PARTS = (
    Part(QUOTED, ("first-touch", *MOVERS), "THP", QUOTED_RUNS),
    Part(QUOTED, ("first-touch",), "4K"),
    Part(QUOTED, MOVERS, "4K", OTHER_RUNS),
    Part(OTHERS, MOVERS, "THP", OTHER_RUNS),
    Part((*QUOTED, *OTHERS), STATIC, "THP"),
    # As it ships: 5 % and 10 s, four of them. And with twice the work in a second.
    Part(("redis-zipf",), ("first-touch",), "THP", window=40.0),
    Part(("redis-zipf",), ("hm-keeper",), "THP", OTHER_RUNS, ("", "shipped"), window=40.0),
    Part(("gups-mixed", "redis-zipf"), ("first-touch", *MOVERS), "THP", density=2),
)


def plan(kernel: str, parts: Sequence[Part] = PARTS) -> List[cells.Cell]:
    """All cells, each once, those of one part together."""
    found: Dict[str, cells.Cell] = {}
    for part in parts:
        for cell in cells.plan(WORKLOADS, part.workloads, part.systems, part.pages, part.runs, False, kernel, part.window, part.settings):
            cell = dataclasses.replace(cell, density=part.density)
            found.setdefault(cell.key, cell)
    return list(found.values())


def headline(kernel: str) -> List[cells.Cell]:
    """What README.md quotes, in an hour: of the full table's runs the first ones."""
    quoted = [part for part in PARTS if part.workloads == QUOTED]
    return [cell for cell in plan(kernel, quoted) if cell.repeat <= HEADLINE[cell.system]]


#: CPU seconds of the host: boot and end; filling the memory, and a second of the guest's clock, by how a workload's name begins. Measured
#: of GUPS, redis-server and BFS; the others by how much longer than those they took in an earlier table.
BOOT = 28.0
COSTS = {"redis": (60.0, 2.4), "memcached": (50.0, 2.4), "tpcc": (50.0, 2.4), "bfs": (30.0, 5.0), "sssp": (32.0, 5.0), "pagerank": (30.0, 5.0),
         "": (8.0, 3.4)}


def seconds(cell: cells.Cell) -> float:
    """About how long a cell takes on a core of its own."""
    fill, second = next(known for name, known in COSTS.items() if cell.workload.startswith(name))
    return BOOT + fill + cell.settle_seconds + second * cell.window_seconds * cell.density
