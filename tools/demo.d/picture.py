# SPDX-License-Identifier: MIT
"""The shares over time as an SVG: stacked areas by tier, a line where management starts."""
from pathlib import Path
from typing import List, Tuple
from xml.sax.saxutils import escape

from stage import Show

WIDTH, HEIGHT = 900, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 230, 78, 60
COLOURS = ("#1b7837", "#7fbf7b", "#fdae61", "#d7191c", "#7b3294", "#888888")


def draw(show: Show, file: Path) -> None:
    """Write the picture; an empty show gives an empty frame."""
    nodes = show.facts["ended"]["tier_nodes"]
    rows = show.rows
    times = [row["seconds"] for row in rows]
    span = (0.0, max(times, default=1.0))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
             'font-family="sans-serif" font-size="13">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             _text(LEFT, 24, "Where redis-server's memory accesses go", size=17, bold=True),
             _text(LEFT, 44, f"share of LLC-missing user accesses by tier, kernel {show.release}", colour="#555")]
    floor = [0.0] * len(rows)
    for tier, node in enumerate(nodes):
        ceiling = [low + row["shares"][tier] for low, row in zip(floor, rows)]
        parts.append(_band(times, floor, ceiling, span, COLOURS[tier % len(COLOURS)]))
        parts += _legend(tier, show.machine.nodes[node].name, rows[-1]["shares"][tier] if rows else 0.0, len(nodes))
        floor = ceiling
    parts += _axes(span)
    parts += _switch(show, span)
    file.write_text("\n".join([*parts, "</svg>\n"]), encoding="utf-8")


def _x(seconds: float, span: Tuple[float, float]) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (seconds - span[0]) / max(span[1] - span[0], 1e-9)


def _y(share: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share


def _band(times: List[float], floor: List[float], ceiling: List[float], span: Tuple[float, float], colour: str) -> str:
    """Steps, because a share belongs to a whole interval."""
    edges = [0.0, *times]
    upper = [(_x(edges[i + side], span), _y(c)) for i, c in enumerate(ceiling) for side in (0, 1)]
    lower = [(_x(edges[i + side], span), _y(f)) for i, f in enumerate(floor) for side in (0, 1)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*upper, *reversed(lower)])
    return f'<polygon points="{points}" fill="{colour}"/>'


def _axes(span: Tuple[float, float]) -> List[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" fill="none" stroke="#333"/>',
             _text((LEFT + right) / 2, HEIGHT - 18, "seconds of the guest's clock since the load began", anchor="middle")]
    for percent in range(0, 101, 20):
        y = _y(percent / 100)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#fff" stroke-opacity="0.5"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{percent} %", anchor="end"))
    step = next((s for s in (5, 10, 20, 30, 60, 120, 300) if span[1] / s <= 10), 600)
    for second in range(0, int(span[1]) + 1, step):
        parts.append(_text(_x(second, span), bottom + 20, str(second), anchor="middle"))
    return parts


def _switch(show: Show, span: Tuple[float, float]) -> List[str]:
    """Where the mode changed from track-only to manage."""
    if not any(row["mode"] == "manage" for row in show.rows):
        return []
    at = max((row["seconds"] for row in show.rows if row["mode"] == "track-only"), default=0.0)
    x = _x(at, span)
    return [f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#000" stroke-width="2" '
            'stroke-dasharray="6 4"/>',
            _text(x - 6, TOP - 4, "track-only", anchor="end"), _text(x + 6, TOP - 4, "managed")]


def _legend(tier: int, name: str, share: float, nr_tiers: int) -> List[str]:
    """Top to bottom as the bands lie."""
    y = TOP + 20 + 44 * (nr_tiers - 1 - tier)
    x = WIDTH - RIGHT + 16
    return [f'<rect x="{x}" y="{y}" width="16" height="16" fill="{COLOURS[tier % len(COLOURS)]}"/>',
            _text(x + 24, y + 13, f"tier {tier + 1}: {name}"),
            _text(x + 24, y + 29, f"at the end {100 * share:.1f} %", colour="#555")]


def _text(x: float, y: float, text: str, *, size: int = 13, anchor: str = "start", colour: str = "#111",
          bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}"{weight}>'
            f'{escape(text)}</text>')
