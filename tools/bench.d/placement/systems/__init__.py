# SPDX-License-Identifier: MIT
"""The systems the benchmark compares, as they run inside the guest, by the first part of their names."""
from typing import Dict, Type

from .base import System
from .damon import Damon
from .hm_keeper import HmKeeper
from .interleave import WeightedInterleave
from .numa_balancing import NumaBalancing

#: `oracle` and `first-touch` do nothing here: the oracle is the workload itself, placing what it knows to be hot.
SYSTEMS: Dict[str, Type[System]] = {"first-touch": System, "oracle": System, "numa-balancing": NumaBalancing,
                                    "damon": Damon, "weighted-interleave": WeightedInterleave, "hm-keeper": HmKeeper}
