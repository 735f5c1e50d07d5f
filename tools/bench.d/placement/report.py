# SPDX-License-Identifier: MIT
"""The table for people: a terminal's text and a Markdown page with its pictures."""
import datetime
import platform
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from lab import Machine

import cells
import picture
import summary
from table import PER_OPERATION

Row = Dict[str, Any]
COLUMNS: Tuple[Tuple[str, str], ...] = (  # title, how a row shows it
    ("system", "system"), ("runs", "runs"), ("tier 1", "share"), ("of oracle", "oracle"), ("latency", "latency"), ("time", "time"),
    ("settled", "settled"), ("recall", "recall"), ("precision", "precision"), ("converged", "converged"),
    ("after jump", "reconverged"), ("paid", "paid"), ("moved", "moved"),
    ("ns/op", "application_ns"), ("service ns/op", "service_cpu_ns"), ("moved B/op", "moved_bytes"), ("gap p99", "gap"),
    ("gap max", "longest"))
#: Modelled time over first-touch's: for the same operations, and for the same instructions where none are counted.
TIMES = {"time": ("operation_time_vs_first_touch", "modelled_time_vs_first_touch"),
         "settled": ("settled_operation_time_vs_first_touch", "settled_modelled_time_vs_first_touch")}
LEGEND = (
    "Medians of the runs, in brackets the least and the most. *tier 1*: share of the application's LLC misses that the fastest tier "
    "serves in the last quarter of the window. *of oracle*: that share over the oracle's (h: over the best static placement with "
    "hindsight). *latency*: modelled mean of a miss, then. *time*: modelled time of the application for an operation over the whole "
    "window, first-touch = 1 (i: for an instruction, of a program that counts no operations); "
    "*settled*: the same for the last quarter. *recall*, *precision*: of the hot set the system reports, at its best "
    "threshold, last look. *converged*, *after jump*: seconds of the guest's clock (intervals, for HM-Keeper) until tier "
    "1's share is and stays within 5 % of where it settles. *paid*: seconds of that clock until the time the application has "
    "saved covers the CPU time of what places its memory (–: not within the window). "
    "*ns/op*, *service ns/op*, *moved B/op*: modelled time of the application, modelled CPU time of what places its memory "
    "and bytes moved, per operation that the workload counts, in the last quarter. "
    "*gap*: time the application (for servers: its client) waited between two batches of work, in the guest's clock.")


def text(rows: Sequence[Row]) -> str:
    """All groups as aligned plain text."""
    parts = []
    for title, group in _groups(rows):
        lines = [[name for name, _ in COLUMNS]] + [[_show(row, what) for _, what in COLUMNS] for row in group]
        widths = [max(len(line[i]) for line in lines) for i in range(len(COLUMNS))]
        parts.append("\n".join([title, *("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
                                         for line in lines)]))
    return "\n\n".join(parts)


def not_run(missing: Sequence[cells.Cell]) -> List[str]:
    """A line for each workload and page size: how many runs of which system."""
    found: Dict[str, Dict[str, int]] = {}
    for cell in missing:
        what = f"{cell.workload}, {cell.page_size} pages, {cell.window_seconds:g} s" + (f", density {cell.density}" if cell.density > 1 else "")
        systems = found.setdefault(what, {})
        system = cell.system + (f" ({cell.variant})" if cell.variant else "")
        systems[system] = systems.get(system, 0) + 1
    return [f"- {what}: {', '.join(f'{system} x{runs}' if runs > 1 else system for system, runs in systems.items())}"
            for what, systems in found.items()]


