# SPDX-License-Identifier: MIT
"""What came out of a command in a guest: one of four words, and everything to see why."""
import json
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

PASS, FAIL, SKIP, LOST = "pass", "fail", "skip", "lost"
SKIP_STATUS = 77


@dataclass(frozen=True)
class Mark:
    """Counters at one moment, since the last mark 0. `data` is the plugin's line as it is."""

    number: int
    sequence: int
    data: Dict[str, Any]

    def misses(self, node: int, cpus: Optional[Sequence[int]] = None, modes: Sequence[str] = ("user",),
               kinds: Sequence[str] = ("read", "write")) -> int:
        """LLC misses served by `node`; `cpus` None means all of them."""
        return sum(vcpu[mode][kind][node] for vcpu in self.data["vcpus"] if cpus is None or vcpu["cpu"] in cpus
                   for mode in modes for kind in kinds)

    def shares(self, cpus: Optional[Sequence[int]] = None, modes: Sequence[str] = ("user",)) -> List[float]:
        """Share of the misses by node, 0.0 to 1.0 each; all zero when there were none."""
        counts = [self.misses(node, cpus, modes) for node in range(self.data["nodes"])]
        return [count / max(1, sum(counts)) for count in counts]

    def counted(self, name: str, cpus: Optional[Sequence[int]] = None, modes: Sequence[str] = ("user", "kernel")) -> List[int]:
        """Sums of one of the plugin's lists: `streamed` (of the misses) and `written_back` by node, `walks` by page size (4 KiB,
        2 MiB), `walk_lines` by where they were found (L2, LLC, memory). Empty in marks of format 1, which had none of them.
        """
        lists = [vcpu[mode].get(name, []) for vcpu in self.data["vcpus"] if cpus is None or vcpu["cpu"] in cpus
                 for mode in modes]
        return [sum(column) for column in zip(*lists)]

    def instructions(self, cpus: Optional[Sequence[int]] = None, modes: Sequence[str] = ("user", "kernel")) -> int:
        return sum(vcpu[mode]["instructions"] for vcpu in self.data["vcpus"]
                   if cpus is None or vcpu["cpu"] in cpus for mode in modes)

    def since(self, earlier: "Mark") -> "Mark":
        """What was counted after `earlier`; both must lie after the same mark 0."""
        return Mark(self.number, self.sequence, _minus(self.data, earlier.data))


def _minus(new: Any, old: Any) -> Any:
    if isinstance(new, dict):
        return {k: v if k in ("format", "cpu", "nodes", "mark", "seq") else _minus(v, old[k]) for k, v in new.items()}
    if isinstance(new, list):
        return [_minus(a, b) for a, b in zip(new, old)]
    return new - old


def read_marks(file: Path) -> List[Mark]:
    """Marks written so far; a line still being written is left for the next time."""
    if not file.exists():
        return []
    text = file.read_text(encoding="ascii")
    rows = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
    return [Mark(row["mark"], row["seq"], row) for row in rows]


@dataclass
class Outcome:
    """`kind` is pass, fail, skip or lost; `reason` is one line that says why it is not pass."""

    kind: str
    status: Optional[int] = None
    reason: str = ""
    output: List[str] = field(default_factory=list)
    times: List[float] = field(default_factory=list)  # when each line of output came, in the host's seconds since the command began
    dmesg: List[str] = field(default_factory=list)
    marks: List[Mark] = field(default_factory=list)
    seconds: float = 0.0
    results: Optional[Path] = None

    def log(self) -> str:
        """Its output, each line with the second in which it came; of a line that was added later the last one.

        >>> Outcome(PASS, output=["a", "b", "added"], times=[0.5, 12.25]).log()
        '    0.5 a\\n   12.2 b\\n   12.2 added\\n'
        """
        last = self.times[-1] if self.times else 0.0
        return "".join(f"{second:7.1f} {line}\n" for line, second in zip_longest(self.output, self.times, fillvalue=last))

    @property
    def exit_code(self) -> int:
        """For a shell: the command's own code on fail, 77 for skip, 1 when there is none."""
        if self.kind == PASS:
            return 0
        if self.kind == SKIP:
            return SKIP_STATUS
        return self.status if self.kind == FAIL and self.status else 1
