# SPDX-License-Identifier: MIT
"""The live table: one line per interval."""
from typing import Any, Dict, List

from lab import Machine

MODE, CELL = 12, 6


def header(machine: Machine) -> List[str]:
    """Two lines: what, and for which tier."""
    tiers = "".join(f"{tier:>{CELL}}" for tier in range(1, len(machine.nodes) + 1))
    width = len(tiers)
    return ["",
            f"{'':>4} {'':<{MODE}} {'accesses by tier, %':^{width}} | {'resident by tier, MiB':^{width}} | "
            f"{'moved, MiB':^15} | {'profiling':^13} | {'load':>8}",
            f"{'no':>4} {'mode':<{MODE}} {tiers} | {tiers} | {'up':>7} {'down':>7} | {'%':>5} {'of max':>7} | {'ops/s':>8}"]


def row(event: Dict[str, Any]) -> str:
    """One interval; promoted and demoted are those of this interval."""
    shares = "".join(f"{100 * share:>{CELL}.1f}" for share in event["shares"])
    resident = "".join(f"{size >> 20:>{CELL}}" for size in event["resident_bytes"])
    return (f"{event['number']:>4} {event['mode']:<{MODE}} {shares} | {resident} | "
            f"{event['promoted_bytes'] >> 20:>7} {event['demoted_bytes'] >> 20:>7} | "
            f"{event['profiling_percent']:>5.2f} {event['budget_percent']:>7.2f} | {event['ops_per_second']:>8,.0f}"
            f"{'  *' if event['is_measured'] else ''}")
