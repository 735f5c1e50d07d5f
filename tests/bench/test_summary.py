# SPDX-License-Identifier: MIT
"""The half page on top of docs/results.md: who gains, who loses, why, and what it costs."""
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import summary  # noqa: E402


def row(workload: str, system: str, time: float, least_most: Optional[List[float]] = None, pages: str = "THP", **changed: Any) -> Dict[str, Any]:
    """Of the table, with only what a summary reads."""
    parts = {"instructions": 100.0, "random": 100 * time, "streamed": 0.0, "walks": 5.0, "write_backs": 0.0, **changed.pop("parts", {})}
    figures = {"application_ns": 200.0, "service_cpu_ns": 20.0, "application_kernel_ns": 3.0, "application_parts_ns": parts}
    return {"workload": workload, "system": system, "page_size": pages, "density": 1, "tier_share": [time / 2, 0.1],
            "settings": {"variant": "", "window_seconds": 16.0}, "ranges": {summary.TIME: least_most}, summary.TIME: time,
            summary.WHOLE: 1.0, "per_operation": figures, "settled_per_operation": figures, "paid_seconds": 7.0, **changed}


def beside(workload: str, time: float, *more: Dict[str, Any], **changed: Any) -> List[Dict[str, Any]]:
    return [row(workload, "first-touch", 1.0), row(workload, "hm-keeper", time, **changed), *more]


def told(*groups: List[Dict[str, Any]]) -> str:
    return "\n".join(summary.lines([one for group in groups for one in group]))


class Summary(unittest.TestCase):
    def test_who_gains_who_loses_and_who_does_neither(self):
        page = told(beside("a", .5), beside("b", 1.5), beside("c", 1.01), beside("d", .7))
        self.assertRegex(page, r"- Gain: a 0\.50 .*; d 0\.70 .*\.\n- Lose: b 1\.50 .*\.\n- No difference beyond 2 % in every run: c 1\.01\.")
        self.assertIn("**THP as Debian ships it**, 4 workloads", page)

    def test_a_difference_is_one_in_every_run(self):
        for time, least_most, sign in ((.9, [.8, .979], -1), (.9, [.8, .981], 0), (1.1, [1.021, 1.2], 1), (1.1, [1.019, 1.2], 0),
                                       (.97, None, -1), (1.0, None, 0)):
            self.assertEqual(summary.difference(row("w", "hm-keeper", time, least_most)), sign, (time, least_most))

    def test_why_is_the_part_that_changed_most(self):
        self.assertIn("a 0.50 (misses 100 to 50 ns; tier 1 serves 50 to 25 %)", told(beside("a", .5)))
        slower = beside("b", 1.5, parts={"instructions": 300.0}, tier_share=[0.5])
        self.assertIn("b 1.50 (executing 100 to 300 ns, of it the kernel 3 to 3 ns; tier 1 serves 50 to 50 %)", told(slower))

    def test_what_it_costs_and_when_it_has_paid(self):
        page = told(beside("a", .5), beside("b", .6, paid_seconds=None, **{summary.WHOLE: 1.2}))
        self.assertIn("another CPU is busy for 10 % of the application's time", page)
        self.assertIn("paid within the window on 1 of 2, after 7.0 s", page)
        self.assertIn("slower on b.", page)

    def test_peers_are_the_fastest_that_ran(self):
        page = told(beside("a", .5, row("a", "damon", .9), row("a", "numa-balancing", .4)), beside("b", .5, row("b", "damon", .9)))
        self.assertIn("faster on 1 of 2; slower on a (numa-balancing 0.40, HM-Keeper 0.50).", page)
        self.assertIn("No peer ran", told(beside("a", .5)))

    def test_other_settings_densities_and_what_counts_nothing_stay_out(self):
        odd = [row("a", "hm-keeper", 9.0, settings={"variant": "shipped", "window_seconds": 60.0}), row("a", "hm-keeper", 9.0, density=4),
               row("z", "first-touch", 1.0), {**row("y", "hm-keeper", 1.0), summary.TIME: None}]
        self.assertEqual(told(beside("a", .5), odd), told(beside("a", .5)))
        self.assertEqual(summary.lines(odd), [])

    def test_pages_of_both_sizes_are_told_apart(self):
        small = [{**one, "page_size": "4K"} for one in beside("a", 1.5)]
        page = told(beside("a", .5), small)
        self.assertLess(page.index("Gain: a"), page.index("Lose: a"))

if __name__ == "__main__":
    unittest.main()
