# SPDX-License-Identifier: MIT
"""The experiments on where memory lies: HK-73 to 79 and 83, and HK-69's baselines. Guests, and tools/bench scale. Pure."""
import os
import re
from pathlib import Path
from statistics import mean
from typing import Any, Dict, List, Optional, Tuple

from experiment import Experiment, Line, Results, ahead, claim, gain
from measures import faster, pace, per_operation
from profiling import GUPS, NEEDLE, ONE_RUN, SCALE
from needed import EMULATED, ROOT, SHORT, TWO_TIERS, Guest, command, guest
from workloads import WORKLOADS

BUILD = Path(os.environ.get("HMK_BUILD", ROOT / "build/release"))
SERVERS = ("redis-zipf",)
Cells = Dict[Tuple[str, str], Guest]  # by workload and system


def over(results: Results, cells: Cells, workload: str, system: str) -> Optional[float]:
    """HM-Keeper's gain over a system on one workload."""
    return faster(results.get(cells[workload, "hm-keeper"]), results.get(cells[workload, system]), per_operation if workload in SERVERS else pace)


HEAP = ("three quarters of HSQLDB's modelled time are instructions, which no placement changes, and in the 12 intervals of its window HM-Keeper "
        "comes no farther than first-touch's share of tier 1")


# HK-73: every workload against every system, averages of what was run.
NAMES = ("tpcc-hsqldb", "sssp", "sort", "bfs", "redis-zipf")
RIVALS = {"first-touch": ("first-touch", 20, 45), "memory-tiering": ("memory-tiering (NUMA balancing between tiers)", 22, 45),
          "auto-numa": ("AutoNUMA (NUMA balancing between sockets)", 25, 72)}
TABLE: Cells = {(name, system): guest(name, system) for system in ("hm-keeper", *RIVALS) for name in NAMES}


def averages(results: Results) -> List[Line]:
    lines = []
    for system, (called, average, most) in RIVALS.items():
        gains = {name: over(results, TABLE, name, system) for name in NAMES}
        known = {name: one for name, one in gains.items() if one is not None}
        each = ", ".join(f"{name} {f'{known[name]:+.0f} %' if name in known else 'not run'}" for name in NAMES)
        lines.append(claim(f"over {called}: average, largest; each", f"+{average} %, +{most} %",
                           f"{mean(known.values()):+.1f} %, {max(known.values()):+.0f} %; {each}" if known else None,
                           bool(known) and mean(known.values()) > 0, HEAP))
    return lines


# HK-74: tiers that are farther apart.
FAR: Cells = {(name, system): guest(name, system, EMULATED, SHORT if name == "gups-stable" else 0.0) for name in ("gups-stable", "tpcc-hsqldb")
              for system in ("first-touch", "hm-keeper", "memory-tiering")}


def emulated(results: Results) -> List[Line]:
    return [gain(f"{name}, over {system}", paper, over(results, FAR, name, system))
            for name in ("gups-stable", "tpcc-hsqldb") for system, paper in (("first-touch", 19), ("memory-tiering", 26))]


# HK-75: what the time goes to.
def breakdown(results: Results) -> List[Line]:
    lines = []
    for name, cells in (("tpcc-hsqldb", TABLE), ("gups-stable", STABLE)):
        base, ours, theirs = (_per_operation(results.get(cells[name, system])) for system in ("first-touch", "hm-keeper", "memory-tiering"))
        exposed = [one["application_kernel_ns"] - base["application_kernel_ns"] for one in (theirs, ours)] if base and ours and theirs else []
        own = [one["application_ns"] - one["application_kernel_ns"] for one in (theirs, ours)] if ours and theirs else []
        lines += [claim(f"{name}: kernel time in the application's way beyond first-touch's, memory-tiering's over ours", "3.5 times (moves)",
                        f"{exposed[0] / exposed[1]:.1f} times ({exposed[0]:.3g} and {exposed[1]:.3g} ns an operation)" if exposed else None,
                        bool(exposed) and exposed[0] > exposed[1]),
                  gain(f"{name}: the application's own time, less than with memory-tiering", 21, 100 * (1 - own[1] / own[0]) if own else None),
                  _within(f"{name}: profiling", results.get(cells[name, "hm-keeper"]))]
    return lines


def _per_operation(run: Any) -> Optional[Dict[str, Any]]:
    return run["figures"]["per_operation"] if run else None


