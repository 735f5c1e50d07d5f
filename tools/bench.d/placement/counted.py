# SPDX-License-Identifier: MIT
"""What a program did to each of its pages, stretch by stretch, as a scenario of tools/sim machine: its heat is counted, not described.

    scenario = counted.of(raw, machine, logs)       # of a run of first-touch, which the pages were counted in
    scenario.write(folder, "bfs")                   # bfs.yaml and bfs.pages
"""
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from lab import Machine, pages
from lab.model import Counts, Window
from lab.outcome import Mark
from lab.prices import streamed_ns, written_back_ns

import costs
from costs import APPLICATION

FIRST_LINE = "format: 3"       # 2 had neither visits nor nodes, 1 no such line, and a phase's streamed and written lines as shares of all misses
SAMPLE = 1                     # number of the mark at the end of a sample
HUGE = 2 << 20                 # a scenario's memory is whole pieces of these bytes
HUGE_PAGES = HUGE >> 12
LEAST_BYTES = 4 << 20          # smaller mappings (stacks, libraries) are left out, and their lines priced as the fastest node's
MOST_STRETCHES = 64            # of a scenario
CPU = APPLICATION[0]


class Look(NamedTuple):
    """At a mark with pages, all since the start: operations done, the mark (none at the start), lines by page."""

    operations: float
    mark: Optional[Mark]
    lines: Dict[int, pages.Count]


UNKNOWN = (1 << 32) - 1        # node of a page that was never missed


class Lines(NamedTuple):
    """By page of the scenario's memory, as pages.Count has them of one."""

    misses: "array[int]"
    streamed: "array[int]"
    written_back: "array[int]"
    visits: "array[int]"


@dataclass(frozen=True)
class Stretch:
    """What one operation took wherever the memory lay, and each page's lines; `other_ns` is walks, the kernel and what was left out."""

    operations: float
    instructions: float
    other_ns: float
    lines: Lines


@dataclass(frozen=True)
class Scenario:
    """A program's memory and work."""

    nodes: "array[int]"      # by page: where it lay at its last miss
    stretches: List[Stretch]

    def write(self, folder: Path, name: str) -> Path:
        """Two files; the path of the one that names the other."""
        with open(folder / f"{name}.pages", "wb") as file:
            self.nodes.tofile(file)
            for stretch in self.stretches:
                for column in stretch.lines:
                    column.tofile(file)
        lines = [FIRST_LINE, f"memory: {len(self.nodes) >> 8}MiB", f"pages: {name}.pages", "phases:"]
        lines += [f"  - {{operations: {one.operations:.0f}, instructions: {one.instructions:.3f}, other: {one.other_ns:.3f}}}"
                  for one in self.stretches]
        path = folder / f"{name}.yaml"
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        return path


def of(raw: Dict[str, Any], machine: Machine, logs: Path) -> Optional[Scenario]:
    """None for a program that counts no operations."""
    extents: List[Tuple[int, int]] = []
    found, before = [], Look(0.0, None, {})
    for look in _looks(raw, logs):
        extents = extents or spans(raw["events"]["ready"]["mappings"])
        if look.operations - before.operations >= 1:
            found.append(_stretch(before, look, extents, machine))
            before = look
    return Scenario(_nodes(before, extents), found[:MOST_STRETCHES]) if found else None


def _looks(raw: Dict[str, Any], logs: Path) -> Iterator[Look]:
    """None where no operations are known."""
    samples, nr = raw["events"]["samples"], 0
    for row in raw["marks"]:
        nr += row["mark"] == SAMPLE
        if row["mark"] == pages.MARK:
            mark = Mark(row["mark"], row["seq"], row)
            operations = costs.operations_at(samples[nr - 1]["seconds"], raw["events"])
            if operations is not None:
                yield Look(operations, mark, pages.read(pages.file_of(logs, mark)))


def spans(mappings: Sequence[Sequence[int]]) -> List[Tuple[int, int]]:
    """The stretches of memory of these mappings (bytes), of whole pieces of 2 MiB: first page and the one after the last."""
    found: List[List[int]] = []
    for start, end in mappings:
        if end - start < LEAST_BYTES:
            continue
        first, last = start // HUGE * HUGE_PAGES, -(-end // HUGE) * HUGE_PAGES
        if found and first <= found[-1][1]:
            found[-1][1] = last
        else:
            found.append([first, last])
    return [(first, last) for first, last in found]


def _size(extents: Sequence[Tuple[int, int]]) -> int:
    return sum(last - first for first, last in extents)


def _nodes(last: Look, extents: Sequence[Tuple[int, int]]) -> "array[int]":
    return array("I", (last.lines[page].node if page in last.lines and last.lines[page].misses else UNKNOWN
                       for begin, end in extents for page in range(begin, end)))


def _lines(before: Look, after: Look, extents: Sequence[Tuple[int, int]]) -> Lines:
    """Between two looks."""
    found, none, base = Lines(*(array("I", bytes(4 * _size(extents))) for _ in Lines._fields)), pages.Count(0, 0, 0, 0, 0), 0
    for first, last in extents:
        for page in range(first, last):
            now = after.lines.get(page)
            if now:
                for column, new, old in zip(found, now, before.lines.get(page, none)):
                    column[base + page - first] = new - old
        base += last - first
    return found


def _left_out_seconds(mark: Mark, lines: Lines, machine: Machine) -> float:
    """Of the user's lines in no page of the scenario: those of small mappings, as the fastest node's."""
    home, counts = machine.tiers()[0], Counts.of(mark, CPU, ["user"])
    access = machine.nodes[home].access[home]
    random = sum(counts.random) - (sum(lines.misses) - sum(lines.streamed))
    return (random * access.latency_ns / machine.core.mlp + (sum(counts.streamed) - sum(lines.streamed)) * streamed_ns(access)
            + (sum(counts.written_back) - sum(lines.written_back)) * written_back_ns(access)) / 1e9


def _stretch(before: Look, after: Look, extents: Sequence[Tuple[int, int]], machine: Machine) -> Stretch:
    assert after.mark
    mark = after.mark.since(before.mark) if before.mark else after.mark
    operations, window = after.operations - before.operations, Window(mark, machine)
    lines = _lines(before, after, extents)
    user, kernel = window.work(CPU, ["user"]), window.work(CPU, ["kernel"])
    other_seconds = user.walks + kernel.seconds - kernel.instructions + _left_out_seconds(mark, lines, machine)
    return Stretch(operations, mark.instructions([CPU]) / operations, 1e9 * other_seconds / operations, lines)
