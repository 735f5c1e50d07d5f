# SPDX-License-Identifier: MIT
"""What tools/bench search may try of each system: its grid, the settings known beforehand, and the draw of the rest."""
import hashlib
import json
import random
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, List, Sequence

from lab.errors import UsageError
from lab.kernels import GATES

import cells
from cells import MIB, Knobs

Axis = Sequence[Knobs]  # of which a setting takes one


def _axis(name: str, *values: Any) -> Axis:
    return [{name: value} for value in values]


NUMA_BALANCING: Sequence[Axis] = (
    _axis("mode", 1, 2, 3),
    [{"scan_delay_ms": 100, "scan_period_min_ms": 100, "scan_period_max_ms": 1000, "scan_size_mb": 1024},
     {"scan_delay_ms": 100, "scan_period_min_ms": 100, "scan_period_max_ms": 1000, "scan_size_mb": 256},
     {"scan_delay_ms": 1000, "scan_period_min_ms": 1000, "scan_period_max_ms": 4000, "scan_size_mb": 1024}],
    _axis("hot_threshold_ms", 50, 100, 200, 500, 1000),
    _axis("numa_balancing_promote_rate_limit_MBps", 30, 100, 300, 65536),
    _axis("watermark_scale_factor", 10, 100, 200, 500),  # of 10,000; the kernel's is 10
)
DAMON: Sequence[Axis] = (
    [{"sample_us": sample, "aggr_us": 20 * sample} for sample in (5000, 20_000, 50_000, 100_000, 200_000)],
    [{"min_nr_regions": low, "max_nr_regions": high} for low, high in ((10, 1000), (100, 1000), (400, 2000), (100, 10_000))],
    _axis("hot_percent", 5, 10, 20, 40),
    _axis("cold_age", 0, 2, 5, 10),
    _axis("quota_bytes", 0, 50 * MIB, 100 * MIB, 200 * MIB),
    _axis("young", False, True),
    [{}, *_axis("apply_ms", 1000)],
    [{"cold_percent": 0, "quota_ms": 0, "weights": [0, 1, 1]}],
)
DAMON_SINCE_6_16: Sequence[Axis] = ([{}, *_axis("goals", [9970, 50])], [{}, *_axis("tune", [400, 3, 5000, 10_000_000])])
INTERLEAVE: Sequence[Axis] = (
    _axis("weights", *(list(weights) for weights in product((1, 2, 4, 8, 16, 32), (1, 2, 4, 8, 16), (0, 1, 2, 4), (0, 1)))),)
HM_KEEPER: Sequence[Axis] = (
    _axis("mode", "manage"),
    _axis("interval", "1s", "2s", "4s"),
    _axis("overhead", "5%", "10%", "20%"),
    _axis("promote_limit", "50MiB", "100MiB", "200MiB", "400MiB"),
    _axis("alpha", "0.25", "0.5", "0.75"),
    _axis("horizon", "15", "60", "240"),
    _axis("num_scans", "3", "5"),
)
GRIDS = {"numa-balancing": NUMA_BALANCING, "damon": DAMON, "weighted-interleave": INTERLEAVE, "hm-keeper": HM_KEEPER}


@dataclass(frozen=True)
class Setting:
    """One to try: `name` is one that people recommend, or "drawn"; its knobs are its identity."""

    system: str
    name: str
    knobs: Knobs

    @property
    def variant(self) -> str:
        """Names its cells; other knobs are other cells."""
        return "s" + hashlib.sha256(json.dumps(self.knobs, sort_keys=True).encode()).hexdigest()[:10]


def axes(system: str, kernel: str) -> Sequence[Axis]:
    """The grid of a system on a series of kernels."""
    return (*GRIDS[system], *(DAMON_SINCE_6_16 if system == "damon" and kernel not in GATES else ()))


def draw(system: str, count: int, seed: int, kernel: str) -> List[Setting]:
    """`count` different settings: those of cells.py that have a name, then drawn ones; the same for the same seed.

    Raises UsageError if there are not so many.
    """
    grid = axes(system, kernel)
    found = [Setting(system, name, knobs) for name, knobs in cells.NAMED[system].items()][:count]
    most = prod(len(axis) for axis in grid)
    if not 1 <= count <= most:
        raise UsageError(f"--settings {count}: the grid of {system} has 1 to {most}; choose a number between them")
    dice = random.Random(f"{system} {seed}")
    while len(found) < count:
        knobs = {name: value for axis in grid for name, value in dice.choice(axis).items()}
        if all(knobs != other.knobs for other in found):
            found.append(Setting(system, "drawn", knobs))
    return found
