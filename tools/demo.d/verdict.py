# SPDX-License-Identifier: MIT
"""Before against after, and whether what was promised holds."""
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Tuple

from plan import TIER1_GAIN_AT_LEAST, TIER1_SHARE_AT_LEAST

if TYPE_CHECKING:
    from stage import Show

MEBI = 1 << 20


@dataclass(frozen=True)
class Result:
    """`fields` is what --json writes; `checks` are (holds, sentence)."""

    fields: Dict[str, Any]
    checks: List[Tuple[bool, str]]

    @property
    def holds(self) -> bool:
        return all(holds for holds, _ in self.checks)


def shares(rows: List[Dict[str, Any]]) -> List[float]:
    """Share per tier over all rows together, tier 1 first."""
    misses = [sum(tier) for tier in zip(*(row["misses"] for row in rows))]
    return [count / max(1, sum(misses)) for count in misses]


def checks(fields: Dict[str, Any]) -> List[Tuple[bool, str]]:
    """What was promised, of what --json writes."""
    before, after = fields["tier_share_track_only"][0], fields["tier_share_managed"][0]
    gain = after / max(before, 1e-9)
    problem = fields["dmesg_problem"]
    return [
        (after >= TIER1_SHARE_AT_LEAST,
         f"tier 1 serves {100 * after:.1f} % of the accesses, promised are {100 * TIER1_SHARE_AT_LEAST:.0f} %"),
        (gain >= TIER1_GAIN_AT_LEAST, f"that is {gain:.1f} times as much as track-only, promised are "
                                      f"{TIER1_GAIN_AT_LEAST:g} times"),
        (fields["keys"] > 0 and fields["wrong_values"] == 0,
         f"{fields['keys']:,} keys read back, {fields['wrong_values']:,} wrong values"),
        (fields["profiling_percent"] <= fields["budget_percent"],
         f"profiling took {fields['profiling_percent']:.2f} % of the time, its budget is {fields['budget_percent']:g} %"),
        (not problem, f"the kernel log is clean{': NOT, ' + problem if problem else ''}"),
    ]


def judge(show: "Show") -> Result:
    before, after = shares(show.measured("track-only")), shares(show.measured("manage"))
    ended, checked = show.facts["ended"], show.facts["checked"]
    fields = {
        "kernel": show.release,
        "tier_share_track_only": before,
        "tier_share_managed": after,
        "wrong_values": checked["wrong_values"],
        "promoted_bytes": ended["promoted_bytes"],
        "demoted_bytes": ended["demoted_bytes"],
        "profiling_percent": ended["profiling_percent"],
        "budget_percent": ended["budget_percent"],
        "intervals": len(show.rows),
        "keys": checked["keys"],
        "dmesg_problem": show.dmesg_problem,
    }
    return Result(fields, checks(fields))


def report(show: "Show", result: Result, out: Path) -> None:
    """The summary a person reads."""
    before, after = result.fields["tier_share_track_only"], result.fields["tier_share_managed"]
    order = show.facts["ended"]["tier_nodes"]
    print(f"\n{'share of the application accesses':<38}{'track-only':>12}{'managed':>12}")
    for tier, node in enumerate(order):
        name = f"tier {tier + 1}: {show.machine.nodes[node].name}"
        print(f"{name:<38}{100 * before[tier]:>10.1f} %{100 * after[tier]:>10.1f} %")
    latency = [show.machine.nodes[node].access[0].latency_ns for node in order]
    means = [sum(share * ns for share, ns in zip(side, latency)) for side in (before, after)]
    print(f"{'mean latency of an access (modelled)':<38}{means[0]:>9.0f} ns{means[1]:>9.0f} ns")
    print(f"promoted {result.fields['promoted_bytes'] / MEBI:,.0f} MiB, demoted "
          f"{result.fields['demoted_bytes'] / MEBI:,.0f} MiB in {result.fields['intervals']} intervals of "
          f"{show.plan.interval}\n")
    for holds, sentence in result.checks:
        print(f"{'  ok   ' if holds else '  NOT  '}{sentence}")
    print(f"\npicture: {out / 'shares.svg'}   logs: {out / 'guest'}   intervals: {out / 'intervals.jsonl'}")
    if not result.holds:
        print("what to do: see which interval went wrong in the table above; hmkd's decisions are in "
              f"{out / 'guest/hmkd.log'}. A machine busy with other work slows the guest: run it again alone.")
