# SPDX-License-Identifier: MIT
"""What a guest is started with, decided before QEMU runs: clock, ordinary CPUs, sockets, caches."""
import sys
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab.emulator import Emulator, emulator  # noqa: E402
from lab.errors import UsageError  # noqa: E402
from lab.guest import ordinary_cpus  # noqa: E402
from lab.machine import load_machine  # noqa: E402
from lab.plugin import Counting, ranges  # noqa: E402
from lab.qemu import accelerator, command, nr_spacers, spacer_ids  # noqa: E402

PLENTY = 64 << 30
TWO_CPUS = load_machine(ROOT / "configs/lab/four-tier.yaml", PLENTY)
FOUR_CPUS = load_machine(ROOT / "configs/lab/bench-four-tier.yaml", PLENTY)


class Clock(unittest.TestCase):
    def test_by_instructions_the_vcpus_take_turns_and_the_clock_does_not_sleep(self):
        self.assertEqual(accelerator("instructions", 8),
                         ["-accel", "tcg,thread=single", "-icount", "shift=3,sleep=off",
                          "-rtc", "base=utc,clock=vm"])
        self.assertIn("shift=0,sleep=off", accelerator("instructions", 1))

    def test_between_two_vcpus_that_take_turns_stands_one_the_guest_does_not_use(self):
        spacers = nr_spacers(FOUR_CPUS.cpus, "instructions")
        args = command(["qemu"], FOUR_CPUS, Path("i"), Path("r"), Path("s"), Path("c"), Path("l"), spacers=spacers)
        order = [0] + [int(arg.split("socket-id=")[1].split(",")[0]) for arg in args if "socket-id" in arg]
        self.assertEqual(order, [0, 4, 1, 5, 2, 6, 3])
        self.assertEqual(spacer_ids(FOUR_CPUS.cpus, spacers), [4, 5, 6], "they are the last by number")
        self.assertEqual(nr_spacers(FOUR_CPUS.cpus, "host"), 0)
        self.assertEqual(nr_spacers(1, "instructions"), 0)

    def test_every_guest_has_an_instruction_for_random_numbers_unless_its_cpu_is_named(self):
        def cpu(**keywords) -> str:
            args = command(["qemu"], FOUR_CPUS, Path("i"), Path("r"), Path("s"), Path("c"), Path("l"), **keywords)
            self.assertEqual(args.count("-cpu"), 1)
            return args[args.index("-cpu") + 1]
        self.assertIn("+rdrand", cpu())
        self.assertIn("+rdrand", cpu(spacers=3))
        self.assertEqual(cpu(cpu="max,la57"), "max,la57")

    def test_by_the_host_nothing_is_counted_into_time(self):
        self.assertNotIn("-icount", accelerator("host", 8))

    def test_what_cannot_be_had_is_refused_with_what_can(self):
        for clock, ns in (("hots", 8), ("instructions", 3), ("instructions", 128), ("instructions", 0)):
            with self.assertRaisesRegex(UsageError, "choose one of"):
                accelerator(clock, ns)


class OrdinaryCpus(unittest.TestCase):
    def test_cpu_0_is_left_to_the_application_and_with_four_the_last_two_too(self):
        self.assertEqual(ordinary_cpus(TWO_CPUS, True), [1])
        self.assertEqual(ordinary_cpus(FOUR_CPUS, True), [1])

    def test_a_set_is_taken_as_it_is_and_false_means_anywhere(self):
        self.assertEqual(ordinary_cpus(FOUR_CPUS, {3, 1}), [1, 3])
        self.assertEqual(ordinary_cpus(FOUR_CPUS, False), [])

    def test_cpus_that_are_not_there_are_refused(self):
        cpus: Any
        for cpus in ({2}, set()):
            with self.assertRaisesRegex(UsageError, "CPUs 0 to 1"):
                ordinary_cpus(TWO_CPUS, cpus)


class Sockets(unittest.TestCase):
    def test_no_socket_spans_two_nodes(self):
        for machine, smp in ((TWO_CPUS, "2,sockets=2,cores=1,threads=1"), (FOUR_CPUS, "4,sockets=4,cores=1,threads=1")):
            there = Path("x")
            self.assertIn(smp, command(["qemu"], machine, there, there, there, there, there))


class Counted(unittest.TestCase):
    def test_a_node_across_the_hole_below_4_gib_is_told_in_two_parts(self):
        mib = 1 << 20
        self.assertEqual(ranges(TWO_CPUS, (10, 0)), [
            (0, 0, 512 * mib), (1, 512 * mib, 512 * mib), (2, 1024 * mib, 1024 * mib), (2, 4096 * mib, 512 * mib),
            (3, 4608 * mib, 1536 * mib)])

    def test_older_qemu_tells_offset_plus_place(self):
        mib = 1 << 20
        self.assertEqual([start // mib for _, start, _ in ranges(TWO_CPUS, (7, 2))], [0, 1024, 2048, 5120])

    def test_more_memory_than_a_tag_tells_apart_is_refused(self):
        large = replace(TWO_CPUS, nodes=tuple(replace(node, memory=12 << 30) for node in TWO_CPUS.nodes))
        self.assertEqual(len(ranges(large, (10, 0))), 5)
        with self.assertRaisesRegex(UsageError, "48 GiB are more than can be counted; .* 64 GiB .* smaller"):
            ranges(large, (7, 2))  # where the fourth node begins at twice 36 GiB

    def test_a_cache_that_cannot_be_is_refused(self):
        sizes: Any
        for sizes in ({"l1": 3 << 10}, {"l1": 0}, {"l2": 64}, {"llc": 512}):
            with self.assertRaisesRegex(UsageError, next(iter(sizes))):
                Counting(**sizes)

    def test_what_cannot_take_turns_is_told_with_what_can(self):
        older, newer = Emulator((), (7, 2)), Emulator((), (10, 0))
        self.assertEqual((older.cannot_take_turns("6.12", True), newer.cannot_take_turns("6.1", False)), ("", ""))
        self.assertIn("use 6.12", older.cannot_take_turns("6.1", False))
        self.assertIn("clock=host", newer.cannot_take_turns("6.12", True))

    def test_an_unknown_qemu_is_refused(self):
        with self.assertRaisesRegex(UsageError, "system, backports"):
            emulator("newest")


if __name__ == "__main__":
    unittest.main()
