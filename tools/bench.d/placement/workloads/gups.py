# SPDX-License-Identifier: MIT
"""GUPS: random updates of a large array of which a small part is hot, and known."""
from typing import Any, Dict, List, Tuple

from .base import MEBI, OneProgram


class Gups(OneProgram):
    """The stable hot set: 128 MiB in pieces of 2 MiB at random places, 7 of 8 updates go there."""

    name = "gups-stable"
    programs = ("hmk-load-gups",)
    has_truth = True
    page_sizes: Tuple[str, ...] = ("4K", "THP")
    memory_bytes = 1280 * MEBI
    window_seconds = 16.0
    chunk, hot_bytes, hot_percent, write_percent = "2MiB", 128 * MEBI, 87.5, 100

    def command(self) -> List[Any]:
        words = [self.build / "tools/load/hmk-load-gups", "--hold", "--size", f"{self.memory_bytes // MEBI}MiB",
                 "--chunk", self.chunk, "--hot", f"{self.hot_bytes // MEBI}MiB",
                 "--hot-updates", f"{self.hot_percent}%", "--write-share", f"{self.write_percent}%",
                 "--pages", "thp" if self.page_size == "THP" else "4KiB"]
        if self.placed:
            words += ["--place", "truth"]
        if not self.checked:
            words += ["--no-check"]
        if self.has_jump:
            words += ["--jump-after", f"{round(500 * self.window_seconds)}ms"]
        return words

    def stop(self) -> Dict[str, Any]:
        ended = super().stop()
        return ended if self.checked else {**ended, "wrong_values": None}


class GupsJump(Gups):
    """Half-way through, other pieces become hot."""

    name, has_jump, page_sizes = "gups-jump", True, ("4K",)


class Needle(Gups):
    """A few megabytes hot in gigabytes of cold."""

    name = "needle"
    memory_bytes = 1792 * MEBI
    chunk, hot_bytes, hot_percent = "512KiB", 16 * MEBI, 90


class GupsLarge(Gups):
    """More is hot than fits into tier 1."""

    name, page_sizes = "gups-large", ("4K", "THP")
    has_truth = False  # for the oracle, which places all of it: hindsight tells the best
    memory_bytes, hot_bytes, hot_percent = 1536 * MEBI, 640 * MEBI, 95


class GupsFits(Gups):
    """All of it fits into tier 1: the right answer is to do nothing."""

    name, fits, memory_bytes = "gups-fits", True, 320 * MEBI


class GupsRead(Gups):
    """Nothing is written."""

    name, page_sizes, write_percent, window_seconds = "gups-read", ("4K",), 0, 12.0


class GupsMixed(Gups):
    """Every other access writes."""

    name, page_sizes, write_percent, window_seconds = "gups-mixed", ("4K",), 50, 12.0
