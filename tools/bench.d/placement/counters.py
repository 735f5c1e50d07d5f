# SPDX-License-Identifier: MIT
"""The CPU's own counters of one program, by perf_event_open(2), as far as this machine has them.

    counters = Counters(pid)
    counters.read()               # {"cycles": 1.2e9, ...}: since they were opened, of its threads and children to come, too
    counters.missing              # {"llc misses": "No such file or directory"}
"""
import ctypes
import os
import struct
from typing import Dict, Tuple

PERF_EVENT_OPEN = 298  # of x86-64
HARDWARE, CACHE = 0, 3
LAST_LEVEL, NODE = 2, 6
ATTRIBUTES = 112       # bytes of struct perf_event_attr, version 5
INHERIT, EXCLUDE_KERNEL = 1 << 1, 1 << 5
ENABLED_AND_RUNNING = 3  # PERF_FORMAT_TOTAL_TIME_*: both times beside the value


def _cache(level: int, missed: bool) -> int:
    return level | missed << 16  # reads


EVENTS: Dict[str, Tuple[int, int]] = {
    "cycles": (HARDWARE, 0), "instructions": (HARDWARE, 1), "llc misses": (CACHE, _cache(LAST_LEVEL, True)),
    "node loads": (CACHE, _cache(NODE, False)), "node load misses": (CACHE, _cache(NODE, True)),
}


def scaled(value: int, enabled: int, running: int) -> float:
    """A counter that had to share the hardware ran part of the time: what it would have counted in all of it."""
    return value * enabled / running if running else 0.0


class Counters:
    """Those of EVENTS that open; without root those of user mode only."""

    def __init__(self, pid: int) -> None:
        self.missing: Dict[str, str] = {}
        self._files: Dict[str, int] = {}
        libc = ctypes.CDLL(None, use_errno=True)
        flags = INHERIT | (EXCLUDE_KERNEL if os.geteuid() else 0)
        for name, (kind, config) in EVENTS.items():
            attributes = struct.pack("=IIQQQQQ", kind, ATTRIBUTES, config, 0, 0, ENABLED_AND_RUNNING, flags).ljust(ATTRIBUTES, b"\0")
            file = libc.syscall(PERF_EVENT_OPEN, attributes, pid, -1, -1, 0)
            if file < 0:
                self.missing[name] = os.strerror(ctypes.get_errno())
            else:
                self._files[name] = file

    def read(self) -> Dict[str, float]:
        return {name: scaled(*struct.unpack("=QQQ", os.read(file, 24))) for name, file in self._files.items()}

    def close(self) -> None:
        for file in self._files.values():
            os.close(file)
        self._files.clear()
