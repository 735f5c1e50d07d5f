# SPDX-License-Identifier: MIT
"""What things cost on a server, where a machine file does not say it: constants with their sources, and the move of a page."""
from .machine import Access

LINE_BYTES = 64
NS_PER_INSTRUCTION = 0.33   # a core of 3 GHz that completes one instruction a cycle
AHEAD = 20                  # lines: how far a streamer runs ahead (Intel's optimization manual)
WALKERS = 2                 # walks at a time (Skylake; the same manual)
WALK_NS = 7.0               # a walk that finds its lines in L2: 20 cycles at 3 GHz
LLC_NS = 15.0               # a line found in the LLC: 44 cycles at 3 GHz (Skylake)

# move_pages(2) on Zen 3 moves 3.55, 6.16 and 10.88 GB/s in folios of 4 KiB, 64 KiB and 2 MiB (LKML, March 2026); these
# three follow from those three. A folio of 2 MiB is one entry, one of 64 KiB sixteen.
FOLIO_NS, ENTRY_NS, COPY_MBPS = 521.5, 257.4, 10924.0
SHOOTDOWN_NS = 500.0        # for each CPU it interrupts; ours, estimates run from 200 to 1500
SMALL, HUGE = 4096, 2 << 20


def streamed_ns(access: Access, factor: float = 1.0) -> float:
    """A line that was fetched ahead: the node's bandwidth, or what one CPU draws with AHEAD lines under way."""
    return max(LINE_BYTES * 1e3 / access.bandwidth_mbps, access.latency_ns * factor / AHEAD)


def written_back_ns(access: Access, factor: float = 1.0) -> float:
    """A dirty line on its way out, AHEAD of them at a time: nobody waits for one."""
    return max(LINE_BYTES * 1e3 / access.bandwidth_mbps, access.write_latency_ns * factor / AHEAD)


def move_seconds(size: float, folio: int, link_mbps: float, shootdowns: int = 0, cpus: int = 0) -> float:
    """CPU time of moving `size` bytes in folios of `folio` bytes over links of which the narrower has `link_mbps`.

    `shootdowns` are those it takes beyond one for each folio of a process on one CPU, `cpus` who is interrupted by each.
    """
    entries = 1 if folio == HUGE else folio // SMALL
    return (size / folio * (FOLIO_NS + entries * ENTRY_NS) + size * 1e3 / min(COPY_MBPS, link_mbps)
            + shootdowns * cpus * SHOOTDOWN_NS) / 1e9
