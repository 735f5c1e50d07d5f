# SPDX-License-Identifier: MIT
"""Programs of ours that are a whole workload each: graph algorithms, a sort, a training, a stream."""
import os
from typing import Any, List

from guest.hmkd import HINTS
from .base import MEBI, OneProgram


class Graph(OneProgram):
    """Breadth-first search from random roots on a Kronecker graph: few vertices have most edges.

    It misses every eight instructions, GUPS every twenty: on a clock of twice the time for each, both miss as often.
    """

    name = algorithm = "bfs"
    programs = ("hmk-load-graph",)
    memory_bytes = 1280 * MEBI
    ns_per_instruction = 16

    def command(self) -> List[Any]:
        return [self.build / "tools/load/hmk-load-graph", "--hold", "--algorithm", self.algorithm, "--size",
                f"{self.memory_bytes // MEBI}MiB"]


class Sssp(Graph):
    """Shortest paths with weights, from random roots."""

    name = algorithm = "sssp"


class Pagerank(Graph):
    """Every edge once an iteration, in order; the ranks it reads are anywhere."""

    name = algorithm = "pagerank"


class Sort(OneProgram):
    """TeraSort in memory: every record moves twice a round; little is hot for long."""

    name = "sort"
    programs = ("hmk-load-sort",)
    memory_bytes = 1200 * MEBI
    window_seconds = 28.0               # a whole round

    def command(self) -> List[Any]:
        return [self.build / "tools/load/hmk-load-sort", "--hold", "--size", f"{self.memory_bytes // MEBI}MiB"]


class Train(OneProgram):
    """A network in training: every layer forward, then backward; an activation is used twice, a moment once in an iteration."""

    name = "train"
    programs = ("hmk-load-train",)
    memory_bytes = 640 * MEBI
    window_seconds = 90.0               # about two iterations
    hints = "none"

    def command(self) -> List[Any]:
        return [self.build / "tools/load/hmk-load-train", "--hold", "--compute", "1", "--size", f"{self.memory_bytes // MEBI}MiB",
                "--pages", "thp" if self.page_size == "THP" else "4KiB", *([] if self.checked else ["--no-check"]), "--hints", self.hints]

    def prepare(self) -> None:
        os.environ["HMK_HINTS_SOCKET"] = HINTS
        super().prepare()


class TrainPast(Train):
    """The same, and says which of its memory is dead or not used for a while."""

    name = "train-past"
    hints = "past"


class TrainBoth(Train):
    """The same, and says what it uses next, too."""

    name = "train-both"
    hints = "both"


class TrainLies(Train):
    """The same, and says of any of its memory that it is about to be used, or is not for a while."""

    name = "train-lies"
    hints = "lies"


class Stream(OneProgram):
    """STREAM's triad: all of it is used alike, in order, as fast as memory gives it."""

    name = "stream"
    programs = ("hmk-load-stream",)
    memory_bytes = 1200 * MEBI

    def command(self) -> List[Any]:
        return [self.build / "tools/load/hmk-load-stream", "--hold", "--size", f"{self.memory_bytes // MEBI}MiB",
                "--pages", "thp" if self.page_size == "THP" else "4KiB", *([] if self.checked else ["--no-check"])]
