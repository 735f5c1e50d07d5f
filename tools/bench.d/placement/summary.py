# SPDX-License-Identifier: MIT
"""The table in half a page: which programs HM-Keeper makes faster, which slower, why, and what it costs. Pure."""
from statistics import median
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

Row = Dict[str, Any]
NOTHING = 0.02  # of first-touch's time: less is no difference
TIME, WHOLE = "settled_operation_time_vs_first_touch", "operation_time_vs_first_touch"
PEERS = ("numa-balancing", "damon", "weighted-interleave")
PAGES = (("THP", "THP as Debian ships it"), ("4K", "4 KiB pages"))
PARTS = {"instructions": "executing", "random": "misses", "streamed": "streams", "walks": "page walks", "write_backs": "write-backs"}


class Comparison(NamedTuple):
    """HM-Keeper on one workload, beside first-touch and the fastest peer that ran."""

    ours: Row
    base: Row
    peer: Optional[Row]


def lines(rows: Sequence[Row]) -> List[str]:
    """Markdown; of the runs with the workload's own density that count operations."""
    parts: List[str] = ["## In short", ""]
    for pages, name in PAGES:
        found = comparisons(rows, pages)
        if found:
            parts += [f"**{name}**, {len(found)} workload{'s' if len(found) > 1 else ''}; the application's modelled time for an operation "
                      "once settled, first-touch = 1:", "", *_verdicts(found), *_costs(found), *_peers(found), ""]
    return parts if len(parts) > 2 else []


def comparisons(rows: Sequence[Row], pages: str) -> List[Comparison]:
    """One for each workload: of the windows it ran with, the one most systems ran with."""
    groups: Dict[Tuple[str, float], Dict[str, Row]] = {}
    for row in rows:
        if row["page_size"] == pages and row["density"] == 1 and row["system"] not in ("oracle",) and row[TIME] is not None \
                and not (row["system"] == "hm-keeper" and row["settings"]["variant"]):
            groups.setdefault((row["workload"], row["settings"]["window_seconds"]), {})[row["system"]] = row
    widest: Dict[str, Dict[str, Row]] = {}
    for (workload, _), systems in groups.items():
        if len(systems) > len(widest.get(workload, {})):
            widest[workload] = systems
    return [Comparison(systems["hm-keeper"], systems["first-touch"], _fastest_peer(systems))
            for systems in widest.values() if {"hm-keeper", "first-touch"} <= set(systems)]


def _fastest_peer(systems: Dict[str, Row]) -> Optional[Row]:
    peers = [systems[name] for name in PEERS if name in systems]
    return min(peers, key=lambda row: row[TIME]) if peers else None


def difference(row: Row) -> int:
    """-1: faster than first-touch in every run, beyond NOTHING; 1: slower in every run; 0: neither."""
    least, most = row["ranges"][TIME] or (row[TIME], row[TIME])
    return -1 if most < 1 - NOTHING else int(least > 1 + NOTHING)


def _verdicts(found: Sequence[Comparison]) -> List[str]:
    def of(sign: int) -> List[Comparison]:
        return sorted((one for one in found if difference(one.ours) == sign), key=lambda one: one.ours[TIME])
    gains, losses, others = of(-1), of(1), of(0)
    return [f"- Gain: {'; '.join(map(_why, gains)) or 'none'}.", f"- Lose: {'; '.join(map(_why, reversed(losses))) or 'none'}.",
            f"- No difference beyond {100 * NOTHING:g} % in every run: {', '.join(map(_named, others)) or 'none'}."]


def _named(one: Comparison) -> str:
    return f"{one.ours['workload']} {one.ours[TIME]:.2f}"


def _why(one: Comparison) -> str:
    """What of an operation's time changed most, and by how much: that is the reason, as far as the model has one."""
    ours, base = (row["settled_per_operation"]["application_parts_ns"] for row in (one.ours, one.base))
    faster = difference(one.ours) < 0
    part = (min if faster else max)(PARTS, key=lambda name: ours[name] - base[name])
    kernel = [row["settled_per_operation"]["application_kernel_ns"] for row in (one.base, one.ours)]
    of_kernel = f", of it the kernel {kernel[0]:.0f} to {kernel[1]:.0f} ns" if part == "instructions" else ""
    shares = [100 * row["tier_share"][0] for row in (one.base, one.ours)]
    return (f"{_named(one)} ({PARTS[part]} {base[part]:.0f} to {ours[part]:.0f} ns{of_kernel}; "
            f"tier 1 serves {shares[0]:.0f} to {shares[1]:.0f} %)")


def _costs(found: Sequence[Comparison]) -> List[str]:
    used = {one.ours["workload"]: 100 * one.ours["per_operation"]["service_cpu_ns"] / one.ours["per_operation"]["application_ns"]
            for one in found if one.ours["per_operation"]}
    if not used:
        return []
    most = max(used, key=lambda name: used[name])
    paid = [one.ours["paid_seconds"] for one in found if one.ours["paid_seconds"] is not None]
    dearer = [one for one in found if (one.ours[WHOLE] or 0) > 1 + NOTHING]
    return [f"- Costs: another CPU is busy for {median(used.values()):.0f} % of the application's time over the whole window (median; "
            f"{most} {used[most]:.0f} %). "
            f"Moves have paid within the window on {len(paid)} of {len(found)}" +
            (f", after {median(paid):.1f} s of the guest's clock (median)." if paid else ".") +
            (f" While it settles the application itself is slower on {', '.join(one.ours['workload'] for one in dearer)}." if dearer else "")]


def _peers(found: Sequence[Comparison]) -> List[str]:
    beside = [(one, peer) for one, peer in ((one, one.peer) for one in found) if peer is not None]
    if not beside:
        return ["- No peer ran beside it."]
    better = [one for one, peer in beside if one.ours[TIME] < peer[TIME] * (1 - NOTHING)]
    worse = [f"{one.ours['workload']} ({peer['system']} {peer[TIME]:.2f}, HM-Keeper {one.ours[TIME]:.2f})" for one, peer in beside
             if one.ours[TIME] > peer[TIME] * (1 + NOTHING)]
    return [f"- Beside the fastest peer of each workload: faster on {len(better)} of {len(beside)}; slower on {', '.join(worse) or 'none'}."]