def _within(what: str, run: Any) -> Line:
    if not run:
        return claim(what, "always within the budget", None, None)
    took = 100 * run["figures"]["counters"]["profiling_seconds"] / run["cell"]["window_seconds"]
    allowed = float(run["cell"]["knobs"]["overhead"].rstrip("%"))
    return claim(what, "always within the budget", f"{took:.1f} % of a CPU in the guest's clock, {allowed:g} % allowed", took <= allowed)


STABLE: Cells = {("gups-stable", system): guest("gups-stable", system) for system in ("first-touch", "hm-keeper", "memory-tiering")}


# HK-76: who serves the accesses.
def by_tier(results: Results) -> List[Line]:
    ours, theirs = (results.get(TABLE["tpcc-hsqldb", system]) for system in ("hm-keeper", "memory-tiering"))
    shares = [[100 * one for one in run["figures"]["tier_share"]] for run in (ours, theirs)] if ours and theirs else []
    latency = [run["figures"]["modelled_latency_ns"] for run in (ours, theirs)] if ours and theirs else []
    return [claim("accesses by tier 1 / 2 / 3 / 4, HM-Keeper; memory-tiering", "96.9 / 0.1 / 3.0 / 0.0 %; 76.6 / 4.6 / 18.5 / 0.2 %",
                  "; ".join(" / ".join(f"{one:.1f}" for one in share) + " %" for share in shares) or None,
                  bool(shares) and shares[0][0] > shares[1][0]),
            claim("mean latency, HM-Keeper and memory-tiering", "96 and 127 ns",
                  f"{latency[0]:.0f} and {latency[1]:.0f} ns" if latency else None, bool(latency) and latency[0] < latency[1])]


# HK-77: as the database grows.
def grown(times: int) -> Tuple[str, ...]:
    """The command of tpcc-hsqldb with so many times the rows and the heap; it begins to work as soon as it has loaded them."""
    words = [str(word) for word in WORKLOADS["tpcc-hsqldb"](BUILD, "4K", False).command()]  # type: ignore[attr-defined]
    words = [re.sub(r"(?<=^-Xm[sx])\d+(?=m$)", lambda size: str(times * int(size.group())), word) for word in words]
    return tuple(str(times * int(word)) if word.isdigit() else word for word in words)


TWICE: Cells = {("twice", system): command("tpcc-hsqldb-twice", grown(2), "tpcc-hsqldb", system, "4K", 120.0)
                for system in ("first-touch", "hm-keeper")}


def growing(results: Results) -> List[Line]:
    return [gain("1.3 GiB, over first-touch", 10, over(results, TABLE, "tpcc-hsqldb", "first-touch"), HEAP),
            gain("2.6 GiB, over first-touch", 10, over(results, TWICE, "twice", "first-touch"))]


# HK-78: larger pages.
def graph(pages: str) -> Tuple[str, ...]:
    kind = WORKLOADS["sssp"]
    return (str(BUILD / "tools/load/hmk-load-graph"), "--algorithm", "sssp", "--size", f"{kind.memory_bytes >> 20}MiB", "--pages", pages)


HUGE: Cells = {("sssp", system): command("sssp-thp", graph("thp"), "sssp", system, "THP", 40.0) for system in ("first-touch", "hm-keeper")}


def pages(results: Results) -> List[Line]:
    return [ahead(f"sssp, {size} pages, over first-touch", "best of all", over(results, cells, "sssp", "first-touch"))
            for size, cells in (("4 KiB", TABLE), ("2 MiB", HUGE))]


# HK-79: one socket, two tiers.
SIZES = {"gups-fits": "all of it fits", "gups-stable": "2.5 times the fast tier, its hot set fits", "gups-large": "3 times the fast tier, its hot set does not fit"}
TWO: Cells = {(name, system): guest(name, system, TWO_TIERS, SHORT) for name in SIZES for system in ("hm-keeper", "memory-tiering")}


def two_tiers(results: Results) -> List[Line]:
    lines = []
    for name, size in SIZES.items():
        ours = over(results, TWO, name, "memory-tiering")
        lines.append(gain(f"{size}: over memory-tiering", 0 if name == "gups-fits" else 24, ours))
    return lines


# HK-83: one view of all tiers, or tier by tier.
CLIMBING = guest("needle", "hm-keeper/tier-by-tier")


def flat(results: Results) -> List[Line]:
    told = results.get(SCALE)
    saved = {row["workload"]: row["flat_saves_percent"] for row in told[0] if "flat_saves_percent" in row} if told else {}
    return [*(gain(f"mean latency over 20 intervals at 1.5 TiB, {name}, less than tier by tier", 20, saved.get(name)) for name in ("gups", "zipf")),
            gain("needle in the guest, over tier by tier", 20, faster(results.get(NEEDLE["hm-keeper"]), results.get(CLIMBING)), ONE_RUN)]


