# SPDX-License-Identifier: MIT
"""NUMA balancing by the access, as the published runs had it, and not by the second. Pure data; the README derives it."""
from typing import Any, Dict

_HEADROOM = {"watermark_scale_factor": 200, "min_free_kbytes": 32768}
# A pass over all memory each 16 s, in pieces of 64 MiB.
_SCAN = {"mode": 2, "scan_delay_ms": 100, "scan_period_min_ms": 16000, "scan_period_max_ms": 16000, "scan_size_mb": 64, **_HEADROOM}
_NO_LIMIT = {"numa_balancing_promote_rate_limit_MBps": 65536}
SETTINGS: Dict[str, Dict[str, Any]] = {
    "like-base": {**_SCAN, "hot_threshold_ms": 600_000, **_NO_LIMIT},  # whatever faults is promoted
    "like-selection": {**_SCAN, "hot_threshold_ms": 200, **_NO_LIMIT},
    "like-limited": {**_SCAN, "hot_threshold_ms": 50, "numa_balancing_promote_rate_limit_MBps": 4},
}
