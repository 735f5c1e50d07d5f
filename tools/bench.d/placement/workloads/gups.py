# SPDX-License-Identifier: MIT
"""GUPS: random updates of a large array of which a small part is hot, and known."""
from typing import Any, Dict, List

from .base import APPLICATION_CPU, CLIENT_CPU, MEBI, OneProgram, swap_in_memory


class Gups(OneProgram):
    """The stable hot set: 128 MiB in pieces of 2 MiB at random places, 7 of 8 updates go there."""

    name = "gups-stable"
    programs = ("hmk-load-gups",)
    has_truth = True
    memory_bytes = 1280 * MEBI
    window_seconds = 16.0
    chunk, hot_bytes, hot_percent, write_percent = "2MiB", 128 * MEBI, 87.5, 100

    def command(self) -> List[Any]:
        words = [self.build / "tools/load/hmk-load-gups", "--hold", "--size", f"{self.memory_bytes // MEBI}MiB",
                 "--chunk", self.chunk, "--hot", f"{self.hot_bytes // MEBI}MiB",
                 "--hot-updates", f"{self.hot_percent}%", "--write-share", f"{self.write_percent}%",
                 "--pages", "thp" if self.page_size == "THP" else "4KiB", *self.more()]
        if self.placed:
            words += ["--place", "truth"]
        if not self.checked:
            words += ["--no-check"]
        if self.has_jump:
            words += ["--jump-after", f"{round(500 * self.window_seconds)}ms"]
        return words

    def more(self) -> List[Any]:
        """Further flags of the variants."""
        return []

    def stop(self) -> Dict[str, Any]:
        ended = super().stop()
        return ended if self.checked else {**ended, "wrong_values": None}


class GupsJump(Gups):
    """Half-way through, other pieces become hot."""

    name, has_jump = "gups-jump", True


class Needle(Gups):
    """A few megabytes hot in gigabytes of cold."""

    name = "needle"
    memory_bytes = 1792 * MEBI
    chunk, hot_bytes, hot_percent = "512KiB", 16 * MEBI, 90


class GupsLarge(Gups):
    """More is hot than fits into tier 1."""

    name = "gups-large"
    has_truth = False  # for the oracle, which places all of it: hindsight tells the best
    memory_bytes, hot_bytes, hot_percent = 1536 * MEBI, 640 * MEBI, 95


class GupsFits(Gups):
    """All of it fits into tier 1: the right answer is to do nothing."""

    name, fits, memory_bytes = "gups-fits", True, 320 * MEBI


class GupsHalf(Gups):
    """One half is never used again. There is swap, for who pages it out."""

    name = "gups-half"
    memory_bytes, hot_bytes, hot_percent = 2048 * MEBI, 1024 * MEBI, 100

    def prepare(self) -> None:
        swap_in_memory(self.memory_bytes)
        super().prepare()


class GupsRead(Gups):
    """Nothing is written."""

    name, write_percent, window_seconds = "gups-read", 0, 12.0


class GupsMixed(Gups):
    """Every other access writes."""

    name, write_percent, window_seconds = "gups-mixed", 50, 12.0


class GupsPhases(Gups):
    """Twenty levels of hotness, the n-th with 1/n of the first's updates; all are dealt anew every third of the window."""

    name, window_seconds = "gups-phases", 24.0
    has_truth = False  # for the oracle: it would move all of it again in each phase
    phases = 3

    def more(self) -> List[Any]:
        return ["--levels", 20, "--jump-every", f"{round(1000 * self.window_seconds / self.phases)}ms"]


class GupsSockets(Gups):
    """A thread on each socket, one hot set for both: what is near to one is far from the other."""

    name = "gups-sockets"
    application_cpus = (APPLICATION_CPU, CLIENT_CPU)

    def more(self) -> List[Any]:
        return ["--cpus", ",".join(map(str, self.application_cpus))]