def write(rows: Sequence[Row], missing: Sequence[cells.Cell], file: Path, machine: Machine) -> None:
    """The page, and one picture per group in a folder of the page's name beside it; `missing` are cells without a result."""
    folder = file.with_suffix("")
    folder.mkdir(exist_ok=True)
    picture.systems(rows, folder / "systems.svg")
    parts = [*_head(rows, machine), *summary.lines(rows), f"![Tier 1's share, workload by system]({folder.name}/systems.svg)", "", LEGEND, ""]
    for title, group in _groups(rows):
        name = picture.name(group[0])
        picture.shares(group, folder / f"{name}.svg")
        parts += [f"## {title}", "", "| " + " | ".join(head for head, _ in COLUMNS) + " |",
                  "|---" * len(COLUMNS) + "|"]
        parts += ["| " + " | ".join(_show(row, what) for _, what in COLUMNS) + " |" for row in group]
        parts += ["", f"![Share of tier 1 over time]({folder.name}/{name}.svg)"]
        if picture.beliefs(group, folder / f"{name}-hot.svg"):
            parts += ["", f"![What is hot, and what each system holds for hot]({folder.name}/{name}-hot.svg)"]
        parts += [*_hindsight(group), ""]
    parts += [*_ablations(rows), *_settings(rows)]
    if missing:
        parts += ["", "## Not run", "", "Runs of the table without a result, by workload and pages:", "", *not_run(missing)]
    file.write_text("\n".join(parts) + "\n", encoding="utf-8")


def _groups(rows: Sequence[Row]) -> List[Tuple[str, List[Row]]]:
    found: Dict[str, List[Row]] = {}
    for row in rows:
        found.setdefault(picture.title(row), []).append(row)
    return list(found.items())


def _number(value: Optional[float], form: str) -> str:
    return "–" if value is None else form.format(value)


def _between(least_most: Optional[Sequence[float]], form: str, times: float = 1) -> str:
    return "" if least_most is None else f" ({'–'.join(form.format(times * value) for value in least_most)})"


def _show(row: Row, what: str) -> str:
    """One field as a person reads it."""
    if what == "system":
        variant = row["settings"]["variant"]
        return row["system"] + (f" ({variant})" if variant else "")
    if what == "runs":
        return str(row["repeats"])
    if what == "share":
        return f"{100 * row['tier_share'][0]:.1f} %" + _between(row["ranges"]["tier_share"], "{:.1f}", 100)
    if what in TIMES:
        by_operation, by_instruction = TIMES[what]
        name = by_instruction if row[by_operation] is None else by_operation
        counts_none = " i" if row[by_operation] is None and row[name] is not None else ""
        return _number(row[name], "{:.3f}") + counts_none + _between(row["ranges"][name], "{:.3f}")
    if what == "oracle":
        return _number(row["oracle_ratio"], "{:.3f}") + (" h" if row["oracle_source"] == "hindsight" else "")
    if what == "converged":
        intervals = row["converge_intervals"]
        return _number(row["converge_seconds"], "{:.1f} s") + (f" ({intervals:.0f})" if intervals is not None else "")
    if what == "moved":
        return _number(row["bytes_migrated"] and row["bytes_migrated"] / (1 << 20), "{:.0f} MiB")
    if what in PER_OPERATION:
        return _number((row["settled_per_operation"] or {}).get(what), "{:.1f}") + _between(row["ranges"][what], "{:.1f}")
    simple = {"latency": ("modelled_latency_ns", "{:.0f} ns"), "recall": ("recall", "{:.2f}"),
              "precision": ("precision", "{:.2f}"), "reconverged": ("reconverge_seconds", "{:.1f} s"), "paid": ("paid_seconds", "{:.1f} s"),
              "gap": ("gap_p99_us", "{:.0f} µs"),
              "longest": ("gap_max_us", "{:.0f} µs")}
    name, form = simple[what]
    return _number(row[name], form)


