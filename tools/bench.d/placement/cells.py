# SPDX-License-Identifier: MIT
"""Which cells there are: workload by system by kernel by page size, with the knobs of every system."""
import functools
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

from lab.errors import LabError

MIB = 1 << 20
CHOSEN = Path(__file__).with_name("settings.json")  # by tools/bench search
LEFT_OUT = "left_out"                                # in the knobs of a result: those the kernel has nothing for
Knobs = Dict[str, Any]
# Twice as fast as the kernel scans at most, so that a page is seen a few times in a window.
_SCAN = {"scan_delay_ms": 100, "scan_period_min_ms": 100, "scan_period_max_ms": 1000, "scan_size_mb": 1024}
_UNLIMITED = {"numa_balancing_promote_rate_limit_MBps": 65536}
# Free memory that demotion keeps ready on a full node: 2 % of it between the watermarks.
_HEADROOM = {"watermark_scale_factor": 200, "min_free_kbytes": 32768}
NUMA_BALANCING: Dict[str, Knobs] = {
    "default": {},
    "by-hand": {**_SCAN, "hot_threshold_ms": 5000, **_UNLIMITED},
    # Between sockets; between tiers; both, where two sockets are one tier. A cold page of GUPS is used about once a second,
    # a hot one 70 times: 50 ms tells them apart.
    "mode-1": {"mode": 1, **_SCAN, **_HEADROOM},
    "mode-2": {"mode": 2, **_SCAN, "hot_threshold_ms": 50, **_UNLIMITED, **_HEADROOM},
    "mode-3": {"mode": 3, **_SCAN, "hot_threshold_ms": 50, **_UNLIMITED, **_HEADROOM},
    # Whatever faults is promoted, as before there was a threshold.
    "unselected": {"mode": 2, **_SCAN, "hot_threshold_ms": 600_000, **_UNLIMITED, **_HEADROOM},
    # The kernel lowers the threshold by itself while more than the limit would be promoted.
    "mode-2-limited": {"mode": 2, **_SCAN, "hot_threshold_ms": 1000, "numa_balancing_promote_rate_limit_MBps": 100, **_HEADROOM},
    "mode-3-limited": {"mode": 3, **_SCAN, "hot_threshold_ms": 1000, "numa_balancing_promote_rate_limit_MBps": 100, **_HEADROOM},
}
_DAMON_COMMON = {"hot_percent": 20, "cold_percent": 5, "cold_age": 5, "quota_ms": 0, "quota_bytes": 0}
# damo's recipe for tiers (its scripts/mem_tier.sh): hot is 5 % of the checks, cold none; 200 MB a second each way, the hottest
# and the coldest first; node 0 to be used to 99.7 %, each node to have 0.5 % free; 4 % of the accesses to be seen.
_DAMO = {"hot_percent": 5, "cold_percent": 0, "cold_age": 0, "quota_ms": 0, "quota_bytes": 200 * MIB, "weights": [0, 1, 1],
         "young": True, "apply_ms": 1000, "goals": [9970, 50], "tune": [400, 3, 5000, 10_000_000]}
