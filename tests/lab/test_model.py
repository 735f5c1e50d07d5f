# SPDX-License-Identifier: MIT
"""Every price of the model against an example worked out by hand, within 2 %."""
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab.loaded import DEFAULT_CURVE  # noqa: E402
from lab.machine import Access, load_machine  # noqa: E402
from lab.model import Window, Work, instructions_by_role, latency_ns, misses_by_role  # noqa: E402
from lab.outcome import Mark  # noqa: E402
from lab.prices import HUGE, SMALL, move_seconds, streamed_ns, written_back_ns  # noqa: E402

# CPU 0 is on node 0, CPUs 1 to 3 are on node 1. From node 0: 90, 145, 275, 340 ns and 95, 35, 35, 1 GB/s.
MACHINE = load_machine(ROOT / "configs/lab/bench-four-tier.yaml", 64 << 30)
NONE = [0, 0, 0, 0]
MILLION = 1_000_000


def half(read: List[int] = NONE, write: List[int] = NONE, instructions: int = 0, **more: List[int]) -> Dict[str, Any]:
    """What a vCPU did in one mode: of format 1, or of format 2 where a list of it is given."""
    priced = {"streamed": NONE, "written_back": NONE, "walks": [0, 0], "walk_lines": [0, 0, 0], **more} if more else {}
    return {"read": read, "write": write, "llc_hits": 0, "accesses": 0, "instructions": instructions, **priced}


def mark(*vcpus: Any) -> Mark:
    """A mark of `vcpus`, each its user half or a pair of halves: user, kernel."""
    pairs = [vcpu if isinstance(vcpu, tuple) else (vcpu, half(streamed=NONE)) for vcpu in vcpus]
    rows = [{"cpu": cpu, "user": user, "kernel": kernel} for cpu, (user, kernel) in enumerate(pairs)]
    return Mark(1, 0, {"nodes": 4, "vcpus": rows})


class Case(unittest.TestCase):
    def near(self, value: float, by_hand: float) -> None:
        self.assertAlmostEqual(value / by_hand, 1.0, delta=0.02)


class Latency(unittest.TestCase):
    def test_it_is_the_mean_over_misses(self):
        self.assertEqual(latency_ns(mark(half([3, 0, 0, 1])), MACHINE, 0), 152.5)  # (3 * 90 + 340) / 4
        self.assertEqual(latency_ns(mark(half()), MACHINE, 0), 0.0)

    def test_it_is_that_of_the_cpus_own_node_and_of_the_modes_asked_for(self):
        far = half([1000, 0, 0, 0])
        self.assertEqual(latency_ns(mark(far), MACHINE, 0), 90)
        self.assertEqual(latency_ns(mark(half(), far), MACHINE, 1), 145)
        both = mark((far, half([0, 0, 1000, 0])))
        self.assertEqual(latency_ns(both, MACHINE, 0, ("user", "kernel")), 182.5)


