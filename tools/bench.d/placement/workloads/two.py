# SPDX-License-Identifier: MIT
"""Two programs at once that both want the fast memory, and only one of them has a use for it."""
from typing import Any, Dict, List, Sequence, Tuple

from .base import APPLICATION_CPU, MEBI, Follower, Range, Workload, along

EACH = 640 * MEBI


class GupsTwo(Workload):
    """A GUPS with a hot set beside one that updates all of its memory alike and was there first, so has tier 1.

    They take turns on CPU 0; both are managed. An operation is an update of either.
    """

    name = "gups-two"
    programs = ("hmk-load-gups",)
    memory_bytes = 2 * EACH
    window_seconds = 16.0

    def _program(self, seed: int, *flags: Any) -> Follower:
        words = [self.build / "tools/load/hmk-load-gups", "--hold", "--size", f"{EACH // MEBI}MiB", "--seed", seed,
                 "--pages", "thp" if self.page_size == "THP" else "4KiB", *flags, *([] if self.checked else ["--no-check"])]
        program = Follower(words, APPLICATION_CPU)
        program.wait("truth")
        return program

    def prepare(self) -> None:
        even = self._program(1, "--hot", "100%", "--hot-updates", "100%")
        self._programs = [self._program(2, "--hot", "64MiB", "--hot-updates", "87.5%"), even]

    def pids(self) -> List[int]:
        return [program.pid for program in self._programs]

    def start(self) -> None:
        for program in self._programs:
            program.go()

    def ops(self) -> int:
        return sum(program.ops for program in self._programs)

    def reports(self) -> List[Tuple[float, int]]:
        return together([program.reports for program in self._programs])

    def truth(self) -> List[Range]:
        return self._programs[0].truths[-1][1]

    def extent(self) -> Range:
        told = self._programs[0].wait("ready")
        return told["pid"], told["start"], told["length"]

    def stop(self) -> Dict[str, Any]:
        ends = [program.stop() for program in self._programs]
        added = {name: sum(end[name] for end in ends) for name in ("ops", "wrong_values")}
        worst = {name: max(end[name] for end in ends) for name in ("gap_p50_us", "gap_p99_us", "gap_max_us")}
        return {**added, **worst, **({} if self.checked else {"wrong_values": None})}


def together(programs: Sequence[Sequence[Tuple[float, int]]]) -> List[Tuple[float, int]]:
    """What all had done whenever the first told; none until each has told twice."""
    if any(len(reports) < 2 for reports in programs):
        return []
    columns = [list(zip(*reports)) for reports in programs]
    return [(at, round(sum(along(seconds, ops, at) for seconds, ops in columns))) for at, _ in programs[0]]
