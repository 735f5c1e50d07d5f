# SPDX-License-Identifier: MIT
"""What a search found: the score of each setting, the best of each system, their page and the file placement reads."""
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, Dict, List, Optional, Sequence

import table
from grid import Setting

PACE = f"settled_{table.PACE}"
Row = Dict[str, Any]
SCORE = ("modelled time for the same work in the last quarter of the window over first-touch's, geometric mean over the "
         "training workloads; less is better")


@dataclass(frozen=True)
class Procedure:
    """What was the same for every system."""

    workloads: Sequence[str]
    settings: int
    seed: int
    repeats: int
    kernel: str


def row(setting: Setting, runs: Dict[str, List[Dict[str, Any]]], bases: Dict[str, List[Dict[str, Any]]]) -> Row:
    """One setting from its runs, and first-touch's, by workload; no score where a run is missing."""
    ratios = {name: _ratio(runs[name], bases[name]) for name in runs}
    complete = [ratio for ratio in ratios.values() if ratio is not None]
    return {"system": setting.system, "setting": setting.name, "variant": setting.variant, "knobs": setting.knobs,
            "score": geometric_mean(complete) if len(complete) == len(ratios) else None, "by_workload": ratios,
            "commits": sorted({run["commit"] for several in runs.values() for run in several})}


def _ratio(runs: List[Dict[str, Any]], bases: List[Dict[str, Any]]) -> Optional[float]:
    if not runs or not bases or len({run["figures"].get("model", 1) for run in (*runs, *bases)}) > 1:
        return None  # what an earlier model made of a run is not compared

    def typical(several: List[Dict[str, Any]]) -> float:
        return median(run["figures"][PACE] for run in several)
    return typical(runs) / typical(bases)


def best(rows: Sequence[Row]) -> Dict[str, Row]:
    """The setting with the least score of every system that has one; the first of equals."""
    found: Dict[str, Row] = {}
    for one in rows:
        if one["score"] is not None and one["score"] < found.get(one["system"], {"score": float("inf")})["score"]:
            found[one["system"]] = one
    return found


def save(file: Path, chosen: Dict[str, Row], how: Procedure) -> None:
    """Put the chosen settings into the file placement reads; systems not searched keep theirs."""
    held = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for system, one in chosen.items():
        held[system] = {"from": f"tools/bench search --settings {how.settings} --seed {how.seed} --repeat {how.repeats} "
                                f"--kernel {how.kernel} --workload {','.join(how.workloads)}, commit {', '.join(one['commits'])}",
                        "setting": one["setting"], "score": round(one["score"], 4), "knobs": one["knobs"]}
    file.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


def page(rows: Sequence[Row], how: Procedure) -> str:
    """The whole search as Markdown, every setting of every system, the best first."""
    commits = sorted({commit for one in rows for commit in one["commits"]})
    parts = ["<!-- SPDX-License-Identifier: MIT -->", "# How the settings were chosen", "",
             "Written by `tools/bench search --report`; not edited by hand. Every system, ours too, had the same number of settings "
             f"tried: {how.settings}, those with a name first, which are the recommended ones of `placement/cells.py`, the others "
             f"drawn with seed {how.seed} from the grids of `placement/grid.py`; on {' and '.join(how.workloads)}, kernel "
             f"{how.kernel}, {how.repeats} run{'s' if how.repeats > 1 else ''} each. The best of each is what "
             "`tools/bench placement` runs on all workloads.", "", f"Score: {SCORE}.", "",
             f"Commit: {', '.join(commits) or 'none'}."]
    chosen = best(rows)
    for system in dict.fromkeys(one["system"] for one in rows):
        own = sorted((one for one in rows if one["system"] == system), key=lambda one: one["score"] or float("inf"))
        parts += ["", f"## {system}", "", f"| setting | score | {' | '.join(how.workloads)} | knobs |",
                  "|---" * (3 + len(how.workloads)) + "|"]
        for one in own:
            name = f"**{one['setting']}**" if chosen.get(system) is one else one["setting"]
            figures = [_number(one["score"]), *(_number(one["by_workload"][workload]) for workload in how.workloads)]
            knobs = ", ".join(f"{key} {value}" for key, value in one["knobs"].items()) or "as the kernel has it"
            parts.append(f"| {name} | {' | '.join(figures)} | {knobs} |")
    return "\n".join(parts) + "\n"


def _number(value: Optional[float]) -> str:
    return "no result" if value is None else f"{value:.3f}"