# HK-69: what others would do, in the same guest.
def baselines(results: Results) -> List[Line]:
    lines = []
    ours, base = results.get(GUPS["hm-keeper"]), results.get(GUPS["first-touch"])
    for name, run in GUPS.items():
        there = results.get(run)
        ahead_of_base, behind = faster(there, base), faster(ours, there)
        lines.append(claim(f"GUPS, {name}: tier 1's share; over first-touch; recall and precision", "-" if name == "hm-keeper" else "behind HM-Keeper",
                           f"{100 * there['figures']['tier_share'][0]:.1f} %; {ahead_of_base:+.1f} %; {_belief(there)}"
                           if there and ahead_of_base is not None else None, None if name == "hm-keeper" else behind is not None and behind > 0))
    return lines


def _belief(run: Dict[str, Any]) -> str:
    return f"{run['belief'][-1]['recall']:.2f} and {run['belief'][-1]['precision']:.2f}" if run["belief"] else "tells nothing"


GUEST = "1.2 to 1.4 GiB for 300 to 525 GB, tiers of 512, 512, 1536 and 1536 MiB, one thread, 12 s at a hundredth of a server's pace"
EXPERIMENTS = (
    Experiment("HK-69", "", "The baselines, in one guest", "GUPS, 1.25 GiB, 128 MiB hot. The hierarchical view is in HK-83, `move_pages(2)` in HK-72 and "
               "HK-84.", tuple(GUPS.values()), baselines),
    Experiment("HK-73", "Fig 8.5", "Five workloads, every system",
               f"{GUEST}. HSQLDB for VoltDB, redis-server with 95 % reads for Cassandra, our own graphs and sort.", tuple(TABLE.values()), averages,
               "Memory mode of a DRAM cache (HMC) is hardware; Memory-optimizer and AutoTiering are patches of kernels that are gone."),
    Experiment("HK-74", "Fig 8.6", "The same on emulated tiers", f"`configs/lab/bench-emulated.yaml`: 198, 315, 825 and 1010 ns. {GUEST}.",
               tuple(FAR.values()), emulated, "AutoTiering, Memory-optimizer: as HK-73."),
    Experiment("HK-75", "Fig 8.7", "What the time goes to", f"{GUEST}. Hint faults of NUMA balancing are its profiling and its moves at once.",
               (*(TABLE["tpcc-hsqldb", system] for system in ("first-touch", "hm-keeper", "memory-tiering")), *STABLE.values()), breakdown,
               "AutoTiering: as HK-73."),
    Experiment("HK-76", "Table 8.3", "Accesses by tier", f"tpcc-hsqldb for VoltDB; {GUEST}. Last quarter; accesses made by moves are other CPUs'.",
               (TABLE["tpcc-hsqldb", "hm-keeper"], TABLE["tpcc-hsqldb", "memory-tiering"]), by_tier, "AutoTiering: as HK-73."),
    Experiment("HK-77", "Fig 8.8", "As the database grows",
               "HSQLDB with 1.3 and 2.6 GiB for 1 GiB of DRAM, where the paper has 300 GB to 1 TB for 192 GB; the rows grow, the client remains one.",
               (*(TABLE["tpcc-hsqldb", system] for system in ("first-touch", "hm-keeper")), *TWICE.values()), growing,
               "HMC and AutoTiering (19 %, 8 %): as HK-73."),
    Experiment("HK-78", "Fig 8.9", "Pages of 2 MiB and 1 GiB", f"{GUEST}.",
               (*(TABLE["sssp", system] for system in ("first-touch", "hm-keeper")), *HUGE.values()), pages,
               "1 GiB: the module profiles no hugetlb memory, and anonymous memory has no such pages."),
    Experiment("HK-79", "Fig 8.10", "One socket, two tiers", "`configs/lab/bench-two-tier.yaml`: 768 MiB of DRAM, of which the system has 200, and PM; GUPS of "
               "320, 1280 and 1536 MiB. NUMA balancing between tiers stands in for HeMem.", tuple(TWO.values()), two_tiers,
               "HeMem needs a processor's event samples, which a guest under TCG has not. 16 and 24 threads: the application has one CPU."),
    Experiment("HK-83", "Fig 8.13", "One view of all tiers", "1.5 TiB and the paper's four tiers, policy alone; needle in the guest.",
               (SCALE, NEEDLE["hm-keeper"], CLIMBING), flat),
)
