# SPDX-License-Identifier: MIT
"""A captured terminal (tmux capture-pane -e) as SVG."""
import os
import re
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from pathlib import Path
from typing import List, Tuple

WIDTH, HEIGHT, MARGIN = 8.4, 17, 12  # of a cell; pixels
PAPER, INK = "#1c1c1c", "#d0d0d0"
BASIC = ("#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
         "#666666", "#f14c4c", "#23d18b", "#f5f543", "#3b8eea", "#d670d6", "#29b8db", "#ffffff")


@dataclass(frozen=True)
class Style:
    ink: str = INK
    paper: str = PAPER
    reverse: bool = False

    def colours(self) -> Tuple[str, str]:
        return (self.paper, self.ink) if self.reverse else (self.ink, self.paper)


def colour(number: int) -> str:
    """One of xterm's 256."""
    if number < 16:
        return BASIC[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    number -= 16
    return "#" + "".join(f"{55 + 40 * part if part else 0:02x}" for part in (number // 36, number // 6 % 6, number % 6))


def styled(style: Style, codes: List[int]) -> Style:
    """The style after the codes of one escape sequence; those it does not know change nothing."""
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = Style()
        elif code in (7, 27):
            style = replace(style, reverse=code == 7)
        elif code in (38, 48) and codes[:1] == [5]:
            style = replace(style, **{"ink" if code == 38 else "paper": colour(codes[1])})
            del codes[:2]
        elif 30 <= code <= 37 or 90 <= code <= 97:
            style = replace(style, ink=BASIC[code % 10 + (8 if code >= 90 else 0)])
        elif 40 <= code <= 47 or 100 <= code <= 107:
            style = replace(style, paper=BASIC[code % 10 + (8 if code >= 100 else 0)])
        elif code in (39, 49):
            style = replace(style, **{"ink" if code == 39 else "paper": INK if code == 39 else PAPER})
    return style


def cells(text: str) -> List[List[Tuple[str, Style]]]:
    """Lines of characters with their style; empty lines at the end are left out."""
    lines, style = [], Style()
    for line in text.rstrip("\n").split("\n"):
        row = []
        for sequence, character in re.findall(r"\x1b\[([\d;]*)m|([^\x1b])", line):
            if character:
                row.append((character, style))
            else:
                style = styled(style, [int(code or 0) for code in sequence.split(";")])
        lines.append(row)
    while lines and not "".join(character for character, _ in lines[-1]).strip():
        lines.pop()
    return lines


def to_svg(text: str) -> str:
    """As it looks in a dark window, cell by cell: no font of the reader's can move the columns."""
    lines = cells(text)
    width = 2 * MARGIN + WIDTH * max((len(line) for line in lines), default=1)
    height = 2 * MARGIN + HEIGHT * len(lines)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
           'font-family="monospace" font-size="14" xml:space="preserve">',
           f'<rect width="100%" height="100%" rx="6" fill="{PAPER}"/>']
    for row, line in enumerate(lines):
        x, y = 0, MARGIN + HEIGHT * row
        for style, run in groupby(line, key=lambda cell: cell[1]):
            word = "".join(character for character, _ in run)
            ink, paper = style.colours()
            left, long = MARGIN + WIDTH * x, WIDTH * len(word)
            if paper != PAPER:
                out.append(f'<rect x="{left:.1f}" y="{y}" width="{long:.1f}" height="{HEIGHT}" fill="{paper}"/>')
            if word.strip():
                out.append(f'<text x="{left:.1f}" y="{y + 13}" fill="{ink}" textLength="{long:.1f}" '
                           f'lengthAdjust="spacingAndGlyphs">{escape(word)}</text>')
            x += len(word)
    return "\n".join([*out, "</svg>"]) + "\n"


def write_private(path: Path, text: str) -> None:
    """For its owner alone, whatever the umask and whatever it was before."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600), "w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.truncate()
        file.write(text)