DAMON: Dict[str, Knobs] = {
    # Its own defaults for sampling; it has none for schemes, so these are ours.
    "default": {"sample_us": 5000, "aggr_us": 100_000, "min_nr_regions": 10, "max_nr_regions": 1000, **_DAMON_COMMON},
    "by-hand": {"sample_us": 20_000, "aggr_us": 400_000, "min_nr_regions": 400, "max_nr_regions": 2000, **_DAMON_COMMON},
    "damo": {"sample_us": 5000, "aggr_us": 100_000, "min_nr_regions": 10, "max_nr_regions": 1000, **_DAMO},
    # The same where a second holds an eighth of a server's instructions and the kernel does not tune intervals itself.
    "damo-slow": {"sample_us": 100_000, "aggr_us": 2_000_000, "min_nr_regions": 100, "max_nr_regions": 1000, **_DAMO,
                  "tune": [400, 3, 50_000, 10_000_000]},
    # SK hynix' HMSDK: its intervals and regions. The rest is damo's.
    "hmsdk": {"sample_us": 100_000, "aggr_us": 2_000_000, "min_nr_regions": 100, "max_nr_regions": 10_000,
              **{knob: value for knob, value in _DAMO.items() if knob not in ("goals", "tune")}},
}
INTERLEAVE: Dict[str, Knobs] = {  # weights of the nodes of configs/lab/bench-four-tier.yaml
    "default": {"weights": [1, 1, 1, 1]},
    "by-bandwidth": {"weights": [19, 7, 7, 0]},  # as bandwidth from CPU 0 goes: 95, 35, 35 and 1 GB/s
}
# CPU time on the instructions' clock holds the turns of other busy CPUs: 10 % of it are the shipped 5 % in instructions.
# An interval of 1 s holds as many instructions as an eighth of a second on a server's core at 1 ns each.
HM_KEEPER: Dict[str, Knobs] = {
    "by-hand": {"mode": "manage", "interval": "1s", "overhead": "10%", "promote_limit": "200MiB"},
    "shipped": {"mode": "manage", "interval": "10s", "overhead": "5%", "promote_limit": "200MiB"},
}
INTERVALS = ("1s", "4s", "10s")
LEAST_INTERVALS = 8  # of a window: hmkd learns from one to the next
#: As shipped but for the interval, which --interval names.
AT_INTERVAL: Dict[str, Knobs] = {f"every-{interval}": {**HM_KEEPER["shipped"], "interval": interval} for interval in INTERVALS}
#: The settings of every system that have a name. The table runs TABLED: "tuned" is what tools/bench search chose; a system
#: that ran with several is shown with the one that served the workload best. --setting runs the others.
NAMED = {"numa-balancing": NUMA_BALANCING, "damon": DAMON, "weighted-interleave": INTERLEAVE, "hm-keeper": HM_KEEPER}
TABLED = ("default", "tuned")
ABLATIONS: Dict[str, Knobs] = {  # HK-68
    "fixed-regions": {"ablation": "[fixed-regions]"},
    "random-samples": {"ablation": "[random-samples]"},
    "no-budget": {"ablation": "[no-budget]"},
    "sync-only": {"move": "sync"},
    "no-ema": {"alpha": "1"},
    "no-governor": {"governor": "off"},
    "tier-by-tier": {"view": "tier-by-tier"},
    "without-module": {"module": "no"},  # hmkd watches by DAMON and moves by move_pages(2)
}
#: What the paper gives for them: Figs 8.11 and 8.13 (HK-81, HK-83).
PAPER = {"fixed-regions": "+22 % time", "random-samples": "-21 % performance", "no-budget": "3 times the profiling time",
         "tier-by-tier": "flat is 20 % better"}
#: What is off as it ships. An interval must hold some compressing: of 4 KiB it takes 0.2 ms of the guest's clock.
EXTRAS: Dict[str, Knobs] = {
    "page-out": {**HM_KEEPER["shipped"], "page_out": "yes", "page_out_after": "30s"},
}
VARIATIONS: Dict[str, Knobs] = {**ABLATIONS, **EXTRAS}
SYSTEMS = ("first-touch", "numa-balancing", "damon", "weighted-interleave", "hm-keeper", "oracle")
WITHOUT_TIERS = ("all nodes that are there at boot form one memory tier on this kernel, so the kernel neither promotes "
                 "nor demotes between them")


@dataclass(frozen=True)
class Cell:
    """One run in one guest."""

    workload: str
    system: str
    variant: str
    kernel: str
    page_size: str
    repeat: int
    window_seconds: float
    knobs: Knobs = field(default_factory=dict, compare=False)
    command: Tuple[str, ...] = ()  # a program of the user's instead of a workload of ours
    settle_seconds: float = 0.0    # it has to fill its memory
    density: int = 1               # times as many instructions in a second of the guest's clock as the workload asks for

    @property
    def key(self) -> str:
        """Name of the cell's file."""
        parts = (self.workload, self.system.replace("/", "+"), self.variant, self.kernel, self.page_size,
                 f"{self.window_seconds:g}s", f"x{self.density}" if self.density > 1 else "", str(self.repeat))
        return "_".join(part for part in parts if part)