def _head(rows: Sequence[Row], machine: Machine) -> List[str]:
    commits = sorted({row["settings"]["commit"] for row in rows})
    releases = sorted({row["settings"]["release"] for row in rows})
    nodes = ", ".join(f"{machine.nodes[i].name} {machine.nodes[i].memory >> 20} MiB "
                      f"{machine.nodes[i].access[0].latency_ns} ns" for i in machine.tiers())
    return ["<!-- SPDX-License-Identifier: MIT -->", "# Who places memory how well", "",
            "Written by `tools/bench placement --report`; not edited by hand. Counted in guests under QEMU, access for "
            "access; latencies and times are **modelled** from the machine file, seconds are the guest's clock, which "
            "counts instructions (8 ns each, 16 for the graphs). No hardware was measured.", "",
            *_assumed(rows, machine),
            f"- date: {datetime.date.today().isoformat()}", f"- machine: `{machine.name}`: {nodes}",
            f"- host: {platform.machine()}, QEMU TCG; kernels {', '.join(releases)}",
            f"- commit: {', '.join(commits)}", ""]


def _assumed(rows: Sequence[Row], machine: Machine) -> List[str]:
    """Model 1 had no such prices."""
    if not machine.assumed or all(row["settings"]["model"] < 2 for row in rows):
        return []
    return [f"- prices assumed, for the machine file gives none: {'; '.join(machine.assumed)}"]


def _hindsight(group: Sequence[Row]) -> List[str]:
    found = next((row["hindsight"] for row in group if row["hindsight"]), None)
    if not found:
        return []
    shares = ", ".join(f"{100 * share[0]:.1f} % with pieces of {name}" for name, share in found.items())
    return ["", f"Best static placement with hindsight over the whole window: {shares}."]


def _ablations(rows: Sequence[Row]) -> List[str]:
    """HM-Keeper without a part of it over the whole of it, beside what the paper says of that part."""
    whole = {row["workload"]: row for row in rows if row["system"] == "hm-keeper" and not row["settings"]["variant"]
             and row["page_size"] == "4K" and row["density"] == 1}
    without = [row for row in rows if row["system"].startswith("hm-keeper/") and row["workload"] in whole and row["density"] == 1
               and all(row["settings"][same] == whole[row["workload"]]["settings"][same] for same in ("model", "window_seconds"))]
    if not without:
        return []
    parts = ["## Ablations", "", "What a part of HM-Keeper is worth: the same figure without it over that of the whole.", "",
             "| without | workload | modelled time | tier 1 | profiling time | paper, Figs 8.11, 8.13 |", "|---" * 6 + "|"]
    for row in without:
        name, full = row["system"].partition("/")[2], whole[row["workload"]]
        ratios = [row["modelled_ns_per_kilo_instruction"] / full["modelled_ns_per_kilo_instruction"],
                  row["tier_share"][0] / full["tier_share"][0],
                  row["counters"]["profiling_seconds"] / full["counters"]["profiling_seconds"]]
        parts.append(f"| {name} | {row['workload']} | " + " | ".join(f"{ratio:.2f}" for ratio in ratios)
                     + f" | {cells.PAPER.get(name, '–')} |")
    return [*parts, ""]


def _settings(rows: Sequence[Row]) -> List[str]:
    parts = ["## Settings", "", "A peer is shown with the one of the settings it ran with that gave the least modelled time, HM-Keeper with each. "
             "HM-Keeper's interval holds 125 million instructions: 2 s for the graphs, with 16 ns each.", ""]
    for system in dict.fromkeys(row["system"] for row in rows):
        seen, tabled = {row["settings"]["variant"] for row in rows if row["system"] == system}, list(cells.variants(system))
        for variant, knobs in cells.settings(system).items():
            if variant not in seen and variant not in tabled:
                continue
            shown = ", ".join(f"{key} {value}" for key, value in knobs.items()) or "as the kernel has it"
            origin = cells.origin(system) if variant == tabled[-1] else ""
            parts.append(f"- {system}{f' ({variant})' if variant else ''}: {shown}{f' ({origin})' if origin else ''}")
    for kernel in sorted({row["kernel"] for row in rows}):
        for system in cells.SYSTEMS:
            why = cells.not_applicable(system, kernel)
            if why:
                parts.append(f"- {system} on {kernel}: not applicable: {why}")
    return parts
