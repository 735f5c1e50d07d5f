# SPDX-License-Identifier: MIT
"""From single runs to the table: the better variant of each system, relative figures, spreads of what ran more than once."""
from collections import defaultdict
from statistics import median
from typing import Any, Dict, List, Optional, Sequence, Tuple

import costs
import figures

Run = Dict[str, Any]   # what main.py keeps of a run: cell, figures, belief, hindsight
NOTHING = ("first-touch", "oracle")  # whose service spends nothing
PACE = "modelled_ns_per_kilo_instruction"


def rows(runs: Sequence[Run]) -> List[Dict[str, Any]]:
    """One object per cell of the table, in the order of the runs; the fields --json promises, and a few more."""
    groups: Dict[Tuple[Any, ...], Dict[str, Dict[str, List[Run]]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        cell = run["cell"]
        by_variant = groups[cell["kernel"], cell["page_size"], cell["workload"], cell.get("density", 1)][cell["system"]]
        by_variant.setdefault(cell["variant"], []).append(run)
    found = []
    for systems in groups.values():
        chosen = {name: _better(by_variant) for name, by_variant in systems.items()}
        base, bound = chosen.get("first-touch"), _bound(chosen)
        for name, by_variant in systems.items():
            row = _row(name, chosen[name], base, bound)
            row["settings"]["modelled_time_by_variant"] = {variant: _over(tried, base, PACE) for variant, tried in by_variant.items()}
            found.append(row)
    return found


def _better(by_variant: Dict[str, List[Run]]) -> List[Run]:
    """The runs of the variant with the least modelled time, of those modelled latest."""
    return min(by_variant.values(), key=lambda runs: (-min(map(_model, runs)), _median(runs, PACE)))


def _model(run: Run) -> int:
    return run["figures"].get("model", 1)


def _bound(chosen: Dict[str, List[Run]]) -> Optional[float]:
    """The oracle's tier-1 share: run where the workload knows its truth, else computed with hindsight for 4 KiB pages."""
    if "oracle" in chosen:
        return median(run["figures"]["tier_share"][0] for run in chosen["oracle"])
    if "first-touch" in chosen:
        return chosen["first-touch"][0]["hindsight"]["4K"][0]
    return None


def _paid(run: Run, base: Optional[Sequence[Run]]) -> Optional[float]:
    """None without a base of the same model, or where either counts no operations."""
    if not base or run["cell"]["system"] in NOTHING or _model(run) != _model(base[0]):
        return None
    ours, theirs = (one["figures"].get("costs_over_time") for one in (run, base[0]))
    return costs.paid_seconds(ours, theirs) if ours and theirs else None


def _median(runs: Sequence[Run], name: str) -> Any:
    values = [run["figures"][name] for run in runs if run["figures"].get(name) is not None]
    return median(values) if values else None


def _over(runs: Sequence[Run], base: Optional[Sequence[Run]], name: str) -> Optional[float]:
    """None without a base, or where the two were modelled differently."""
    if not base or len(set(map(_model, (*runs, *base)))) > 1:
        return None
    return _median(runs, name) / _median(base, name)


def _row(name: str, runs: List[Run], base: Optional[List[Run]], bound: Optional[float]) -> Dict[str, Any]:
    typical = min(runs, key=lambda run: abs(run["figures"]["tier_share"][0] - median(
        other["figures"]["tier_share"][0] for other in runs)))
    cell, own = typical["cell"], typical["figures"]
    interval = typical.get("interval_seconds")
    seconds = _median(runs, "converge_seconds")
    looks = typical["belief"]
    extra = _median(runs, "kernel_instructions_percent") - (_median(base, "kernel_instructions_percent") if base else 0.0)
    return {
        "workload": cell["workload"], "system": name, "kernel": cell["kernel"], "page_size": cell["page_size"], "density": cell.get("density", 1),
        "tier_share": own["tier_share"],
        "modelled_latency_ns": _median(runs, "modelled_latency_ns"),
        PACE: _median(runs, PACE),
        "modelled_time_vs_first_touch": _over(runs, base, PACE),
        "settled_modelled_time_vs_first_touch": _over(runs, base, f"settled_{PACE}"),
        "per_operation": own.get("per_operation"), "settled_per_operation": own.get("settled_per_operation"),
        "paid_seconds": _paid(typical, base),
        "oracle_ratio": own["tier_share"][0] / bound if bound else None,
        "oracle_source": None if not bound else "run" if typical["has_truth"] else "hindsight",
        "recall": looks[-1]["recall"] if looks else None,
        "precision": looks[-1]["precision"] if looks else None,
        "converge_intervals": seconds / interval if interval and seconds is not None else None,
        "converge_seconds": seconds, "reconverge_seconds": _median(runs, "reconverge_seconds"),
        "overhead_instructions_percent": extra + _median(runs, "own_cpu_instructions_percent"),
        "bytes_migrated": _median(runs, "bytes_migrated"),
        "gap_p99_us": _median(runs, "gap_p99_us"), "gap_max_us": _median(runs, "gap_max_us"),
        "spread": figures.spread([run["figures"]["tier_share"][0] for run in runs]),
        "repeats": len(runs),
        "wrong_values": max((run["figures"]["wrong_values"] for run in runs if run["figures"]["wrong_values"] is not None),
                            default=None),
        "hindsight": typical.get("hindsight"),
        "tier_share_over_time": own["tier_share_over_time"], "jumps_seconds": own["jumps_seconds"],
        "belief_over_time": looks, "counters": own["counters"], "resident_bytes": own["resident_bytes"],
        "settings": {"variant": cell["variant"], "knobs": cell["knobs"], "window_seconds": cell["window_seconds"],
                     "ns_per_instruction": typical.get("ns_per_instruction"), "release": typical["release"],
                     "commit": typical["commit"], "model": _model(typical)},
    }