class Parts(Case):
    """Each part of a vCPU's time alone, where hardly any bandwidth is used."""

    def test_instructions(self):
        work = Window(mark((half(instructions=3 * MILLION), half(instructions=MILLION))), MACHINE).work(0)
        self.near(work.instructions, 1.32e-3)  # 4e6 * 0.33 ns
        self.assertEqual(work.seconds, work.instructions)

    def test_random_misses_overlap_by_the_mlp(self):
        seen = mark(half([MILLION, 0, 0, 0], [0, 0, 100_000, 0]))
        self.near(Window(seen, MACHINE, mlp=1).work(0).random, 0.1175)  # 1e6 * 90 ns + 1e5 * 275 ns
        self.near(Window(seen, MACHINE, mlp=4).work(0).random, 0.1175 / 4)
        self.near(Window(seen, MACHINE).work(0).random, 0.1175 / 2)     # the machine's own

    def test_streamed_lines_wait_for_none_but_the_cpu_draws_no_more_than_20_at_a_time(self):
        self.near(streamed_ns(Access(90, 95000, 90)), 4.5)   # 90 / 20, and 64 B take 0.67 ns
        self.near(streamed_ns(Access(340, 1000, 340)), 64)   # 64 B at 1 GB/s, and 340 / 20 is 17
        work = Window(mark(half([0, 0, MILLION, 0], streamed=[0, 0, MILLION, 0])), MACHINE).work(0)
        # 13.75 ns idle; 64 B in 14.26 ns are 4.49 GB/s of 35, 13 %: 1 + 0.2 * 0.128 = 1.026 times that
        self.near(work.streamed, 14.1e-3)
        self.assertEqual(work.random, 0.0)

    def test_what_is_streamed_is_not_random_too(self):
        work = Window(mark(half([1000, 0, 0, 0], [1000, 0, 0, 0], streamed=[1500, 0, 0, 0])), MACHINE, mlp=1).work(0)
        self.near(work.random, 500 * 90e-9)
        self.near(work.streamed, 1500 * 4.6e-9)

    def test_walks(self):
        seen = mark(half(walks=[1000, 100], walk_lines=[1500, 400, 200]))
        by_hand = (1100 * 7 + 400 * 15 + 200 * 90) * 1e-9  # tables are on the CPU's own node
        self.near(Window(seen, MACHINE, mlp=1).work(0).walks, by_hand)
        self.near(Window(seen, MACHINE, mlp=2).work(0).walks, by_hand / 2)
        self.near(Window(seen, MACHINE, mlp=10).work(0).walks, by_hand / 2)  # there are two walkers
        for lines, ns in (([1000, 0, 0], 7), ([0, 1000, 0], 7 + 15), ([0, 0, 1000], 7 + 90)):
            self.near(Window(mark(half(walks=[0, 1000], walk_lines=lines)), MACHINE, mlp=1).work(0).walks, ns * 1e-6)

    def test_write_backs(self):
        self.near(written_back_ns(Access(90, 95000, 400)), 20)   # 400 / 20
        self.near(written_back_ns(Access(90, 100, 400)), 640)    # 64 B at 100 MB/s
        work = Window(mark(half(instructions=10 ** 9, written_back=[0, 0, 1000, 0])), MACHINE).work(0)
        self.near(work.write_backs, 1000 * 13.75e-9)

    def test_the_whole_is_the_sum_of_its_parts(self):
        work = Window(mark(half([2000, 0, 0, 0], NONE, 10 ** 6, streamed=[1000, 0, 0, 0], written_back=[500, 0, 0, 0],
                                walks=[100, 0], walk_lines=[200, 0, 0])), MACHINE, mlp=1).work(0)
        self.near(work.seconds, (330_000 + 1000 * 90 + 1000 * 4.5 + 500 * 4.5 + 100 * 7) * 1e-9)

    def test_a_mark_of_format_1_is_all_random(self):
        work = Window(mark((half([1000, 0, 0, 0], [1000, 0, 0, 0]), half())), MACHINE, mlp=1).work(0)
        self.near(work.seconds, 2000 * 90e-9)
        self.assertEqual((work.streamed, work.walks, work.write_backs), (0.0, 0.0, 0.0))


class Load(Case):
    """Latency grows with the traffic, and the traffic slows down with the latency."""

    def test_the_curve(self):
        for load, factor in ((0, 1), (0.25, 1.05), (0.5, 1.1), (0.625, 1.275), (0.75, 1.45), (0.9, 2), (1, 2.5)):
            self.assertAlmostEqual(DEFAULT_CURVE.factor(load), factor)
        self.assertGreater(DEFAULT_CURVE.factor(1.01), 25)

    def test_three_cpus_on_a_narrow_link_slow_each_other_down(self):
        # From node 1 to node 2: 340 ns, 1 GB/s. 64 B in 340 / 2 ns are 376 MB/s, of three 1.129 GB/s. With the factor f
        # the load is 1.129 / f; on the line from (0.75, 1.45) to (0.9, 2.0) that is f = 1.486 at a load of 0.76.
        each = half([0, 0, MILLION, 0], streamed=NONE)
        window = Window(mark(half(), each, each, each), MACHINE, mlp=2)
        self.near(window.load(1, 2), 0.76)
        self.near(window.work(2).random, MILLION * 170e-9 * 1.486)
        self.near(window.seconds, 0.2526)

    def test_write_backs_slow_down_with_the_load(self):
        # From node 0 to node 1: 145 / 20 = 7.25 ns a line, 35 GB/s. With the factor f = 1 + 0.2 * load a line takes
        # t = 7.25 * f and the load is 64 / 35 / t = 1.829 / t: t = 7.6 ns at a load of 0.24.
        window = Window(mark(half(written_back=[0, MILLION, 0, 0])), MACHINE)
        self.near(window.load(0, 1), 0.24)
        self.near(window.work(0).write_backs, 7.6e-3)

    def test_walks_wait_for_page_tables_as_the_node_is_loaded(self):
        # Three CPUs of node 1 stream from node 0: 145 / 20 ns a line over 35 GB/s. On the line from (0.5, 1.1) to (0.75, 1.45)
        # that is 9.05 ns a line at a load of 0.606 of their link; of the 95 GB/s of the node it is 0.223, a factor of 1.0447.
        each = half([MILLION, 0, 0, 0], streamed=[MILLION, 0, 0, 0])
        window = Window(mark(half(walks=[0, 1000], walk_lines=[0, 0, 1000]), each, each, each), MACHINE, mlp=1)
        self.near(window.load(1, 0), 0.606)
        self.near(window.load(0, 0), 0.223)
        self.near(window.work(0).walks, 1000 * (7 + 90 * 1.0447) * 1e-9)

    def test_a_full_link_takes_as_long_as_its_bytes(self):
        each = half([0, 0, MILLION, 0], streamed=[0, 0, MILLION, 0])
        window = Window(mark(half(), each, each, each), MACHINE)
        self.near(window.load(1, 2), 1.0)
        self.near(window.seconds, 0.192)  # 3e6 * 64 B at 1 GB/s
        self.near(window.work(1).seconds, 0.192)

    def test_both_sockets_share_the_node_itself(self):
        # 4e6 lines = 256 MB of node 0, from both sockets at once. It has 95 GB/s whoever asks.
        each = half([4 * MILLION, 0, 0, 0], streamed=[4 * MILLION, 0, 0, 0])
        alone, shared = Window(mark(each), MACHINE), Window(mark(each, each), MACHINE)
        self.near(alone.load(0, 0), 0.256 / 95 / alone.seconds)
        self.near(shared.load(0, 0), 0.512 / 95 / shared.seconds)
        self.near(shared.load(1, 0), 0.256 / 35 / shared.seconds)  # its own link is fuller than the node

    def test_write_backs_and_walks_are_traffic_too(self):
        busy = half(instructions=10 ** 9, written_back=[0, 0, 0, MILLION], walks=[MILLION, 0], walk_lines=[0, 0, MILLION])
        window = Window(mark(busy), MACHINE)
        self.near(window.load(0, 3), 0.064 / window.seconds)
        self.near(window.load(0, 0), 0.064 / 95 / window.seconds)

    def test_the_window_is_as_long_as_its_busiest_cpu(self):
        window = Window(mark(half(instructions=MILLION), half(instructions=5 * MILLION), half(), half()), MACHINE)
        self.near(window.seconds, 1.65e-3)
        self.near(window.work(0).seconds, 0.33e-3)

    def test_nothing_takes_no_time(self):
        window = Window(mark(half()), MACHINE)
        self.assertEqual((window.seconds, window.work(0).seconds, window.load(0, 0)), (0.0, 0.0, 0.0))


