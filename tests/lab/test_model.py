# SPDX-License-Identifier: MIT
"""Modelled latency and time against examples worked out by hand."""
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab.machine import Access, load_machine  # noqa: E402
from lab.model import (instructions_by_role, misses_by_role, modelled, modelled_latency_ns,  # noqa: E402
                       modelled_memory_seconds)
from lab.outcome import Mark  # noqa: E402

MACHINE = load_machine(ROOT / "configs/lab/bench-four-tier.yaml", 64 << 30)


def half(read: list, write: list, instructions: int) -> dict:
    return {"read": read, "write": write, "llc_hits": 0, "accesses": 0, "instructions": instructions}


def mark(*vcpus: tuple) -> Mark:
    """A mark of `vcpus`, each a pair of halves: user, kernel."""
    rows = [{"cpu": cpu, "user": user, "kernel": kernel} for cpu, (user, kernel) in enumerate(vcpus)]
    return Mark(1, 0, {"nodes": 4, "vcpus": rows})


class Latency(unittest.TestCase):
    def test_it_is_the_mean_over_misses(self):
        access = [Access(90, 95000, 90), Access(340, 1000, 340)]
        self.assertEqual(modelled_latency_ns([3, 1], access), 152.5)  # (3 * 90 + 340) / 4
        self.assertEqual(modelled_latency_ns([0, 0], access), 0.0)

    def test_lab_notes_first_touch_is_181_ns(self):
        access = [node.access[0] for node in MACHINE.nodes]
        self.assertAlmostEqual(modelled_latency_ns([275, 331, 394, 0], access), 181.095)


class MemoryTime(unittest.TestCase):
    def test_a_tier_of_much_bandwidth_costs_its_latency(self):
        self.assertAlmostEqual(modelled_memory_seconds([1_000_000], [Access(90, 95000, 90)]), 0.09)

    def test_a_tier_of_little_bandwidth_costs_the_transfer(self):
        # 64 bytes at 100 MB/s are 640 ns, more than the latency of 340 ns
        self.assertAlmostEqual(modelled_memory_seconds([1_000_000], [Access(340, 100, 340)]), 0.64)

    def test_the_longer_is_taken_tier_by_tier(self):
        access = [Access(90, 95000, 90), Access(340, 100, 340)]
        self.assertAlmostEqual(modelled_memory_seconds([1_000_000, 1_000_000], access), 0.73)


class Work(unittest.TestCase):
    NOTHING = half([0] * 4, [0] * 4, 0)

    def test_reads_writes_user_and_kernel_are_all_paid_for(self):
        seen = mark((half([1_000_000, 0, 0, 0], [0, 0, 1_000_000, 0], 3_000_000),
                     half([0, 0, 0, 0], [0, 0, 0, 500_000], 1_000_000)))
        work = modelled(seen, MACHINE, cpu=0, ns_per_instruction=0.5)
        self.assertAlmostEqual(work.memory_seconds, 0.09 + 0.275 + 0.17)
        self.assertAlmostEqual(work.instruction_seconds, 0.002)
        self.assertAlmostEqual(work.seconds, 0.537)
        self.assertAlmostEqual(work.latency_ns, 535 / 2.5)
        self.assertAlmostEqual(modelled(seen, MACHINE, 0, ("user",)).latency_ns, 182.5)

    def test_latencies_are_those_of_the_cpus_own_node(self):
        far = (half([1000, 0, 0, 0], [0] * 4, 0), self.NOTHING)
        self.assertEqual(modelled(mark(far), MACHINE, cpu=0).latency_ns, 90)
        self.assertEqual(modelled(mark((self.NOTHING, self.NOTHING), far), MACHINE, cpu=1).latency_ns, 145)


class Roles(unittest.TestCase):
    def test_each_cpu_and_mode_has_one_role_and_none_is_lost(self):
        rows = [(half([cpu] * 4, [0] * 4, 10 ** (2 * cpu)), half([10 * cpu] * 4, [0] * 4, 2 * 10 ** (2 * cpu)))
                for cpu in range(4)]
        self.assertEqual(instructions_by_role(mark(*rows)), {
            "application": 1, "kernel for the application": 2, "clients and the rest": 300, "hmk": 30000,
            "kernel tierers": 3000000})
        self.assertEqual(misses_by_role(mark(*rows))["hmk"], 88)


if __name__ == "__main__":
    unittest.main()
