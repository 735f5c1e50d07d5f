#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 400
"""128 TiB of which next to nothing is there, 100,000 VMAs of one page, one VMA of 16,384 page tables: intervals end, pages
are found and move, and the mmap lock is given up after a few thousand entries."""
import re
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

# HMK_HOLD_MOST, and what one region or one page table adds to it.
MOST_ENTRIES = 4096 + 512

Path("/proc/sys/vm/max_map_count").write_text("262144", encoding="ascii")
lib.load_module()
lib.trace_module()
for space in ("sparse", "many", "wide"):
    print(lib.run(lib.helper("strange"), space).stdout, flush=True)
    intervals = lib.traced("hmk_interval")
    (lib.TRACING / "trace").write_text("", encoding="ascii")
    longest = max(int(re.search(r"longest_hold=(\d+)", line).group(1)) for line in intervals)
    lib.check(0 < longest <= MOST_ENTRIES, f"{space}: at most {longest} entries without giving up the lock, {len(intervals)} intervals")
lib.unload_module()
