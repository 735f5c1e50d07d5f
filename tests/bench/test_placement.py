# SPDX-License-Identifier: MIT
"""The placement benchmark's own arithmetic: plans, convergence, hindsight, recall, the chosen variant, bad input."""
import dataclasses
import os
import subprocess
import sys
import tempfile
import unittest
from array import array
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import belief  # noqa: E402
import cells  # noqa: E402
import costs  # noqa: E402
import figures  # noqa: E402
import hindsight  # noqa: E402
import main  # noqa: E402
import report  # noqa: E402
import table  # noqa: E402
from lab import Mark, load_machine  # noqa: E402
from lab.machine import Access  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

MIB = 1 << 20
CHUNK = 2 * MIB


class Converged(unittest.TestCase):
    SECONDS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

    def test_from_the_first_sample_that_stays_near(self):
        self.assertEqual(figures.converged([.1, .5, .9, .6, .9, .9, .9, .9], self.SECONDS, None, before_jump=True), 4.0)

    def test_what_never_moves_has_converged_at_once(self):
        self.assertEqual(figures.converged([.4] * 8, self.SECONDS, None, before_jump=True), 0.0)

    def test_what_ends_far_from_its_mean_has_not(self):
        self.assertIsNone(figures.converged([.1, .1, .1, .1, .1, .1, .2, .8], self.SECONDS, None, before_jump=True))

    def test_after_a_jump_counts_from_the_jump(self):
        tier1 = [.9, .9, .9, .9, .2, .8, .8, .8]
        self.assertEqual(figures.converged(tier1, self.SECONDS, 4.0, before_jump=True), 0.0)
        self.assertEqual(figures.converged(tier1, self.SECONDS, 4.0, before_jump=False), 1.0)

    def test_exactly_at_the_bound_is_near(self):
        tier1 = [19.0, 20.0, 20.0, 20.0]  # in floating point 20 * 0.05 is exactly 1
        self.assertEqual(figures.converged(tier1, [1, 2, 3, 4], None, before_jump=True), 0.0)


class Hindsight(unittest.TestCase):
    COUNTS = {0: 50, 1: 1, 512: 30, 1024: 19}  # pages 0 and 1 share a 2 MiB piece

    def test_small_pieces(self):
        self.assertEqual(hindsight.shares(self.COUNTS, [2 * 4096, 4096, 4096], 4096), [.80, .19, .01])

    def test_large_pieces_cost_room(self):
        self.assertEqual(hindsight.shares(self.COUNTS, [CHUNK, CHUNK, CHUNK], CHUNK), [.51, .30, .19])
        self.assertEqual(hindsight.shares(self.COUNTS, [CHUNK - 1, CHUNK, 0], CHUNK), [0.0, .51, .49])

    def test_shares_add_up(self):
        self.assertAlmostEqual(sum(hindsight.shares(self.COUNTS, [4096] * 4, 4096)), 1.0)

    def test_room_is_free_and_own_memory_in_the_order_of_tiers(self):
        self.assertEqual(hindsight.capacities([10 * MIB, 100 * MIB], [90 * MIB, 0], [1, 0]), [76 * MIB, 76 * MIB])