def variants(system: str) -> Dict[str, Knobs]:
    """The settings the table runs, by name, the tuned one last; it has no name where it is HM-Keeper's, or there is no choice.
    """
    return {name: knobs for name, knobs in settings(system).items() if name in ("", *TABLED)}


def settings(system: str) -> Dict[str, Knobs]:
    """All settings that have a name, those that only --setting runs among them. Raises LabError."""
    name, _, variation = system.partition("/")
    if name not in NAMED:
        return {"": {}}
    tuned = _chosen()[name]
    if name == "hm-keeper":
        return {"": {**tuned, **VARIATIONS[variation]}} if variation else {"": tuned, **HM_KEEPER, **AT_INTERVAL}
    return {"default": NAMED[name]["default"], "tuned": tuned, **NAMED[name]}


def origin(system: str) -> str:
    """Where the tuned setting of a system is from; nothing for one that has none."""
    _chosen()  # the file can be read
    held = json.loads(CHOSEN.read_text(encoding="utf-8")).get(system.partition("/")[0], {})
    return str(held.get("from", ""))


@functools.lru_cache(maxsize=None)
def _chosen() -> Dict[str, Knobs]:
    try:
        held = json.loads(CHOSEN.read_text(encoding="utf-8"))
        return {system: dict(held[system]["knobs"]) for system in NAMED}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{CHOSEN}: no knobs of every system in it ({error}); run tools/bench search or get it from git") from error


def not_applicable(system: str, kernel: str) -> Optional[str]:
    """Why this system cannot run on this kernel, or None."""
    if kernel != "6.1":
        return None
    if system == "damon":
        return "Debian's 6.1 is built without DAMON"
    if system == "hm-keeper/without-module":
        return "without the module it watches by DAMON, which Debian's 6.1 is built without"
    if system == "weighted-interleave":
        return "kernels before 6.9 have no such policy"
    return WITHOUT_TIERS if system == "numa-balancing" else None


def fitted(system: str, knobs: Knobs, kind: Any) -> Knobs:
    """A setting with what of HM-Keeper's depends on the workload: as many instructions in an interval, shared memory."""
    if not system.startswith("hm-keeper"):
        return knobs
    seconds = float(knobs["interval"].rstrip("s")) * kind.ns_per_instruction / 8
    return {**knobs, "interval": f"{seconds:g}s"} | ({"shared": "yes"} if kind.shared else {})


def _wanted(system: str, with_defaults: bool, names: Sequence[str]) -> List[str]:
    tried, tabled = settings(system), list(variants(system))
    if names and len(tried) > 1:
        return [name for name in names if name in tried]
    return tabled if with_defaults else tabled[-1:]


def plan(kinds: Dict[str, Any], names: Sequence[str], systems: Sequence[str], pages: str, repeats: int, with_defaults: bool,
         kernel: str, window: Optional[float], named: Sequence[str] = ()) -> List[Cell]:
    """All cells of these workloads, those of one comparison together; of `oracle` only where a workload knows its truth.

    `kinds` are all workloads by name. Without defaults only the tuned variant of each system; with `named` those settings
    instead, where a system has a choice.
    """
    def of(name: str) -> Iterator[Cell]:
        run = [(system, variant, fitted(system, settings(system)[variant], kinds[name])) for system in systems
               if not not_applicable(system, kernel) and (system != "oracle" or kinds[name].has_truth)
               for variant in _wanted(system, with_defaults, named)]
        intervals = [float(knobs["interval"].rstrip("s")) for _, variant, knobs in run if variant in AT_INTERVAL]
        seconds = max([window or kinds[name].window_seconds, *(LEAST_INTERVALS * interval for interval in intervals)])
        for system, variant, knobs in run:
            for repeat in range(1, repeats + 1):
                yield Cell(name, system, variant, kernel, pages, repeat, seconds, knobs)

    return [cell for name in names if pages in kinds[name].page_sizes for cell in of(name)]
