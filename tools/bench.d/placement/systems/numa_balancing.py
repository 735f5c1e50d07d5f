# SPDX-License-Identifier: MIT
"""The kernel's own tiering: hint faults promote, reclaim demotes."""
from typing import Dict, Sequence

from .base import KERNEL_CPU, System, cpu_seconds, pin, threads, vmstat, write

DEBUG = "/sys/kernel/debug/sched/numa_balancing"


class NumaBalancing(System):
    """numa_balancing=2 with demotion. Knobs: debugfs' scan settings and the sysctl's rate limit, by file name."""

    def start(self, pids: Sequence[int]) -> None:
        for name, value in self.knobs.items():
            folder = "/proc/sys/kernel" if name.startswith("numa_balancing_") else DEBUG
            write(f"{folder}/{name}", value)
        pin(threads(r"kswapd\d+|kcompactd\d+"), KERNEL_CPU)
        write("/sys/kernel/mm/numa/demotion_enabled", "true")
        write("/proc/sys/kernel/numa_balancing", 2)

    def counters(self) -> Dict[str, float]:
        now = vmstat()
        return {"moved_bytes": 4096 * now["pgmigrate_success"], "promoted_bytes": 4096 * now["pgpromote_success"],
                "hint_faults": now["numa_hint_faults"], "cpu_seconds": cpu_seconds(threads(r"kswapd\d+"))}

    def stop(self) -> None:
        write("/proc/sys/kernel/numa_balancing", 0)
        write("/sys/kernel/mm/numa/demotion_enabled", "false")
