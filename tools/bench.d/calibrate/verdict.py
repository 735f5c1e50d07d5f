# SPDX-License-Identifier: MIT
"""Ours beside a published figure: the same direction, and within twice the size. Pure."""
from dataclasses import dataclass
from typing import Dict, List, Optional, Sequence

from world import Published

TIMES = 2.0    # how far sizes may be apart
NOTHING = 0.005  # nearer to 1 than this, a ratio points nowhere


@dataclass(frozen=True)
class Verdict:
    published: Published
    ours: Optional[float]  # None: not run
    but_for: Optional[float] = None  # ours without what the published reason names

    @property
    def has_direction(self) -> bool:
        """Whether ours is on the same side of 1; of a value, whether it is one."""
        if self.ours is None:
            return False
        if not self.published.is_ratio:
            return self.ours > 0
        return (self.ours - 1) * (self.published.high - 1) > 0 and abs(self.ours - 1) >= NOTHING

    @property
    def has_size(self) -> bool:
        """Whether ours, or what it is away from 1, is from half the least published to twice the most."""
        if self.ours is None:
            return False
        sizes = [self.published.low, self.published.high]
        if self.published.is_ratio:
            sizes = [abs(size - 1) for size in sizes]
        ours = abs(self.ours - 1) if self.published.is_ratio else self.ours
        return min(sizes) / TIMES <= ours <= max(sizes) * TIMES

    @property
    def is_explained(self) -> bool:
        """Whether a reason is given, and holds where it can be tested: without what it names ours agrees, or ours is nearer to 1."""
        told = self.published
        if not told.unlike or self.ours is None:
            return False
        if told.makes_less:
            return abs(self.ours - 1) < min(abs(size - 1) for size in (told.low, told.high))
        without = Verdict(told, self.but_for)
        return not told.but_for or (without.has_direction and without.has_size)

    @property
    def text(self) -> str:
        if self.ours is None:
            return "not run"
        if not self.has_direction:
            return "OTHER DIRECTION"
        if self.has_size:
            return "within twice"
        without = "" if self.but_for is None else f" ({self.but_for:.2f} without it)"
        return f"other size: {self.published.unlike}{without}" if self.is_explained else "OTHER SIZE, not explained"

    @property
    def passes(self) -> bool:
        return self.has_direction and (self.has_size or self.is_explained)


def verdicts(figures: Sequence[Published], ours: Dict[str, Optional[float]]) -> List[Verdict]:
    """One for each published figure. Raises KeyError for one that nobody works out."""
    return [Verdict(one, ours[one.name], ours[one.but_for] if one.but_for else None) for one in figures]
