# SPDX-License-Identifier: MIT
"""The kernel's own tiering: hint faults promote, reclaim demotes."""
from typing import Dict, Sequence

from .base import KERNEL_CPU, System, cpu_seconds, pin, threads, vmstat, write

DEBUG = "/sys/kernel/debug/sched/numa_balancing"
MODE = "/proc/sys/kernel/numa_balancing"
ELSEWHERE = {"watermark_scale_factor": "/proc/sys/vm", "min_free_kbytes": "/proc/sys/vm",
             "numa_balancing_promote_rate_limit_MBps": "/proc/sys/kernel"}


class NumaBalancing(System):
    """NUMA balancing with demotion. Knobs: `mode` (1 between sockets, 2 between tiers, 3 both; 2 unless given), headroom and
    rate limit by their sysctls' names, debugfs' scan settings by file name."""

    def start(self, pids: Sequence[int]) -> None:
        knobs = {"mode": 2, **self.knobs}
        mode = knobs.pop("mode")
        for name, value in knobs.items():
            write(f"{ELSEWHERE.get(name, DEBUG)}/{name}", value)
        pin(threads(r"kswapd\d+|kcompactd\d+"), KERNEL_CPU)
        write("/sys/kernel/mm/numa/demotion_enabled", "true")
        write(MODE, mode)

    def counters(self) -> Dict[str, float]:
        now = vmstat()
        return {"moved_bytes": 4096 * now["pgmigrate_success"], "promoted_bytes": 4096 * now["pgpromote_success"],
                "demoted_bytes": 4096 * sum(count for name, count in now.items() if name.startswith("pgdemote_")),
                "hint_faults": now["numa_hint_faults"], "cpu_seconds": cpu_seconds(threads(r"kswapd\d+"))}

    def stop(self) -> None:
        write(MODE, 0)
        write("/sys/kernel/mm/numa/demotion_enabled", "false")
