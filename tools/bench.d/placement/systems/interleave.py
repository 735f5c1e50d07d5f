# SPDX-License-Identifier: MIT
"""Weighted interleave (kernel 6.9 and later): each node gets its share of the pages as they are touched; nothing moves."""
import sys
from pathlib import Path
from typing import List

from guest.waiting import Failed
from .base import System, write

WEIGHTS = "/sys/kernel/mm/mempolicy/weighted_interleave"
PROGRAM = Path(__file__).resolve().parents[3] / "guest/interleaved.py"


class WeightedInterleave(System):
    """The application is started under it. Knob: weights, of nodes 0, 1, ..., where 0 leaves a node out."""

    def launcher(self) -> List[str]:
        known = len(list(Path(WEIGHTS).glob("node[0-9]*")))
        if known != len(self.knobs["weights"]):
            raise Failed(f"weighted interleave: weights of {len(self.knobs['weights'])} nodes for a machine of {known}; "
                         "--setting and placement/settings.json have those of the four tiers")
        nodes = [node for node, weight in enumerate(self.knobs["weights"]) if weight]
        for node in nodes:
            write(f"{WEIGHTS}/node{node}", self.knobs["weights"][node])
        return [sys.executable, "-B", str(PROGRAM), ",".join(map(str, nodes))]
