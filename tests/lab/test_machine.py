# SPDX-License-Identifier: MIT
"""A wrong machine file is refused with one line: file, place, remedy."""
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab.errors import UsageError  # noqa: E402
from lab.machine import load_machine  # noqa: E402

FOUR_TIER = ROOT / "configs/lab/four-tier.yaml"
PLENTY = 64 << 30


def load_changed(old: str, new: str, host_memory: int = PLENTY):
    """Load the four-tier file with its first `old` replaced."""
    text = FOUR_TIER.read_text(encoding="utf-8")
    assert old in text, old
    return load_text(text.replace(old, new, 1), host_memory)


def load_text(text: str, host_memory: int = PLENTY):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "machine.yaml"
        file.write_text(text, encoding="utf-8")
        return load_machine(file, host_memory)


class MachineFile(unittest.TestCase):
    """Names say what a reader of a machine file may rely on."""

    def refused(self, old: str, new: str, *parts: str, host_memory: int = PLENTY) -> None:
        with self.assertRaises(UsageError) as caught:
            load_changed(old, new, host_memory)
        message = str(caught.exception)
        self.assertNotIn("\n", message)
        self.assertRegex(message, r"machine\.yaml(:\d+)?: ")
        for part in parts:
            self.assertIn(part, message)
        self.assertEqual(caught.exception.exit_code, 2)

    def test_four_tier_is_table_8_1(self):
        machine = load_machine(FOUR_TIER, PLENTY)
        self.assertEqual([node.access[0].latency_ns for node in machine.nodes], [90, 145, 275, 340])
        self.assertEqual([node.access[0].bandwidth_mbps for node in machine.nodes], [95000, 35000, 35000, 1000])
        self.assertEqual(machine.cpus, 2)

    def test_tiers_are_ordered_by_who_reads(self):
        machine = load_machine(FOUR_TIER, PLENTY)
        self.assertEqual(machine.tiers(0), [0, 1, 2, 3])
        self.assertEqual(machine.tiers(1), [1, 0, 3, 2])

    def test_distances_follow_from_latencies_and_are_symmetric(self):
        machine = load_machine(FOUR_TIER, PLENTY)
        self.assertEqual(machine.distances[0], (10, 16, 31, 38))
        self.assertEqual([list(row) for row in machine.distances], [list(row) for row in zip(*machine.distances)])

    def test_misspelt_key_is_answered_with_the_nearest(self):
        self.refused("memory: 512MiB", "memroy: 512MiB", "unknown key 'memroy'", "did you mean 'memory'", ":10:")

    def test_same_node_twice_is_an_overlap(self):
        self.refused("id: 1", "id: 0", "node 0 overlaps the node of line 8")

    def test_cpu_in_two_nodes_is_refused(self):
        self.refused("cpus: [1]", "cpus: [0]", "CPU 0 is already in node 0")

    def test_number_without_unit_is_refused(self):
        self.refused("512MiB", "512", "'512' has no unit", "512GiB")

    def test_wrong_unit_is_refused(self):
        self.refused("latency: 90ns", "latency: 90MiB", "unknown unit 'MiB'", "ns")

    def test_more_memory_than_the_host_has_is_refused(self):
        self.refused("512MiB", "512MiB", "ask for 4096MiB", "1024MiB available", host_memory=1 << 30)

    def test_missing_latency_is_refused(self):
        self.refused("      1: {latency: 145ns, bandwidth: 35GB/s}\n", "", "from node 1 are missing")
        self.refused("{latency: 90ns, bandwidth: 95GB/s}", "{bandwidth: 95GB/s}", "'latency' is missing")

    def test_node_without_cpus_needs_an_initiator(self):
        self.refused("    initiator: 0                  # no CPUs: the node whose CPUs are nearest\n", "",
                     "node 2 has no CPUs")

    def test_initiator_without_cpus_is_refused(self):
        self.refused("initiator: 0 ", "initiator: 3 ", "node 3 has no CPUs")

    def test_asymmetric_distances_are_refused(self):
        self.refused("# distances: [[10, 16,", "distances: [[10, 17,", "symmetric")

    def test_gap_in_ids_is_refused(self):
        self.refused("id: 3", "id: 7", "without a gap")

    def test_bandwidths_too_far_apart_for_hmat_are_refused(self):
        self.refused("95GB/s", "95001MB/s", "round")

    def test_what_is_not_yaml_names_the_line(self):
        with self.assertRaises(UsageError) as caught:
            load_text("name: x\nnodes: [\n")
        self.assertRegex(str(caught.exception), r"machine\.yaml:\d+: not YAML")

    def test_empty_file_and_no_file_are_refused(self):
        for load in (lambda: load_text(""), lambda: load_machine("/nonexistent/machine.yaml")):
            with self.assertRaises(UsageError):
                load()

    def test_prices_that_are_not_given_are_assumed_and_told(self):
        machine = load_machine(FOUR_TIER, PLENTY)
        self.assertEqual((machine.core.mlp, machine.core.tlb_entries), (2, 1536))
        self.assertEqual(machine.nodes[3].access[0].write_latency_ns, 340)
        self.assertEqual(machine.nodes[3].curve.factor(1.0), 2.5)
        self.assertEqual(machine.assumed, ("mlp 2", "tlb 1536", "write-latency as latency",
                                           "load 50% 110%, 75% 145%, 90% 200%, 100% 250%"))

    def test_prices_that_are_given_count(self):
        machine = load_changed("name: four-tier", "name: x\nmlp: 4\ntlb: 2048")
        self.assertEqual((machine.core.mlp, machine.core.tlb_entries, len(machine.assumed)), (4, 2048, 2))
        slow = load_changed("145ns, bandwidth: 35GB/s}", "145ns, bandwidth: 35GB/s, write-latency: 600ns}")
        self.assertEqual(slow.nodes[0].access[1].write_latency_ns, 600)
        self.assertIn("write-latency as latency", slow.assumed)  # of the others
        steep = load_changed("initiator: 0 ", "load: {80%: 120%, 100%: 400%}\n    initiator: 0 ")
        self.assertEqual([steep.nodes[2].curve.factor(load) for load in (0.4, 0.8, 1)], [1.1, 1.2, 4.0])
        self.assertEqual(steep.nodes[1].curve.factor(1.0), 2.5)

    def test_prices_that_cannot_be_are_refused(self):
        self.refused("name: four-tier", "name: x\nmlp: 0", "mlp: 0 must lie between 1 and 64", ":6:")
        self.refused("name: four-tier", "name: x\ntlb: 1.5k", "not a whole number")
        self.refused("145ns, bandwidth: 35GB/s}", "145ns, bandwidth: 35GB/s, write-latency: 600}", "'600' has no unit")
        for curve, *told in (("{50%: 110%}", "must end with the latency at 100%"), ("{50%: 110%, 40%: 120%}", "40% follows 50%"),
                             ("{100%: 90%}", "never falls"), ("{100: 250%}", "'100' has no unit"), ("{100%: 2.5}", "whole number")):
            self.refused("initiator: 0 ", f"load: {curve}\n    initiator: 0 ", *told)

    def test_a_list_where_a_value_belongs_is_refused(self):
        self.refused("memory: 512MiB", "memory: [512MiB]", "must be a single value")


if __name__ == "__main__":
    unittest.main()
