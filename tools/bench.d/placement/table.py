# SPDX-License-Identifier: MIT
"""From single runs to the table: the better variant of each system, relative figures, spreads of what ran more than once."""
from collections import defaultdict
from statistics import median
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import costs
import figures

Run = Dict[str, Any]   # what main.py keeps of a run: cell, figures, belief, hindsight
NOTHING = ("first-touch", "oracle")  # whose service spends nothing
OURS = "hm-keeper"
PACE = "modelled_ns_per_kilo_instruction"
#: Over first-touch's, by the name in the row: for the same instructions, and for the same operations.
RATIOS = {"modelled_time_vs_first_touch": PACE, "settled_modelled_time_vs_first_touch": f"settled_{PACE}",
          "operation_time_vs_first_touch": "per_operation/application_ns",
          "settled_operation_time_vs_first_touch": "settled_per_operation/application_ns"}
PER_OPERATION = ("application_ns", "service_cpu_ns", "moved_bytes")


def rows(runs: Sequence[Run]) -> List[Dict[str, Any]]:
    """One object per cell of the table, in the order of the runs; the fields --json promises, and a few more."""
    groups: Dict[Tuple[Any, ...], Dict[str, Dict[str, List[Run]]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        cell = run["cell"]
        compared = (cell["kernel"], cell["page_size"], cell["workload"], cell.get("density", 1), cell["window_seconds"])
        groups[compared][cell["system"]].setdefault(cell["variant"], []).append(run)
    found = []
    for systems in groups.values():
        shown = {name: _shown(name, by_variant) for name, by_variant in systems.items()}
        base, oracle = (shown[name][0] if name in shown else None for name in ("first-touch", "oracle"))
        bound = _bound(base, oracle)
        for name, by_variant in systems.items():
            tried = {variant: _over(several, base, PACE) for variant, several in by_variant.items()}
            for several in shown[name]:
                row = _row(name, several, base, bound)
                row["settings"]["modelled_time_by_variant"] = tried
                found.append(row)
    return found


def _shown(name: str, by_variant: Dict[str, List[Run]]) -> List[List[Run]]:
    """Each setting of HM-Keeper; of a peer the one with the least modelled time, of those modelled latest."""
    if name == OURS:
        return list(by_variant.values())
    return [min(by_variant.values(), key=lambda runs: (-min(map(_model, runs)), _median(runs, PACE)))]


def _model(run: Run) -> int:
    return run["figures"].get("model", 1)


def _bound(base: Optional[List[Run]], oracle: Optional[List[Run]]) -> Optional[float]:
    """The oracle's tier-1 share: run where the workload knows its truth, else computed with hindsight for 4 KiB pages."""
    if oracle:
        return median(run["figures"]["tier_share"][0] for run in oracle)
    static = base[0].get("hindsight") if base else None
    return static["4K"][0] if static else None


def _beside(run: Run, base: Optional[Sequence[Run]], compare: Callable[[Any, Any], Any]) -> Any:
    """What the costs of both over time come to; None without a base of the same model, or where either counts no operations."""
    if not base or run["cell"]["system"] in NOTHING or _model(run) != _model(base[0]):
        return None
    ours, theirs = (one["figures"].get("costs_over_time") for one in (run, base[0]))
    return compare(ours, theirs) if ours and theirs else None


def _values(runs: Sequence[Run], name: str) -> List[Any]:
    """A figure of each run that has it; `settled_per_operation/application_ns` is one within another."""
    outer, _, inner = name.partition("/")
    values = [run["figures"].get(outer) for run in runs]
    return [value[inner] if inner else value for value in values if value is not None]


def _median(runs: Sequence[Run], name: str) -> Any:
    values = _values(runs, name)
    return median(values) if values else None


def _range(values: Sequence[float]) -> Optional[List[float]]:
    """Least and most; None for what ran once."""
    return [min(values), max(values)] if len(values) > 1 else None


def _ratios(runs: Sequence[Run], base: Optional[Sequence[Run]], name: str) -> List[float]:
    """Of each run over the median of the base; none without one, or where the two were modelled differently."""
    if not base or len(set(map(_model, (*runs, *base)))) > 1:
        return []
    by = _median(base, name)
    return [value / by for value in _values(runs, name)] if by else []


def _over(runs: Sequence[Run], base: Optional[Sequence[Run]], name: str) -> Optional[float]:
    ratios = _ratios(runs, base, name)
    return median(ratios) if ratios else None


def _per_operation(runs: Sequence[Run], typical: Run, name: str) -> Optional[Dict[str, Any]]:
    """Of the typical run, with the median of all where a figure is one number."""
    own = typical["figures"].get(name)
    return own and {what: _median(runs, f"{name}/{what}") if isinstance(value, (int, float)) else value for what, value in own.items()}


def _ranges(runs: List[Run], base: Optional[List[Run]]) -> Dict[str, Optional[List[float]]]:
    """Of every figure the page shows with its range, by the name it has in the row."""
    return {"tier_share": _range([run["figures"]["tier_share"][0] for run in runs]),
            **{shown: _range(_ratios(runs, base, name)) for shown, name in RATIOS.items()},
            **{name: _range(_values(runs, f"settled_per_operation/{name}")) for name in PER_OPERATION}}


def _start_cost(run: Run, base: Optional[Sequence[Run]]) -> Optional[float]:
    """Modelled seconds the application lost before the first sample: while the system starts, against first-touch's time for as much work."""
    if not base or run["cell"]["system"] in NOTHING or _model(run) != _model(base[0]):
        return None
    ours, theirs = (one["figures"].get(f"start_{PACE}") for one in (run, base[0]))
    return (ours - theirs) * run["figures"]["start_kilo_instructions"] / 1e9 if ours and theirs else None


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
        **{shown: _over(runs, base, figure) for shown, figure in RATIOS.items()}, "ranges": _ranges(runs, base),
        **{figure: _per_operation(runs, typical, figure) for figure in ("per_operation", "settled_per_operation")},
        "paid_seconds": _beside(typical, base, costs.paid_seconds), "common_operations": _beside(typical, base, costs.common),
        "start_cost_seconds": _start_cost(typical, base),
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
