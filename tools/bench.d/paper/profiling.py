# SPDX-License-Identifier: MIT
"""The experiments on finding what is hot: HK-71, 80, 81, 82, 85, 86. Mostly the simulator, at the paper's sizes where it can. Pure."""
from typing import Any, Dict, List, Optional, Sequence, Tuple

from experiment import Experiment, Line, Results, claim, gain
from measures import differing, f1, faster, found_in, hottest, mean_f1
from needed import Calls, guest

LAYOUTS = ("contiguous", "scattered")
PROFILERS = ("hm-keeper", "thermostat", "random-window", "damon")
GUPS = {name: guest("gups-stable", name) for name in ("first-touch", "hm-keeper", "damon", "thermostat", "random-window")}


def sims(name: str, words: Sequence[Tuple[str, ...]], minutes: float) -> Calls:
    """Calls of the simulator with the windows of chapter 8, which are not those that ship."""
    return Calls(name, "sim", "hmk-sim", tuple((*one, "--windows", "equal") for one in words), minutes)


# HK-71: the hot set of GUPS, 5 % of a CPU.
COST = ("--scan-cost", "1.27us")  # what a second for 1.5 TB, the paper's figure, comes to
GUPS_512G = sims("gups-512g", [("gups-512g", "--budget", "5", "--layout", layout, *COST) for layout in LAYOUTS], 1.0)


def hot_set(results: Results) -> List[Line]:
    lines = []
    told = results.get(GUPS_512G)
    for number, layout in enumerate(LAYOUTS):
        found = {name: found_in(_of(told[number], name)) for name in PROFILERS} if told else {}
        others = [found[name] or 99 for name in ("thermostat", "random-window")] if found else []
        lines.append(claim(f"interval from which recall and precision are 0.9, hot set {layout}",
                           "Thermostat and AutoTiering late, DAMON quick", _listed(found),
                           bool(found) and (found["hm-keeper"] or 99) < min(others), VISITS))
    precision = [_of(told[number], "damon")["precision"][4] for number in range(len(LAYOUTS))] if told else []
    lines.append(claim("DAMON's precision in interval 5, contiguous and scattered", "about 0.5",
                       f"{precision[0]:.2f} and {precision[1]:.2f}" if precision else None,
                       bool(precision) and min(precision) < 0.75))
    for name in ("thermostat", "damon"):
        lines.append(gain(f"GUPS in the guest, HM-Keeper over {name}", 15, faster(*_pair(results, GUPS["hm-keeper"], GUPS[name])), least=True))
    return lines


VISITS = ("the simulator charges Thermostat for each page a scan, as it does us, where its protection faults cost several, and its pieces of "
          "2 MiB are the very pieces of the simulated hot set")


def _pair(results: Results, *runs: Any) -> Tuple[Any, ...]:
    return tuple(results.get(run) for run in runs)


def _of(told: Sequence[Dict[str, Any]], name: str) -> Dict[str, Any]:
    return next(one for one in told if one["profiler"] == name)


def _listed(found: Dict[str, Optional[int]]) -> Optional[str]:
    return ", ".join(f"{name} {number or 'never'}" for name, number in found.items()) or None


# HK-80: what finding it costs, and what it is worth to find it otherwise.
BUDGETS = ("0.5", "0.7", "1", "1.4", "2", "2.8", "4", "5")
LEAST = sims("least-budget", [("gups-512g", "--budget", budget, "--layout", layout, *COST, "--intervals", "8",
                               "--profiler", "hm-keeper,thermostat,random-window") for layout in LAYOUTS for budget in BUDGETS], 3.0)


def least_budget(told: Sequence[Any], layout: int, profiler: str) -> Optional[float]:
    """The smallest share of a CPU, in percent, with which it has an F1 of 0.9 in interval 8."""
    for number, budget in enumerate(BUDGETS):
        one = _of(told[layout * len(BUDGETS) + number], profiler)
        if f1(one["recall"][-1], one["precision"][-1]) >= 0.9:
            return float(budget)
    return None