class OwnPrices(Case):
    """What a machine file gives of its own stands in for what is taken otherwise."""

    FILE = """
name: own
mlp: 4
nodes:
  - {id: 0, memory: 128MiB, cpus: [0], load: {100%: 300%}, access: {0: {latency: 100ns, bandwidth: 10GB/s, write-latency: 400ns}}}
"""

    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "own.yaml"
            file.write_text(self.FILE, encoding="utf-8")
            self.machine = load_machine(file, 64 << 30)

    def work(self, counted: Dict[str, Any]) -> Work:
        row = {"cpu": 0, "user": counted, "kernel": half(streamed=[0])}
        return Window(Mark(1, 0, {"nodes": 1, "vcpus": [row]}), self.machine).work(0)

    def test_mlp(self):
        self.near(self.work(half([1000], [0], 10 ** 8, streamed=[0], written_back=[0])).random, 1000 * 100e-9 / 4)

    def test_write_latency(self):
        self.near(self.work(half([0], [0], 10 ** 8, streamed=[0], written_back=[1000])).write_backs, 1000 * 20e-9)  # 400 / 20

    def test_load(self):
        # 100 / 4 ns a line, t = 25 * (1 + 2 * load), load = 6.4 / t: t = 34.4 ns at 0.186
        self.near(self.work(half([MILLION], [0], streamed=[0], written_back=[0])).random, 34.4e-3)


class Moves(Case):
    WIDE = 95000.0

    def test_a_folio_costs_itself_its_entries_and_its_bytes(self):
        # 521.5 and 257.4 ns an entry; 4096 B, 65536 B and 2 MiB at 10.924 GB/s
        for folio, us in ((SMALL, 1.154), (64 << 10, 10.639), (HUGE, 192.76)):
            self.near(move_seconds(3 * folio, folio, self.WIDE), 3e-6 * us)

    def test_published_rates_come_out(self):
        for folio, gb_per_s in ((SMALL, 3.55), (64 << 10, 6.16), (HUGE, 10.88)):
            self.near(1e-9 * (1 << 30) / move_seconds(1 << 30, folio, self.WIDE), gb_per_s)

    def test_a_narrow_link_takes_as_long_as_its_bytes(self):
        self.near(move_seconds(HUGE, HUGE, 1000), 2.098e-3)  # 2 MiB at 1 GB/s and 779 ns

    def test_each_shootdown_is_paid_for_each_cpu(self):
        without = move_seconds(SMALL, SMALL, self.WIDE)
        self.near(move_seconds(SMALL, SMALL, self.WIDE, shootdowns=3, cpus=4) - without, 6e-6)  # 12 * 500 ns


class Roles(unittest.TestCase):
    def test_each_cpu_and_mode_has_one_role_and_none_is_lost(self):
        rows = [(half([cpu] * 4, NONE, 10 ** (2 * cpu)), half([10 * cpu] * 4, NONE, 2 * 10 ** (2 * cpu)))
                for cpu in range(4)]
        self.assertEqual(instructions_by_role(mark(*rows)), {
            "application": 1, "kernel for the application": 2, "clients and the rest": 300, "hmk": 30000,
            "kernel tierers": 3000000})
        self.assertEqual(misses_by_role(mark(*rows))["hmk"], 88)


if __name__ == "__main__":
    unittest.main()