class Belief(unittest.TestCase):
    TRUTH: Any = [[0, CHUNK], [4 * CHUNK, CHUNK]]  # lists, as JSON gives them

    def test_perfect(self):
        regions = [(0, CHUNK, 3.0), (CHUNK, 3 * CHUNK, 1.0), (4 * CHUNK, CHUNK, 3.0)]
        self.assertEqual(belief.best(regions, self.TRUTH), (1.0, 1.0))

    def test_a_region_twice_as_large_as_the_truth_halves_precision(self):
        self.assertEqual(belief.best([(0, 2 * CHUNK, 1.0)], self.TRUTH[:1]), (1.0, 0.5))

    def test_nothing_hot_is_nothing_found(self):
        self.assertEqual(belief.best([(0, 10 * CHUNK, 0.0)], self.TRUTH), (0.0, 0.0))

    def test_overlap_counts_parts(self):
        spans = [(start, length) for start, length in self.TRUTH]
        self.assertEqual(belief.overlap(CHUNK // 2, 4 * CHUNK, spans), CHUNK)

    def test_physical_regions_through_a_page_table(self):
        entries = array("Q", [belief.PRESENT | 7, belief.PRESENT | 8, 0, belief.PRESENT | 100])
        with tempfile.NamedTemporaryFile() as file:
            file.write(entries.tobytes())
            file.flush()
            found = belief.to_virtual([(7 * 4096, 2 * 4096, 5.0), (100 * 4096, 4096, 2.0)], Path(file.name), 1 << 20)
        self.assertEqual(found, [(1 << 20, 8192, 5.0), ((1 << 20) + 8192, 4096, 0.0), ((1 << 20) + 12288, 4096, 2.0)])

    def test_a_trace_of_damon(self):
        text = ("  kdamond.0-88 [003] .N... 9.1: damon_aggregated: target_id=0 nr_regions=2 4096-12288: 3 7\n"
                "  kdamond.0-88 [003] .N... 9.2: damon_aggregated: target_id=0 nr_regions=2 12288-16384: 0 1\n")
        self.assertEqual(belief.from_trace(text), [(4096, 8192, 3.0), (12288, 4096, 0.0)])

    def test_bins_are_relative_to_the_hottest(self):
        found = belief.bins([(0, CHUNK, 4.0), (CHUNK, CHUNK, 2.0)], (0, belief.BINS * CHUNK))
        self.assertEqual(found[:3], [1.0, 0.5, 0.0])


def run(workload: str, system: str, variant: str, tier1: float, pace: float, repeat: int = 1) -> dict:
    """A run as main.py keeps it, with only what the table reads."""
    shares = [tier1, 1 - tier1]
    return {"cell": {"workload": workload, "system": system, "variant": variant, "kernel": "6.12", "page_size": "4K",
                     "repeat": repeat, "window_seconds": 12.0, "knobs": {}},
            "release": "r", "commit": "c", "has_truth": True, "belief": [], "interval_seconds": None,
            "hindsight": {"4K": [.9, .1]},
            "figures": {"tier_share": shares, "tier_share_over_time": {"seconds": [1], "shares": [shares]},
                        "modelled_latency_ns": 100, table.PACE: pace, f"settled_{table.PACE}": pace,
                        "kernel_instructions_percent": 3.0, "own_cpu_instructions_percent": 1.0, "converge_seconds": 1.0,
                        "reconverge_seconds": None, "jumps_seconds": [], "bytes_migrated": 0,
                        "counters": {"profiling_seconds": pace / 100},
                        "gap_p99_us": 1, "gap_max_us": 2, "ops": 1, "wrong_values": 0, "resident_bytes": [1, 1]}}


class Table(unittest.TestCase):
    def test_the_better_variant_is_shown(self):
        rows = table.rows([run("w", "first-touch", "", .3, 1000), run("w", "damon", "default", .4, 900),
                           run("w", "damon", "tuned", .5, 800)])
        self.assertEqual([row["settings"]["variant"] for row in rows], ["", "tuned"])
        self.assertEqual(rows[1]["modelled_time_vs_first_touch"], 0.8)
        self.assertEqual(rows[1]["settings"]["modelled_time_by_variant"], {"default": 0.9, "tuned": 0.8})

    def test_runs_of_two_densities_are_not_compared(self):
        dense = [run("w", "first-touch", "", .3, 500), run("w", "hm-keeper", "", .8, 400)]
        for one in dense:
            one["cell"]["density"] = 8
        rows = table.rows([run("w", "first-touch", "", .3, 1000), run("w", "hm-keeper", "", .8, 500), *dense])
        self.assertEqual([(row["density"], row["modelled_time_vs_first_touch"]) for row in rows], [(1, 1.0), (1, 0.5), (8, 1.0), (8, 0.8)])
        self.assertIn("8 times as dense", report.text(rows))

    def test_runs_of_two_models_are_not_compared(self):
        ours = run("w", "hm-keeper", "", .8, 500)
        ours["figures"]["model"] = figures.MODEL
        rows = table.rows([run("w", "first-touch", "", .3, 1000), ours])
        self.assertEqual([row["modelled_time_vs_first_touch"] for row in rows], [1.0, None])
        self.assertEqual([row["settings"]["model"] for row in rows], [1, figures.MODEL])

    def test_what_starting_costs_is_told_apart(self):
        base, ours = run("w", "first-touch", "", .3, 1000), run("w", "hm-keeper", "", .8, 500)
        for one, pace, instructions in ((base, 400.0, 1e4), (ours, 600.0, 3e5)):
            one["figures"].update({f"start_{table.PACE}": pace, "start_kilo_instructions": instructions})
        rows = table.rows([base, ours])
        self.assertIsNone(rows[0]["start_cost_seconds"])
        self.assertAlmostEqual(rows[1]["start_cost_seconds"], 200e-9 * 3e5)
        self.assertIsNone(table.rows([run("w", "first-touch", "", .3, 1000), run("w", "hm-keeper", "", .8, 500)])[1]["start_cost_seconds"])

    def test_runs_of_two_windows_are_not_compared(self):
        long = [run("w", "first-touch", "", .3, 2000), run("w", "hm-keeper", "", .8, 400)]
        for one in long:
            one["cell"]["window_seconds"] = 60.0
        rows = table.rows([run("w", "first-touch", "", .3, 1000), run("w", "hm-keeper", "", .8, 500), *long])
        self.assertEqual([row["modelled_time_vs_first_touch"] for row in rows], [1.0, .5, 1.0, .2])

    def test_each_setting_of_ours_is_shown_and_the_best_of_a_peers(self):
        rows = table.rows([run("w", "first-touch", "", .3, 1000), run("w", "hm-keeper", "", .8, 500), run("w", "hm-keeper", "shipped", .4, 900),
                           run("w", "damon", "default", .4, 900), run("w", "damon", "tuned", .4, 800)])
        self.assertEqual([(row["system"], row["settings"]["variant"]) for row in rows],
                         [("first-touch", ""), ("hm-keeper", ""), ("hm-keeper", "shipped"), ("damon", "tuned")])

    def test_repeats_give_medians_and_ranges(self):
        several = [run("w", "hm-keeper", "", share, 1, repeat) for repeat, share in enumerate((.8, .9, .85), 1)]
        for one, ns in zip(several, (50.0, 40.0, 80.0)):
            one["figures"]["settled_per_operation"] = {"application_ns": ns, "service_cpu_ns": ns / 10, "moved_bytes": 0.0}
        base = run("w", "first-touch", "", .3, 1)
        base["figures"]["settled_per_operation"] = {"application_ns": 100.0, "service_cpu_ns": 0.0, "moved_bytes": 0.0}
        rows = table.rows([base, *several])
        self.assertEqual((rows[1]["settled_operation_time_vs_first_touch"], rows[1]["settled_per_operation"]["service_cpu_ns"]), (.5, 5.0))
        self.assertEqual([rows[1]["ranges"][name] for name in ("tier_share", "settled_operation_time_vs_first_touch", "application_ns")],
                         [[.8, .9], [.4, .8], [40.0, 80.0]])
        self.assertEqual(set(map(str, rows[0]["ranges"].values())), {"None"})
        self.assertIn("0.500 (0.400–0.800)", report.text(rows))

    def test_without_operations_the_time_is_that_of_instructions_and_says_so(self):
        told = report.text(table.rows([run("w", "first-touch", "", .3, 1000), run("w", "hm-keeper", "", .8, 500)]))
        self.assertIn("0.500 i", told)

    def test_what_no_pages_were_counted_of_has_no_bound(self):
        one = run("w", "first-touch", "", .3, 1000)
        del one["hindsight"]
        self.assertIsNone(table.rows([one])[0]["oracle_ratio"])

    def test_the_oracle_that_ran_is_the_bound(self):
        rows = table.rows([run("w", "first-touch", "", .3, 1000), run("w", "oracle", "", .6, 700)])
        self.assertEqual((rows[0]["oracle_ratio"], rows[0]["oracle_source"]), (.5, "run"))

    def test_only_repeats_give_a_spread_of_a_point_or_more(self):
        rows = table.rows([run("w", "hm-keeper", "", .8, 1, 1), run("w", "hm-keeper", "", .9, 1, 2),
                           run("v", "hm-keeper", "", .5, 1), run("v", "damon", "", .5, 1), run("v", "damon", "", .5, 1, 2)])
        self.assertAlmostEqual(rows[0]["spread"], .1)
        self.assertEqual([row["spread"] for row in rows[1:]], [None, .01])


class PerOperation(unittest.TestCase):
    """What costs.py makes of two samples, 2 s and 2000 operations apart; worked out by hand, within 2 %."""

    MACHINE = load_machine(main.MACHINE, 64 << 30)

    def mark(self, times: int) -> Mark:
        """After `times` times the work of 1000 operations."""
        def half(scale: int, misses: List[int]) -> Dict[str, Any]:
            none = [0] * 4
            return {"read": [scale * n for n in misses], "write": none, "streamed": none, "written_back": none, "walks": [0, 0],
                    "walk_lines": [0, 0, 0], "instructions": scale * 10 ** 6}
        rows = [{"cpu": 0, "user": half(2 * times, [0, 0, 500, 0]), "kernel": half(times, [0, 0, 0, 0])},
                *({"cpu": cpu, "user": half(0, [0] * 4), "kernel": half(times * (cpu == 2), [0] * 4)} for cpu in (1, 2, 3))]
        return Mark(1, times, {"nodes": 4, "vcpus": rows})

    def figures(self, events: Dict[str, Any]) -> Any:
        return costs.between(events, [self.mark(1), self.mark(3)], 0, self.MACHINE, costs.folio("4K"))

    def sample(self, seconds: float, ops: int, moved: int) -> Dict[str, Any]:
        return {"seconds": seconds, "ops": ops, "program_seconds": seconds, "counters": {"moved_bytes": moved}}

    def test_three_figures_apart(self):
        found = self.figures({"samples": [self.sample(1, 1000, 4096), self.sample(3, 3000, 4096 + 409600)]})
        self.assertEqual(found["operations"], 2000)
        by_hand = {"instructions": 990, "random": 137.5, "streamed": 0, "walks": 0, "write_backs": 0}  # 3e6 * 0.33, 1000 * 275 / 2
        for part, ns in by_hand.items():
            self.assertAlmostEqual(found["application_parts_ns"][part], ns, delta=0.02 * ns)
        self.assertAlmostEqual(found["application_ns"], sum(by_hand.values()), delta=0.02 * 1127.5)
        self.assertAlmostEqual(found["application_kernel_ns"], 330, delta=6.6)
        self.assertAlmostEqual(found["application_ns_by_mlp"]["1"], 990 + 275, delta=25)
        self.assertEqual(found["misses"], 1)
        self.assertAlmostEqual(found["stalls_ns"], 275, delta=5.5)                   # at the load of the window
        self.assertAlmostEqual(found["service_cpu_ns"], 330, delta=6.6)
        self.assertAlmostEqual(found["moved_bytes"], 204.8)                          # 100 pages by 2000
        self.assertAlmostEqual(found["moves_priced_ns"], 57.7, delta=1.2)            # at 3.55 GB/s

    def test_operations_are_those_at_the_time_of_the_mark(self):
        events = {"samples": [self.sample(1, 0, 0), self.sample(3, 2000, 0)],
                  "reports": {"seconds": [0.5, 1.5, 2.5, 3.5], "ops": [500, 1500, 2500, 4500]}}
        self.assertEqual([costs.operations_at(at, events) for at in (1.0, 1.5, 3.0, 4.0)], [1000, 1500, 3500, 5500])
        self.assertEqual(self.figures(events)["operations"], 2500)

    def test_the_window_begins_with_the_first_sample(self):
        slow = self.mark(1)
        slow.data["vcpus"][0]["user"]["read"][2] += 4000  # 4000 * 275 / 2 ns while the system starts: 1000 operations and 2e6 instructions
        late = self.mark(3)
        late.data["vcpus"][0]["user"]["read"][2] += 4000
        events = {"samples": [self.sample(1, 1000, 0), self.sample(3, 3000, 0)], "placed": {"resident_bytes": [0] * 4}, "ended": {}}
        found = figures.of({"marks": [{**mark.data, "mark": figures.PERIOD, "seq": nr} for nr, mark in enumerate((slow, late))], "events": events,
                            "cell": {"page_size": "4K"}}, self.MACHINE)
        self.assertAlmostEqual(found[table.PACE], 1127.5 / 2, delta=0.02 * 1127.5)
        self.assertAlmostEqual(found[f"start_{table.PACE}"], (1127.5 + 550) / 2, delta=0.02 * 1677.5)
        self.assertEqual(found["start_kilo_instructions"], 2000)

    def test_a_program_that_counts_none_has_none(self):
        self.assertIsNone(self.figures({"samples": [self.sample(1, 0, 0), self.sample(3, 0, 0)], "reports": {"seconds": [], "ops": []}}))

    def test_moves_are_paid_once_what_is_saved_covers_what_was_spent_to_the_end(self):
        base = {"seconds": [1.0], "operations": [100.0], "application_seconds": [10.0], "service_seconds": [0.0]}  # 0.1 s each

        def paid(*rows: Any) -> Any:
            names = ("seconds", "operations", "application_seconds", "service_seconds")
            return costs.paid_seconds(dict(zip(names, map(list, zip(*rows)))), base)
        self.assertEqual(paid((1, 10, 1.0, 0.5), (2, 20, 1.5, 0.5), (3, 30, 2.0, 0.6)), 2)       # saved 0, 0.5, 1.0
        self.assertIsNone(paid((1, 10, 1.0, 0.5), (2, 20, 1.51, 0.5)))                           # 0.49 of 0.5
        self.assertEqual(paid((1, 10, 0.4, 0.5), (2, 20, 1.9, 0.5), (3, 30, 2.0, 0.6)), 3)       # paid, lost again, paid
        self.assertEqual(paid((1, 10, 1.0, 0.0)), 1)                                             # nothing spent

    def test_operations_that_both_did_are_compared_and_no_others(self):
        base = {"began": [0.0], "operations": [100.0, 200.0], "application_seconds": [10.0, 30.0]}  # 0.1 s each, then 0.2 s
        late = {"began": [50.0], "operations": [50.0, 150.0], "application_seconds": [5.0, 25.0]}   # the same from there on
        found = costs.common(late, base)
        self.assertEqual((found["operations"], found["time"]), (150.0, 1.0))
        slow = {**late, "application_seconds": [5.5, 27.5]}
        self.assertAlmostEqual(costs.common(slow, base)["time"], 1.1)
        short = {"began": [50.0], "operations": [100.0, 100.0], "application_seconds": [15.0, 15.5]}  # nothing was done between two samples
        self.assertAlmostEqual(costs.common(short, base)["time"], 15.5 / 15.0)
        self.assertEqual(costs.common({**late, "began": [100.0]}, base)["operations"], 100.0)         # just half of both
        self.assertIsNone(costs.common({**late, "began": [101.0]}, base))
        self.assertIsNone(costs.common({"operations": [1.0], "application_seconds": [1.0]}, base))

    def test_costs_over_time_are_those_since_the_first_sample(self):
        events = {"samples": [self.sample(1, 1000, 0), self.sample(2, 2000, 0), self.sample(3, 3000, 0)]}
        found = costs.over_time(events, [self.mark(1), self.mark(2), self.mark(3)], self.MACHINE)
        self.assertEqual((found["began"], found["seconds"], found["operations"]), ([1000], [2, 3], [1000, 2000]))
        for seconds, thousands in zip(found["application_seconds"], (1, 2)):
            self.assertAlmostEqual(seconds, thousands * 1.1275e-3, delta=0.02 * thousands * 1.1275e-3)
        for seconds, thousands in zip(found["service_seconds"], (1, 2)):
            self.assertAlmostEqual(seconds, thousands * 0.33e-3, delta=1e-5)
        self.assertIsNone(costs.over_time({"samples": [self.sample(1, 0, 0), self.sample(2, 0, 0)]}, [self.mark(1), self.mark(2)],
                                          self.MACHINE))

    def test_waits_are_those_between_two_samples(self):
        samples = [{"program_seconds": seconds} for seconds in (0.5, 1.0, 3.0)]
        found = costs.waits_over_time(samples, [self.mark(1), self.mark(2), self.mark(4)], self.MACHINE)
        self.assertEqual((found["program_seconds"], found["misses"]), ([0.5, 2.0], [1000, 2000]))
        for stalls, whole, thousands in zip(found["stalls_seconds"], found["application_seconds"], (1, 2)):
            self.assertAlmostEqual(stalls, thousands * 275e-6, delta=6e-6 * thousands)
            self.assertAlmostEqual(whole, thousands * (990 + 275) * 1e-6, delta=25e-6 * thousands)

    def test_large_pages_are_cheaper_to_move(self):
        of_size = [costs.of(self.mark(1), 1000, 2 << 20, self.MACHINE, costs.folio(pages))["moves_priced_ns"] for pages in ("4K", "THP")]
        self.assertAlmostEqual(of_size[0] / of_size[1], 10.88 / 3.55, delta=0.06)

    def test_moves_take_as_long_as_their_bytes_on_the_narrowest_link(self):
        slow = dataclasses.replace(self.MACHINE.nodes[3], access={0: Access(340, 1000, 340), 1: Access(275, 2000, 275)})
        machine = dataclasses.replace(self.MACHINE, nodes=(*self.MACHINE.nodes[:3], slow))
        found = costs.of(self.mark(1), 1000, 2 << 20, machine, costs.folio("4K"))
        by_hand = (512 * 778.9 + (2 << 20) / 2) / 1000  # ns: 512 pages, and 2 GB/s, which the nearer CPUs have
        self.assertAlmostEqual(found["moves_priced_ns"], by_hand, delta=0.02 * by_hand)


class SeveralCpus(PerOperation):
    """A program on both sockets: what each of its CPUs did, each as far from the nodes as it is."""

    def mark(self, times: int) -> Mark:
        """As above, and on CPU 1 of socket 1 the same: node 2 is 340 ns away from it."""
        one = super().mark(times)
        rows = one.data["vcpus"]
        rows[1] = {**rows[0], "cpu": 1}
        return one

    def test_their_work_is_added_up(self):
        both = costs.of(self.mark(1), 1000, 0, self.MACHINE, costs.folio("4K"), [0, 1])
        alone = costs.of(self.mark(1), 1000, 0, self.MACHINE, costs.folio("4K"), [0])
        self.assertAlmostEqual(both["application_parts_ns"]["instructions"], 2 * 990, delta=1)
        self.assertAlmostEqual(both["application_parts_ns"]["random"], 137.5 + 170, delta=6)
        self.assertAlmostEqual(alone["application_ns"], 1127.5, delta=25)

    def test_a_latency_is_the_mean_over_the_misses_of_all(self):
        self.assertAlmostEqual(figures._latency(self.mark(1), self.MACHINE, [0]), 275)
        self.assertAlmostEqual(figures._latency(self.mark(1), self.MACHINE, [0, 1]), (275 + 340) / 2)


class Jumps(unittest.TestCase):
    SECONDS = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

    def test_after_the_first_jump_counts_up_to_the_second(self):
        tier1 = [.9, .9, .2, .8, .8, .8, .1, .1]
        self.assertEqual(figures.reconverged(tier1, self.SECONDS, [2.0, 6.0]), 1.0)
        self.assertIsNone(figures.reconverged(tier1, self.SECONDS, []))
        self.assertIsNone(figures.reconverged([.9, .9, .2, .8, .8, .8, .1, .9], self.SECONDS, [2.0]))


class Page(unittest.TestCase):
    def test_assumed_prices_are_told_of_runs_they_went_into(self):
        for model, times in ((1, 0), (2, 1)):
            of_model = run("w", "first-touch", "", .3, 1000)
            of_model["figures"]["model"] = model
            with tempfile.TemporaryDirectory() as folder:
                report.write(table.rows([of_model]), [], Path(folder) / "page.md", load_machine(main.MACHINE))
                page = (Path(folder) / "page.md").read_text(encoding="utf-8")
            self.assertEqual(page.count("assumed, for the machine file gives none: mlp 2;"), times)

    def test_settings_say_where_they_are_from(self):
        rows = table.rows([run("w", "first-touch", "", .3, 1000), run("w", "hm-keeper", "", .8, 500), run("w", "hm-keeper", "shipped", .8, 500)])
        told = report._settings(rows)
        self.assertEqual([line for line in told if line.startswith("- hm-keeper:") and line.endswith(f"({cells.origin('hm-keeper')})")], told[-2:-1])
        self.assertIn("- hm-keeper (shipped): mode manage, interval 10s, overhead 5%", told[-1])
        self.assertEqual(cells.origin("first-touch"), "")

    def test_ablations_stand_beside_the_papers_figures(self):
        rows = table.rows([run("w", "first-touch", "", .3, 1000), run("w", "hm-keeper", "", .8, 500),
                           run("w", "hm-keeper/fixed-regions", "", .6, 600), run("v", "hm-keeper/no-ema", "", .6, 600)])
        with tempfile.TemporaryDirectory() as folder:
            report.write(rows, [], Path(folder) / "page.md", load_machine(main.MACHINE))
            page = (Path(folder) / "page.md").read_text(encoding="utf-8")
        self.assertIn("| fixed-regions | w | 1.20 | 0.75 | 1.20 | +22 % time |", page)
        self.assertNotIn("| no-ema | v", page)


class Plan(unittest.TestCase):
    def plan(self, systems, kernel="6.12", quick=False):
        return cells.plan(WORKLOADS, ["gups-stable"], systems, "4K", 1, not quick, kernel, 12.0)

    def test_peers_run_with_all_their_settings(self):
        self.assertEqual([cell.variant for cell in self.plan(["damon"])], ["default", "tuned"])
        self.assertEqual([cell.variant for cell in self.plan(["damon"], quick=True)], ["tuned"])

    def test_settings_by_name_instead_of_those_of_the_table(self):
        words = ["--workload", "bfs", "--system", "first-touch,numa-balancing,damon", "--setting", "mode-3,mode-1"]
        found = main.plan(main.parse(words))
        self.assertEqual([(cell.system, cell.variant) for cell in found],
                         [("first-touch", ""), ("numa-balancing", "mode-3"), ("numa-balancing", "mode-1")])
        self.assertEqual([cell.knobs.get("mode") for cell in found], [None, 3, 1])

    def test_an_interval_is_the_shipped_setting_with_that_interval_alone_changed(self):
        found = main.plan(main.parse(["--workload", "gups-stable,bfs", "--system", "hm-keeper,oracle", "--interval", "1s,10s", "--window", "120"]))
        self.assertEqual([(cell.workload, cell.variant, cell.knobs.get("interval")) for cell in found],
                         [("gups-stable", "every-1s", "1s"), ("gups-stable", "every-10s", "10s"), ("gups-stable", "", None),
                          ("bfs", "every-1s", "2s"), ("bfs", "every-10s", "20s")])
        self.assertEqual(found[1].knobs, cells.HM_KEEPER["shipped"])
        self.assertEqual({(cell.workload, cell.window_seconds) for cell in found}, {("gups-stable", 120.0), ("bfs", 160.0)},
                         "eight intervals at least, for all that are compared")

    def test_without_an_interval_a_window_is_the_workloads_own(self):
        found = main.plan(main.parse(["--workload", "gups-stable", "--system", "hm-keeper"]))
        self.assertEqual({cell.window_seconds for cell in found}, {16.0})

    def test_an_interval_that_is_not_one_or_is_asked_of_others_is_refused(self):
        for words, told in ((["--interval", "2m"], r"^--interval 2m: not known; name some of 1s, 4s, 10s$"),
                            (["--interval", "1s", "--system", "damon"], r"^--interval is of hm-keeper, which --system leaves out$")):
            with self.assertRaisesRegex(main.UsageError, told):
                main.plan(main.parse(words))

    def test_a_setting_that_none_of_the_systems_has_is_refused_with_theirs(self):
        with self.assertRaises(main.UsageError) as refused:
            main.plan(main.parse(["--system", "numa-balancing", "--setting", "mode-9"]))
        self.assertRegex(str(refused.exception), r"^--setting mode-9: not known; name some of default, tuned, .*mode-3[^\n]*$")

    def test_the_newest_kernel_beside_the_gates(self):
        found = main.plan(main.parse(["--workload", "bfs", "--system", "damon,numa-balancing", "--kernel", "6.1,newest", "--tuned"]))
        self.assertEqual([(cell.system, cell.kernel) for cell in found], [("damon", "newest"), ("numa-balancing", "newest")])

    def test_a_denser_run_is_another_cell_with_the_same_periods(self):
        words = ["--workload", "bfs", "--system", "hm-keeper"]
        plain, dense = main.plan(main.parse(words)), main.plan(main.parse([*words, "--density", "8"]))
        self.assertEqual([cell.density for cell in plain + dense], [1, 8])
        self.assertEqual(plain[0].knobs, dense[0].knobs)
        self.assertEqual(dense[0].key, plain[0].key.replace("s_1", "s_x8_1"))

    def test_an_interval_has_as_many_instructions_for_each_workload(self):
        found = cells.plan(WORKLOADS, ["gups-stable", "bfs", "tpcc-postgresql"], ["hm-keeper"], "4K", 1, True, "6.12", None)
        self.assertEqual([cell.knobs["interval"] for cell in found], ["1s", "2s", "1s"])
        self.assertEqual([cell.knobs.get("shared") for cell in found], [None, None, "yes"])

    def test_what_a_kernel_cannot_is_left_out_with_a_reason(self):
        self.assertEqual(self.plan(["damon", "numa-balancing", "weighted-interleave", "hm-keeper/without-module"], "6.1"), [])
        self.assertIn("DAMON", cells.not_applicable("damon", "6.1"))
        self.assertIn("6.9", cells.not_applicable("weighted-interleave", "6.1"))

    def test_keys_are_different_and_fit_for_files(self):
        keys = [cell.key for cell in self.plan([*cells.SYSTEMS, *(f"hm-keeper/{name}" for name in cells.ABLATIONS)])]
        self.assertEqual(len(keys), len(set(keys)))
        self.assertFalse([key for key in keys if "/" in key])

    def test_peers_without_their_defaults(self):
        found = main.plan(main.parse(["--workload", "bfs", "--system", "numa-balancing,damon", "--tuned"]))
        self.assertEqual([cell.variant for cell in found], ["tuned", "tuned"])

    def test_a_choice_is_taken_as_it_is(self):
        found = main.plan(main.parse(["--workload", "bfs", "--system", "hm-keeper", "--repeat", "2", "--window", "5"]))
        self.assertEqual([(cell.repeat, cell.window_seconds) for cell in found], [(1, 5.0), (2, 5.0)])


class Stored(unittest.TestCase):
    """What is there is shown, what is missing is named, nothing runs."""

    def test_cells_without_a_result(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.md"
            done = subprocess.run([sys.executable, "-B", str(ROOT / "tools/bench.d/placement/main.py"), "--quick", "--stored",
                                   "--out", folder, "--report", str(page)], check=False, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
            told = page.read_text(encoding="utf-8")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("0 of 18 cells", done.stderr)
        self.assertIn("- needle, 4K pages, 10 s: first-touch, numa-balancing (tuned), damon (tuned), weighted-interleave (tuned), "
                      "hm-keeper, oracle", told)


class BadInput(unittest.TestCase):
    """One line, exit code 2, before anything is built or booted."""

    def refused(self, *flags: str, path: str = os.environ["PATH"], tool: str = "main") -> str:
        done = subprocess.run([sys.executable, "-B", str(ROOT / f"tools/bench.d/placement/{tool}.py"), *flags], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                              env={**os.environ, "PATH": path})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        return done.stderr

    def test_unknown_names(self):
        self.assertIn("gups-stable", self.refused("--workload", "gups"))
        self.assertIn("numa-balancing", self.refused("--system", "autonuma"))
        self.assertIn("6.12", self.refused("--kernel", "5.10"))

    def test_a_density_that_cannot_be_had(self):
        self.assertIn("--density 3: cannot be had; take one of 1, 2, 4, 8", self.refused("--density", "3"))
        self.assertIn("counts no instructions", self.refused("--density", "2", "--kernel", "6.1,6.12"))

    def test_no_cell_fits(self):
        self.assertIn("--list", self.refused("--system", "damon", "--kernel", "6.1"))

    def test_a_machine_that_does_not_fit(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write((ROOT / "configs/lab/bench-four-tier.yaml").read_text().replace("512MiB", "51200GiB"))
            file.flush()
            self.assertIn("available", self.refused("--quick", "--machine", file.name))

    def test_nothing_to_try(self):
        self.assertIn("after --", self.refused("--window", "5", tool="trial"))
        self.assertIn("no-such-program", self.refused("--", "no-such-program", "-v", tool="trial"))

    def test_packages_that_are_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            dpkg = Path(folder) / "dpkg-query"
            dpkg.write_text("#!/bin/sh\nexit 1\n", encoding="ascii")  # as it answers for a package it has never seen
            dpkg.chmod(0o755)
            told = self.refused("--workload", "gups-disturbed,memcached-zipf,redis-zipf", "--out", folder,
                                path=f"{folder}:{os.environ['PATH']}")
        self.assertIn("apt-get install memcached redis-server stress-ng", told)

    def test_a_folder_that_is_not_there(self):
        self.assertIn("create it first", self.refused("--json", "/no/such/folder/file.json"))


if __name__ == "__main__":
    unittest.main()
