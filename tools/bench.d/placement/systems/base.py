# SPDX-License-Identifier: MIT
"""What a system under test is to the benchmark, inside the guest. Python's library only."""
import re
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

APPLICATION_CPU, CLIENT_CPU, DAEMON_CPU, KERNEL_CPU = range(4)  # configs/lab/bench-four-tier.yaml
Knobs = Dict[str, Any]


class System:
    """Started when the application's memory has been touched, stopped before the application ends."""

    #: What `believed()` speaks of: addresses of the first managed process, or physical ones.
    is_physical = False

    def __init__(self, knobs: Knobs, build: Path, module: Optional[Path]) -> None:
        self.knobs, self.build, self.module = knobs, build, module
        self.left_out: List[str] = []  # knobs this kernel has nothing for, known once it has been started

    def launcher(self) -> List[str]:
        """Called before the application is there: words that start its command line."""
        return []

    def start(self, pids: Sequence[int]) -> None:
        """Begin to place the memory of `pids`."""

    def believed(self) -> Dict[str, Any]:
        """What the system holds for hot: `regions`, or DAMON's `trace` (belief.py reads it); empty when it does not tell."""
        return {}

    def counters(self) -> Dict[str, float]:
        """Whatever only grows: moved_bytes, and what the system tells beside: copied_twice_bytes, cpu_seconds."""
        return {"moved_bytes": 4096 * vmstat()["pgmigrate_success"]}

    def stop(self) -> None:
        """Leave nothing running."""


def vmstat() -> Dict[str, int]:
    rows = (line.split() for line in Path("/proc/vmstat").read_text(encoding="ascii").splitlines())
    return {name: int(value) for name, value in rows}


def write(path: str, value: Any) -> None:
    Path(path).write_text(str(value), encoding="ascii")


def threads(pattern: str) -> List[int]:
    """PIDs of the threads whose name matches, kernel threads included."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                name = (entry / "comm").read_text(encoding="utf-8").strip()
            except OSError:
                continue
            if re.fullmatch(pattern, name):
                found.append(int(entry.name))
    return found


def pin(pids: Sequence[int], cpu: int) -> None:
    for pid in pids:
        subprocess.run(["taskset", "-pc", str(cpu), str(pid)], check=False, stdout=subprocess.DEVNULL)


def cpu_seconds(pids: Sequence[int]) -> float:
    """User and system time of whole processes, in the guest's clock."""
    ticks = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / 100
