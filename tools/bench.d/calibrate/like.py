# SPDX-License-Identifier: MIT
"""NUMA balancing by the access, as the published runs had it, and not by the second. Pure data; tools/bench.d/README.md derives it."""
from typing import Any, Dict

# A pass over all memory each 10 s, if the kernel could, in pieces of 8 MiB; 2 % of a node is free between its watermarks.
_SCAN = {"mode": 2, "scan_delay_ms": 100, "scan_period_min_ms": 10_000, "scan_period_max_ms": 10_000, "scan_size_mb": 8,
         "watermark_scale_factor": 200, "min_free_kbytes": 32768}
_NO_LIMIT = {"numa_balancing_promote_rate_limit_MBps": 65536}
SETTINGS: Dict[str, Dict[str, Any]] = {
    "like-base": {**_SCAN, "hot_threshold_ms": 600_000, **_NO_LIMIT},  # whatever faults is promoted
    "like-selection": {**_SCAN, "hot_threshold_ms": 300, **_NO_LIMIT},
    # While more than the limit would be promoted the kernel lowers its 1000 ms by an eighth a period; it ends with one eighth.
    "like-limited": {**_SCAN, "hot_threshold_ms": 125, "numa_balancing_promote_rate_limit_MBps": 2},
}
