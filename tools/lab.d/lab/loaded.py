# SPDX-License-Identifier: MIT
"""How a node's latency grows as its bandwidth fills: points of a curve, straight lines between them.

    curve(item).factor(0.75)    # 1.45 by default
"""
from dataclasses import dataclass
from typing import Tuple

from .document import Item
from .quantity import PERCENT

# Beyond its bandwidth a node has a queue: the latency rises until nobody asks for more. As steep as this, the load
# that comes out stays below 1.01 of the bandwidth, for a queue of up to ten times the saturated latency.
BEYOND = 1000.0


@dataclass(frozen=True)
class Curve:
    """Points (load, latency over the idle latency), from (0, 1) to the one at full bandwidth."""

    points: Tuple[Tuple[float, float], ...]

    def factor(self, load: float) -> float:
        """Latency at this share of the bandwidth, over the idle one."""
        for (low, before), (high, after) in zip(self.points, self.points[1:]):
            if load <= high:
                return before + (after - before) * (load - low) / (high - low)
        return self.points[-1][1] * (1 + BEYOND * (load - 1))

    def __str__(self) -> str:
        return ", ".join(f"{load:.0%} {factor:.0%}" for load, factor in self.points[1:])


# Flat to the half, then ever steeper, 2.5 times at saturation: Colloid (SOSP 2024) for the last, the shape is ours.
DEFAULT_CURVE = Curve(((0.0, 1.0), (0.5, 1.1), (0.75, 1.45), (0.9, 2.0), (1.0, 2.5)))


def curve(item: Item) -> Curve:
    """From a mapping of shares of the bandwidth to latencies, both in percent. Raises UsageError."""
    points = [(0, 100)]
    for key, value in item.pairs():
        load, latency = key.quantity(PERCENT), value.quantity(PERCENT)
        if not points[-1][0] < load <= 100:
            key.fail(f"loads must grow up to 100%, {load}% follows {points[-1][0]}%")
        if latency < points[-1][1]:
            value.fail(f"a latency never falls as the load grows, {latency}% follows {points[-1][1]}%")
        points.append((load, latency))
    if points[-1][0] != 100:
        item.fail("must end with the latency at 100%; add a line like 100%: 250%")
    return Curve(tuple((load / 100, latency / 100) for load, latency in points))