def swapped(results: Results) -> List[Line]:
    lines = []
    told = results.get(LEAST)
    for number, layout in enumerate(LAYOUTS):
        cost = {name: least_budget(told, number, name) for name in ("hm-keeper", "thermostat", "random-window")} if told else {}
        ours, theirs = cost.get("hm-keeper"), cost.get("thermostat")
        lines.append(claim(f"share of a CPU that finds GUPS' hot set, {layout} (F1 of 0.9 in interval 8)",
                           "Thermostat's profiling costs 2.5 times ours",
                           ", ".join(f"{name} {f'{budget:g} %' if budget else 'more than 5 %'}" for name, budget in cost.items()) or None,
                           bool(ours and (not theirs or theirs > ours)), VISITS))
    for name, paper in (("random-window", 17), ("thermostat", 7)):
        lines.append(gain(f"GUPS in the guest, HM-Keeper over {name}", paper, faster(*_pair(results, GUPS["hm-keeper"], GUPS[name]))))
    return lines


# HK-81: without a part of it.
SEEDS, PARTS = ("1", "2", "3"), ("", "fixed-regions", "random-samples")
WORTH = 0.01
SCARCE = ("0.02", "0.05", "0.1", "0.5", "1", "5")


def without(part: str) -> Tuple[str, ...]:
    return ("--switch", part) if part else ()


AT_SCALE = sims("without-a-part-512g", [("gups-jump", "--budget", "5", "--layout", layout, *COST, "--profiler", "hm-keeper", *without(part))
                                        for layout in LAYOUTS for part in PARTS], 1.0)
WITHOUT = sims("without-a-part-16g", [("gups-jump", "--memory", "16", "--budget", budget, "--layout", layout, "--seed", seed, "--profiler",
                                       "hm-keeper", *without(part)) for layout in LAYOUTS for budget in SCARCE for part in PARTS for seed in SEEDS], 4.0)
UNBOUND = sims("without-a-budget", [("gups-512g", "--memory", "16", "--budget", "0.5", "--profiler", "hm-keeper", *without(part))
                                    for part in ("", "no-budget")], 0.2)
NEEDLE = {name: guest("needle", name) for name in ("hm-keeper", *(f"hm-keeper/{part}" for part in PARTS[1:]))}


ONE_RUN = ("a single run of needle does not tell: what finds its 32 pieces of 512 KiB within the window is chance, and the order of the same "
           "ablations in `docs/results.md` is another")
WORTHLESS = {
    ("fixed-regions", "scattered"): "regions that merged before the hot set jumped have to split before they show its new pieces",
    ("random-samples", "contiguous"): "a jump in one piece shows in any sample of the large regions there, wherever the others are",
}


def ablated(results: Results) -> List[Line]:
    told, lines = results.get(AT_SCALE), []
    for at, (part, paper) in enumerate(zip(PARTS[1:], (22, 21)), 1):
        for number, layout in enumerate(LAYOUTS):
            scores = [mean_f1(told[number * len(PARTS) + one]) for one in (0, at)] if told else []
            lines.append(gain(f"512 GB, hot set jumps, {layout}: mean F1 with everything over {part}", paper,
                              100 * (scores[0] / scores[1] - 1) if scores else None, WORTHLESS.get((part, layout), "")))
        lines.append(gain(f"needle in the guest, with everything over {part}", paper,
                          faster(*_pair(results, NEEDLE["hm-keeper"], NEEDLE[f"hm-keeper/{part}"])), ONE_RUN))
    told = results.get(UNBOUND)
    spent = [one[0]["profiling_percent"] for one in told] if told else []
    lines.append(claim("profiling time without the budget's limit, over that with it", "3 times",
                       f"{spent[1] / spent[0]:.1f} times ({spent[0]:.2f} % and {spent[1]:.2f} % of a CPU)" if spent else None,
                       bool(spent) and spent[1] > 1.5 * spent[0]))
    scarce = results.get(WITHOUT)
    lines += [_worth(scarce, part) for part in PARTS[1:]]
    for layout in LAYOUTS:
        for budget in SCARCE:
            scores, samples = _scarce(scarce, layout, budget) if scarce else ([], 0.0)
            lines.append(claim(f"16 GiB, hot set jumps, {layout}, {budget} % of a CPU: mean F1 with everything / fixed regions / random samples", "-",
                               f"{' / '.join(f'{one:.3f}' for one in scores)} ({samples:.2g} samples for 2 MiB)" if scores else None, None))
    return lines


