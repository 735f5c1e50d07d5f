# SPDX-License-Identifier: MIT
"""How well a system's view of the memory fits the truth: recall and precision of its hot set."""
import json
import re
from array import array
from bisect import bisect_right
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

PAGE = 4096
BINS = 160
PRESENT, PFN_MASK = 1 << 63, (1 << 55) - 1
Region = Tuple[int, int, float]


def series(results: Path) -> List[Dict[str, Any]]:
    """One entry per look, in order: seconds, recall, precision, and both views in BINS steps of address."""
    found = []
    for file in sorted(results.glob("belief-*.json"), key=lambda path: int(path.stem.split("-")[1])):
        look = json.loads(file.read_text(encoding="ascii"))
        regions = [(a, n, hotness) for a, n, hotness in look["regions"]] if "regions" in look else from_trace(look["trace"])
        pagemap = file.with_name(file.name.replace("belief", "pagemap").replace("json", "bin"))
        if pagemap.exists():
            regions = to_virtual(regions, pagemap, look["start"])
        recall, precision = best(regions, look["truth"])
        span = (look["start"], look["length"])
        found.append({"seconds": look["seconds"], "recall": recall, "precision": precision,
                      "truth": bins([(a, n, 1.0) for a, n in look["truth"]], span), "believed": bins(regions, span)})
    return found


def best(regions: Sequence[Region], truth: Sequence[Tuple[int, int]]) -> Tuple[float, float]:
    """Recall and precision, by bytes, at the hotness threshold with the best harmonic mean of both.

    The threshold is chosen with hindsight for every system alike: what is judged is the order, not the knob.
    """
    hot_bytes = sum(length for _, length in truth)
    spans = sorted((start, length) for start, length in truth)
    by_hotness: Dict[float, List[int]] = {}
    for start, length, hotness in regions:
        sums = by_hotness.setdefault(hotness, [0, 0])
        sums[0] += length
        sums[1] += overlap(start, length, spans)
    taken = right = 0
    top = (0.0, 0.0, 0.0)
    for hotness in sorted(by_hotness, reverse=True):
        if hotness <= 0:
            break
        taken, right = taken + by_hotness[hotness][0], right + by_hotness[hotness][1]
        recall, precision = right / hot_bytes, right / taken
        score = 2 * recall * precision / (recall + precision) if right else 0.0
        top = max(top, (score, recall, precision))
    return top[1], top[2]


def overlap(start: int, length: int, spans: Sequence[Tuple[int, int]]) -> int:
    """Bytes of [start, start + length) inside `spans`, which are sorted and apart."""
    total, end = 0, start + length
    for at in range(max(0, bisect_right(spans, (start, 1 << 64)) - 1), len(spans)):
        low, size = spans[at]
        if low >= end:
            break
        total += max(0, min(end, low + size) - max(start, low))
    return total


def from_trace(text: str) -> List[Region]:
    """DAMON's regions from its tracepoint's lines: hotness is the number of checks that found an access."""
    told = re.findall(r"damon_aggregated: \S+ \S+ (\d+)-(\d+): (\d+) \d+", text)
    latest = {int(start): (int(end), float(seen)) for start, end, seen in told}
    return [(start, end - start, seen) for start, (end, seen) in sorted(latest.items())]


def to_virtual(regions: Sequence[Region], pagemap: Path, start: int) -> List[Region]:
    """Physical regions as seen through the page table of one address range; runs of equal hotness joined."""
    entries = array("Q")
    entries.frombytes(pagemap.read_bytes())
    ordered = sorted(regions)
    starts = [region[0] for region in ordered]
    found: List[List[Any]] = []
    for index, entry in enumerate(entries):
        hotness = 0.0
        if entry & PRESENT:
            physical = (entry & PFN_MASK) * PAGE
            at = bisect_right(starts, physical) - 1
            if at >= 0 and physical < ordered[at][0] + ordered[at][1]:
                hotness = ordered[at][2]
        if found and found[-1][2] == hotness:
            found[-1][1] += PAGE
        else:
            found.append([start + index * PAGE, PAGE, hotness])
    return [(at, length, hotness) for at, length, hotness in found]


def bins(regions: Sequence[Region], span: Tuple[int, int]) -> List[float]:
    """Mean hotness of BINS equal pieces of `span`, relative to the largest of them."""
    start, length = span
    step = length / BINS
    sums = [0.0] * BINS
    for low, size, hotness in regions:
        begin, end = max(0.0, (low - start) / step), min(float(BINS), (low + size - start) / step)
        number = int(begin)
        while hotness and number < end:
            sums[number] += hotness * (min(end, number + 1) - max(begin, number))
            number += 1
    most = max(sums) or 1.0
    return [round(value / most, 3) for value in sums]
