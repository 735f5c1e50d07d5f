# SPDX-License-Identifier: MIT
"""The numbers of the demo, in one place; the guest gets them as JSON."""
from dataclasses import asdict, dataclass
from typing import Any, Dict


@dataclass(frozen=True)
class Plan:
    """What is filled, how it is driven, how long is measured."""

    value_bytes: int = 2040         # with Redis' header one 2048-byte slot: two to a page
    key_overhead_bytes: int = 80    # key, entry, object and table slot, roughly
    fill_tier1_times: float = 3.0   # data / memory free in tier 1
    read_percent: int = 95
    pipeline: int = 8               # small: replies under way must not outgrow the modelled cache
    in_place: bool = True           # SETRANGE: with SET the allocator scatters hot values, see tools/load
    # The testbed's tier 1 is some 2,700 times as large as its last-level cache. Ours is 512 MiB.
    llc_bytes: int = 512 << 10
    interval: str = "2s"
    promote_limit: str = "200MiB"
    warm_up_intervals: int = 2      # not counted: the cache and the profiler's average fill up
    measured_intervals: int = 5     # per mode
    settle_at_least: int = 6        # managed intervals before the share may count as stable
    settle_at_most: int = 35
    settle_window: int = 4          # intervals whose tier-1 share must lie within ...
    settle_spread: float = 0.03     # ... this much of each other
    guest_seconds: int = 420        # whole life of the guest

    def for_guest(self) -> Dict[str, Any]:
        return asdict(self)


# What must hold (the acceptance of the demo).
TIER1_SHARE_AT_LEAST = 0.80
TIER1_GAIN_AT_LEAST = 2.0
