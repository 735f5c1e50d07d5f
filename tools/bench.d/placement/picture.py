# SPDX-License-Identifier: MIT
"""The results as SVG: workload by system, shares over time, the hot set beside what is believed."""
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple
from xml.sax.saxutils import escape

Row = Dict[str, Any]
COLOURS = {"first-touch": "#999999", "numa-balancing": "#e08214", "damon": "#8073ac", "weighted-interleave": "#35978f", "hm-keeper": "#1b7837",
           "oracle": "#222222"}
OTHERS = ("#4393c3", "#d6604d", "#b2abd2", "#66c2a5", "#c51b7d", "#a6761d")
LEFT, TOP, PLOT, LINE_HEIGHT = 70, 50, 620, 18


def title(row: Row) -> str:
    """Of all cells that are compared with this one."""
    dense = f", {row['density']} times as dense" if row["density"] > 1 else ""
    return f"{row['workload']}, {row['page_size']} pages, kernel {row['kernel']}, {row['settings']['window_seconds']:g} s{dense}"


def name(row: Row) -> str:
    """The same, for a file."""
    dense = [f"x{row['density']}"] if row["density"] > 1 else []
    return "-".join([row["workload"], row["page_size"], row["kernel"], f"{row['settings']['window_seconds']:g}s", *dense])


def label(row: Row) -> str:
    """Of a line or a panel; HM-Keeper may have several, by its settings."""
    variant = row["settings"]["variant"]
    return f"{row['system']} ({variant})" if variant and row["system"] == "hm-keeper" else row["system"]


def _colour(row: Row, group: Sequence[Row]) -> str:
    others = list(dict.fromkeys(label(other) for other in group if label(other) not in COLOURS))
    return COLOURS.get(label(row)) or OTHERS[others.index(label(row)) % len(OTHERS)]


def _text(x: float, y: float, text: str, size: int = 12, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(text)}</text>'


def _save(file: Path, width: int, height: int, parts: List[str]) -> None:
    file.write_text("\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>', *parts, "</svg>\n"]), encoding="utf-8")


def systems(rows: Sequence[Row], file: Path) -> None:
    """A bar per cell, grouped by workload: tier 1's share, all tiers stacked in fading colour."""
    parts = [_text(LEFT, 24, "Share of the application's misses that tier 1 (full colour) and tier 2 (pale) serve", 15)]
    y, last = TOP, None
    for row in rows:
        if title(row) != last:
            y, last = y + 24, title(row)
            parts.append(_text(20, y - 5, last, 13))
        first, second = row["tier_share"][0], row["tier_share"][1] if len(row["tier_share"]) > 1 else 0.0
        colour, x = _colour(row, rows), 170
        parts += [_text(x - 8, y + 12, label(row), 11, "end"),
                  f'<rect x="{x}" y="{y}" width="{PLOT * first:.1f}" height="14" fill="{colour}"/>',
                  f'<rect x="{x + PLOT * first:.1f}" y="{y}" width="{PLOT * second:.1f}" height="14" fill="{colour}" '
                  'fill-opacity="0.25"/>', _text(x + PLOT + 8, y + 12, f"{100 * first:.1f} %", 11)]
        y += LINE_HEIGHT
    _save(file, 170 + PLOT + 70, y + 20, parts)


def shares(group: Sequence[Row], file: Path) -> None:
    """Tier 1's share over the guest's time, a line per system."""
    height, right = 300, LEFT + PLOT
    span = max(row["tier_share_over_time"]["seconds"][-1] for row in group)
    parts = [_text(LEFT, 24, f"{group[0]['workload']}, {group[0]['page_size']}: tier 1's share over time", 15)]
    for percent in range(0, 101, 20):
        y = TOP + height * (1 - percent / 100)
        parts += [f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>',
                  _text(LEFT - 6, y + 4, f"{percent} %", 11, "end")]
    step = next(s for s in (1, 2, 5, 10, 20, 60, 600) if span / s <= 12 or s == 600)
    for second in range(0, int(span) + 1, step):
        parts.append(_text(LEFT + PLOT * second / span, TOP + height + 16, str(second), 11, "middle"))
    parts.append(_text(LEFT + PLOT / 2, TOP + height + 34, "seconds of the guest's clock since systems were started", 12, "middle"))
    for jump in group[0]["jumps_seconds"]:
        x = LEFT + PLOT * jump / span
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + height}" stroke="#000" stroke-dasharray="4 4"/>')
    for number, row in enumerate(group):
        times, values = (row["tier_share_over_time"][key] for key in ("seconds", "shares"))
        points = " ".join(f"{LEFT + PLOT * at / span:.1f},{TOP + height * (1 - share[0]):.1f}" for at, share in zip(times, values))
        colour = _colour(row, group)
        parts += [f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>',
                  _text(right + 14, TOP + 14 + LINE_HEIGHT * number, label(row), 12),
                  f'<rect x="{right + 4}" y="{TOP + 5 + LINE_HEIGHT * number}" width="8" height="8" fill="{colour}"/>']
    _save(file, right + 170, TOP + height + 46, parts)


def beliefs(group: Sequence[Row], file: Path) -> bool:
    """Address downwards, time to the right: the truth first, then each system that tells. False if none does."""
    told = [row for row in group if row["belief_over_time"]]
    if not told:
        return False
    looks = max(len(row["belief_over_time"]) for row in told)
    cell, tall = max(4, 150 // looks), 2
    panels: List[Tuple[str, List[List[float]]]] = [("truth", [look["truth"] for look in told[0]["belief_over_time"]])]
    panels += [(label(row), [look["believed"] for look in row["belief_over_time"]]) for row in told]
    width, parts = cell * looks + 30, [_text(20, 24, f"{group[0]['workload']}: hot memory by address (down) and time (right)", 15)]
    for number, (name, columns) in enumerate(panels):
        x0 = 20 + number * width
        parts.append(_text(x0, TOP - 6, name, 12))
        for i, column in enumerate(columns):
            for j, value in enumerate(column):
                if value > 0.02:
                    parts.append(f'<rect x="{x0 + i * cell}" y="{TOP + j * tall}" width="{cell}" height="{tall}" '
                                 f'fill="#b2182b" fill-opacity="{value:.2f}"/>')
        parts.append(f'<rect x="{x0}" y="{TOP}" width="{cell * len(columns)}" height="{tall * len(columns[0])}" '
                     'fill="none" stroke="#333"/>')
    _save(file, max(420, 20 + width * len(panels)), TOP + tall * len(panels[0][1][0]) + 20, parts)
    return True
