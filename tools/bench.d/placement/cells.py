# SPDX-License-Identifier: MIT
"""Which cells there are: workload by system by kernel by page size, with the knobs of every system."""
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple

MIB = 1 << 20
# Ours in these guests, by the ns of an instruction: as many instructions as an eighth of a second has on a server's core
# at 1 ns each.
INTERVAL = {8: "1s", 16: "2s"}

#: Every system's settings, by variant. A system with several is shown with the one that served the workload best.
NUMA_BALANCING: Dict[str, Dict[str, Any]] = {
    "default": {},
    "tuned": {"scan_delay_ms": 100, "scan_period_min_ms": 100, "scan_period_max_ms": 1000, "scan_size_mb": 1024,
              "hot_threshold_ms": 5000, "numa_balancing_promote_rate_limit_MBps": 65536},
}
_DAMON_COMMON = {"hot_percent": 20, "cold_percent": 5, "cold_age": 5, "quota_ms": 0, "quota_bytes": 0}
DAMON: Dict[str, Dict[str, Any]] = {
    # Its own defaults for sampling; it has none for schemes, so these are ours.
    "default": {"sample_us": 5000, "aggr_us": 100_000, "min_nr_regions": 10, "max_nr_regions": 1000, **_DAMON_COMMON},
    "tuned": {"sample_us": 20_000, "aggr_us": 400_000, "min_nr_regions": 400, "max_nr_regions": 2000, **_DAMON_COMMON},
}
# CPU time on the instructions' clock holds the turns of other busy CPUs: 10 % of it are the shipped 5 % in instructions.
HM_KEEPER = {"mode": "manage", "interval": INTERVAL[8], "overhead": "10%", "promote_limit": "200MiB"}
ABLATIONS: Dict[str, Dict[str, Any]] = {  # HK-68
    "fixed-regions": {"ablation": "[fixed-regions]"},
    "random-samples": {"ablation": "[random-samples]"},
    "no-budget": {"ablation": "[no-budget]"},
    "sync-only": {"move": "sync"},
    "no-ema": {"alpha": "1"},
    "tier-by-tier": {"view": "tier-by-tier"},
}
#: What the paper gives for them: Figs 8.11 and 8.13 (HK-81, HK-83).
PAPER = {"fixed-regions": "+22 % time", "random-samples": "-21 % performance", "no-budget": "3 times the profiling time",
         "tier-by-tier": "flat is 20 % better"}
SYSTEMS = ("first-touch", "numa-balancing", "damon", "hm-keeper", "oracle")
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
    knobs: Dict[str, Any] = field(default_factory=dict, compare=False)
    command: Tuple[str, ...] = ()  # a program of the user's instead of a workload of ours
    settle_seconds: float = 0.0    # it has to fill its memory

    @property
    def key(self) -> str:
        """Name of the cell's file."""
        parts = (self.workload, self.system.replace("/", "+"), self.variant, self.kernel, self.page_size,
                 f"{self.window_seconds:g}s", str(self.repeat))
        return "_".join(part for part in parts if part)


def variants(system: str) -> Dict[str, Dict[str, Any]]:
    """Settings to try, by name; one nameless variant where there is no choice."""
    name, _, ablation = system.partition("/")
    if name == "numa-balancing":
        return NUMA_BALANCING
    if name == "damon":
        return DAMON
    if name == "hm-keeper":
        return {"": {**HM_KEEPER, **(ABLATIONS[ablation] if ablation else {})}}
    return {"": {}}


def not_applicable(system: str, kernel: str) -> Optional[str]:
    """Why this system cannot run on this kernel, or None."""
    if kernel != "6.1":
        return None
    if system == "damon":
        return "Debian's 6.1 is built without DAMON"
    return WITHOUT_TIERS if system == "numa-balancing" else None


def _ours(kind: Any) -> Dict[str, Any]:
    """What of HM-Keeper's settings depends on the workload."""
    return {"interval": INTERVAL[kind.ns_per_instruction]} | ({"shared": "yes"} if kind.shared else {})


def plan(kinds: Dict[str, Any], names: Sequence[str], systems: Sequence[str], pages: str, repeats: int, with_defaults: bool,
         kernel: str, window: Optional[float]) -> List[Cell]:
    """All cells of these workloads, those of one comparison together; of `oracle` only where a workload knows its truth.

    `kinds` are all workloads by name. Without defaults only the last variant, the tuned one, of each system.
    """
    def of(name: str) -> Iterator[Cell]:
        for system in systems:
            if not_applicable(system, kernel) or (system == "oracle" and not kinds[name].has_truth):
                continue
            tried = variants(system)
            extra = _ours(kinds[name]) if system.startswith("hm-keeper") else {}
            for variant in tried if with_defaults else list(tried)[-1:]:
                for repeat in range(1, repeats + 1):
                    yield Cell(name, system, variant, kernel, pages, repeat, window or kinds[name].window_seconds,
                               tried[variant] | extra)

    return [cell for name in names if pages in kinds[name].page_sizes for cell in of(name)]