def _scarce(told: Sequence[Any], layout: str, budget: str) -> Tuple[List[float], float]:
    """Mean F1 with everything and without each part, and how many samples there are for 2 MiB."""
    first = (LAYOUTS.index(layout) * len(SCARCE) + SCARCE.index(budget)) * len(PARTS) * len(SEEDS)
    by_part = [mean_f1([one[0] for one in told[first + at:first + at + len(SEEDS)]]) for at in range(0, len(PARTS) * len(SEEDS), len(SEEDS))]
    began = told[first][0]["intervals"][0]
    return by_part, began["num_ps"] / began["regions"]


def _worth(told: Optional[Sequence[Any]], part: str) -> Line:
    """At which numbers of samples a part is worth something."""
    places = []
    for layout in LAYOUTS if told else ():
        found = [_scarce(told or (), layout, budget) for budget in SCARCE]
        worth = [f"{samples:.2g}" for scores, samples in found if scores[0] - scores[PARTS.index(part)] >= WORTH]
        places.append(f"{layout}: {', '.join(worth) or 'nowhere'}")
    return claim(f"16 GiB: samples for 2 MiB at which everything is {WORTH:g} of F1 better than {part}", "-", "; ".join(places) or None, None)


# HK-82: how much of a CPU profiling is given.
#: In the guest's clock CPU time holds the turns of other CPUs: twice as much of it is the same in instructions.
SHARES = {"1": "2%", "5": "10%", "10": "20%"}
SWEEP = {share: guest("needle", "hm-keeper", interval="0.5s", overhead=given) for share, given in SHARES.items()}
BUDGETED = sims("budgets", [("gups-jump", "--budget", share, "--layout", layout, "--interval", "5s", "--profiler", "hm-keeper")
                            for layout in LAYOUTS for share in SHARES], 2.0)


def budgets(results: Results) -> List[Line]:
    least, middle, most = (results.get(SWEEP[share]) for share in SHARES)
    lines = [gain("needle in the guest, 10 % over 1 %", 12, faster(most, least), ONE_RUN),
             gain("needle in the guest, 10 % over 5 %, profiling on a CPU of its own", -7, faster(most, middle),
                  "profiling has a CPU of its own, so that more of it costs the application nothing here; and a single run of needle does not tell")]
    told = results.get(BUDGETED)
    for number, layout in enumerate(LAYOUTS):
        scores = [mean_f1(told[number * len(SHARES) + at]) for at in range(len(SHARES))] if told else []
        lines.append(claim(f"mean F1 at 512 GiB, hot set jumps, {layout}: 1 / 5 / 10 %", "better with more",
                           " / ".join(f"{score:.3f}" for score in scores) or None, bool(scores) and scores[2] > scores[0]))
    return lines


# HK-85: how often a sample is scanned in an interval.
SCANS, RATES = ("2", "3", "4", "6"), ("1", "0.3", "0.1")
SCANNED, SCANNED_FIXED = (
    sims(name, [("gups-512g", "--memory", "16", "--budget", "5", "--layout", "scattered", "--profiler", "hm-keeper", "--ranking",
                 "--hot-rate", rate, "--num-scans", scans, *without(part)) for rate in RATES for scans in SCANS], 0.5)
    for name, part in (("scans", ""), ("scans-fixed-regions", "fixed-regions")))
TENTH = (16 << 30) // 10  # the hot set's size


