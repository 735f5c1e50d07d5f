# SPDX-License-Identifier: MIT
"""The kernel's own tiering: hint faults promote, reclaim demotes."""
from typing import Dict, List, Sequence

from .base import KERNEL_CPU, System, cpu_seconds, pin, threads, vmstat, write

DEBUG = "/sys/kernel/debug/sched/numa_balancing"
MODE = "/proc/sys/kernel/numa_balancing"
ELSEWHERE = {"watermark_scale_factor": "/proc/sys/vm", "min_free_kbytes": "/proc/sys/vm",
             "numa_balancing_promote_rate_limit_MBps": "/proc/sys/kernel"}


class NumaBalancing(System):
    """NUMA balancing with demotion. Knobs: `mode` (1 between sockets, 2 between tiers, 3 both; 2 unless given), headroom and
    rate limit by their sysctls' names, debugfs' scan settings by file name."""

    def launcher(self) -> List[str]:
        """Demotion and headroom are there before the application, as on a machine that has them since boot.

        A kswapd that fails 16 times to free its node, which without demotion it does while memory fills, is woken no more:
        nothing is demoted then, and nothing promoted to the full node.
        """
        pin(threads(r"kswapd\d+|kcompactd\d+"), KERNEL_CPU)
        for name, value in self.knobs.items():
            if name != "mode":
                write(f"{ELSEWHERE.get(name, DEBUG)}/{name}", value)
        write("/sys/kernel/mm/numa/demotion_enabled", "true")
        return []

    def start(self, pids: Sequence[int]) -> None:
        write(MODE, self.knobs.get("mode", 2))

    def counters(self) -> Dict[str, float]:
        now = vmstat()
        return {"moved_bytes": 4096 * now["pgmigrate_success"], "promoted_bytes": 4096 * now["pgpromote_success"],
                "demoted_bytes": 4096 * sum(count for name, count in now.items() if name.startswith("pgdemote_")),
                "hint_faults": now["numa_hint_faults"], "cpu_seconds": cpu_seconds(threads(r"kswapd\d+"))}

    def stop(self) -> None:
        write(MODE, 0)
        write("/sys/kernel/mm/numa/demotion_enabled", "false")