def scans(results: Results) -> List[Line]:
    lines = []
    for run, what, paper in ((SCANNED, "", "at least 20 %, then below 5 %"), (SCANNED_FIXED, ", regions fixed", "-")):
        told = results.get(run)
        for number, rate in enumerate(RATES):
            hot = [hottest(told[number * len(SCANS) + at][0]["ranking"], TENTH) for at in range(len(SCANS))] if told else []
            changes = [differing(before, after) for before, after in zip(hot, hot[1:])]
            agrees = None if paper == "-" else bool(changes) and changes[0] >= 20 and max(changes[1:]) < 5
            lines.append(claim(f"of the tenth ranked hottest, what changes from 2 to 3, 3 to 4, 4 to 6 scans; {rate} accesses a second to a hot "
                               f"page{what}", paper, ", ".join(f"{one:.1f} %" for one in changes) or None, agrees, MERGED))
    return lines


MERGED = ("with regions that never merge the same tenth is found with any number of scans; what changes it is that regions merge whose "
          "hotness differs by less than a third of the scans, so that pages that few of the windows see in use join cold ones, the more so "
          "the shorter the windows are")


# HK-86: what is kept per region.
LARGE = sims("scale-1.5t", [("scale-1.5t", "--budget", "5", "--layout", "scattered", "--profiler", "hm-keeper")], 0.5)
SCALE = Calls("scale", "bench", "hmk-bench", (("scale",),), 1.0)
TERABYTES, REGIONS, MIB = 1.5 * (1 << 40), 786432, 1 << 20


def memory(results: Results) -> List[Line]:
    module, policy = results.get(LARGE), results.get(SCALE)
    kept = module[0][0]["state_percent"] / 100 * TERABYTES / MIB if module else None
    ranked = policy[0][0]["bytes_per_region"] * REGIONS / MIB if policy else None
    return [claim("profiler's state at 1.5 TiB", "at most 600 MB", f"{kept:.0f} MiB" if kept else None, bool(kept and kept < 600)),
            claim("ranking in hmkd, 786,432 regions", "-", f"{ranked:.0f} MiB" if ranked else None, None)]


EXPERIMENTS = (
    Experiment("HK-71", "Fig 8.1", "Finding the hot set of GUPS",
               "The simulator has the paper's 512 GB, 10 s and 5 % of a CPU; the guest 1.25 GiB in intervals of 1 s. AutoTiering's random "
               "sampling is the random window there.", (GUPS_512G, *(GUPS[name] for name in ("hm-keeper", "thermostat", "damon"))), hot_set),
    Experiment("HK-80", "Fig 8.11", "Another way of profiling, the same moves",
               "512 GB simulated. In the guest the others' moves are the kernel's: Thermostat's profiling is DAMON held to regions of 2 MiB, "
               "memory-tiering's is NUMA balancing over windows of 256 MiB.",
               (LEAST, *(GUPS[name] for name in ("hm-keeper", "thermostat", "random-window"))), swapped),
    Experiment("HK-81", "Fig 8.11", "Without a part of it",
               "The guest's needle (16 of 1792 MiB hot) is where samples are scarce at a gigabyte; the simulator has 16 GiB whose hot set "
               "jumps, three seeds, and 512 GB with the paper's cost of a scan (0.27 samples for 2 MiB).",
               (AT_SCALE, WITHOUT, UNBOUND, *NEEDLE.values()), ablated),
    Experiment("HK-82", "Fig 8.12", "1, 5 and 10 % of a CPU for profiling",
               "The paper's 5 s are 0.5 s in the guest, the shares are of instructions. Profiling has a CPU of its own here, so what it takes "
               "from the application is not in the figures.", (BUDGETED, *SWEEP.values()), budgets),
    Experiment("HK-85", "8.4.3", "Scans of a sample in an interval", "16 GiB, 10 s, 5 %, hot pieces scattered; a page that is not hot has 1/81 of the rate.",
               (SCANNED, SCANNED_FIXED), scans),
    Experiment("HK-86", "8.4.3", "Memory of the profiler at 1.5 TB", "The paper's size.", (LARGE, SCALE), memory),
)
