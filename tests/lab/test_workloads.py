# SPDX-License-Identifier: MIT
"""Workloads of the placement benchmark, as far as they can be tested without a guest."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/bench.d/placement")]

from workloads import WORKLOADS, Failed, base, gups, postgresql, two  # noqa: E402

SPEAKER = """#!/bin/sh
# Speaks the protocol of our loads.
trap 'echo "{\\"verb\\": \\"end\\", \\"ops\\": 12, \\"wrong_values\\": 0, \\"gap_p50_us\\": 1, \\"gap_p99_us\\": 2, \\"gap_max_us\\": 3}"; exit 0' TERM
echo '{"verb": "truth", "pid": 7, "hot": [[4096, 8192]]}'
echo '{"verb": "ready"}'
read go
echo '{"verb": "run", "ops": 5}'
echo '{"verb": "truth", "pid": 7, "hot": [[16384, 4096]]}'
echo '{"verb": "run",  "ops": 11}'
while :; do sleep 0.05; done
"""


class Follower(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.logs = mock.patch.object(base, "LOGS", Path(self.folder.name))
        self.logs.start()
        self.addCleanup(self.logs.stop)

    def program(self, text: str) -> base.Follower:
        file = Path(self.folder.name) / "speaker"
        file.write_text(text, encoding="ascii")
        file.chmod(0o755)
        program = base.Follower([file], min(os.sched_getaffinity(0)))
        self.addCleanup(program.kill)
        return program

    def test_nothing_is_done_before_it_may_go_and_all_is_counted_after(self):
        program = self.program(SPEAKER)
        program.wait("ready", 10)
        self.assertEqual((program.ops, len(program.truths)), (0, 1))
        program.go()
        base.wait_for(lambda: program.ops == 11, 10, "the last run line is counted")
        self.assertEqual([ops for _, ops in program.reports], [5, 11])
        self.assertEqual(program.truths[1][1], [(7, 16384, 4096)])
        self.assertEqual(program.stop(), {"ops": 12, "wrong_values": 0, "gap_p50_us": 1, "gap_p99_us": 2, "gap_max_us": 3})

    def test_a_program_that_dies_early_is_reported_with_its_last_words(self):
        program = self.program("#!/bin/sh\necho 'no memory left' >&2\nexit 3\n")
        with self.assertRaisesRegex(Failed, "speaker ended with 3 before \"ready\": no memory left"):
            program.wait("ready", 10)


class Gaps(unittest.TestCase):
    def test_quantiles_are_of_what_was_waited(self):
        found = base.quantiles([float(us) for us in range(101, 0, -1)])
        self.assertEqual(found, {"gap_p50_us": 51, "gap_p99_us": 100, "gap_max_us": 101})

    def test_a_transaction_counts_as_soon_as_pgbench_logs_it(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = postgresql.Transactions(Path(folder) / "log")
            client = subprocess.Popen(["sh", "-c", f"exec >{folder}/log.$$; echo 0 1 250 0 17 4; echo 1 1 750 2 17 5; exec cat"],
                                      stdin=subprocess.PIPE, preexec_fn=seen.attach)
            base.wait_for(lambda: len(seen.waited_us) == 2, 10, "both lines are read while the log is open")
            client.communicate()
            seen.close()
            self.assertEqual(seen.waited_us, [250.0, 750.0])

    def test_the_mix_of_transactions_is_whole(self):
        self.assertEqual(sum(weight for _, weight in postgresql.MIX), 100)


class Table(unittest.TestCase):
    def test_each_workload_says_what_the_runner_must_know(self):
        for name, kind in WORKLOADS.items():
            with self.subTest(name):
                self.assertEqual(kind.name, name)
                self.assertTrue(set(kind.page_sizes) <= {"4K", "THP"} and kind.page_sizes)
                # the one that fits leaves room in tier 1, the others want a third more than tier 1 has
                least, most = (0, base.TIER_1 * 5 // 6) if kind.fits else (base.TIER_1 * 4 // 3, 2 << 30)
                self.assertTrue(least <= kind.memory_bytes <= most)
                self.assertTrue(kind.programs or kind.packages)

    def test_what_cannot_be_run_is_refused_in_one_line(self):
        with self.assertRaisesRegex(Failed, "gups-read has no variant with pages of 1G; it has 4K, THP"):
            WORKLOADS["gups-read"](Path("/build"), "1G", False)
        with self.assertRaisesRegex(Failed, "gups-phases does not know its hot set, so it cannot place it"):
            WORKLOADS["gups-phases"](Path("/build"), "4K", True)

    def test_each_runs_with_huge_pages_as_debian_ships_them(self):
        self.assertEqual([name for name, kind in WORKLOADS.items() if "THP" not in kind.page_sizes], [])

    def test_twenty_levels_are_dealt_in_phases_of_a_third_of_the_window(self):
        load = gups.GupsPhases(Path("/build"), "THP", False)
        load.window_seconds = 30.0
        words = [str(word) for word in load.command()]
        for flag, value in (("--levels", "20"), ("--jump-every", "10000ms"), ("--pages", "thp")):
            self.assertEqual(words[words.index(flag) + 1], value)

    def test_a_program_on_both_sockets_is_charged_for_both(self):
        load = gups.GupsSockets(Path("/build"), "4K", False)
        words = [str(word) for word in load.command()]
        self.assertEqual(words[words.index("--cpus") + 1].split(","), [str(cpu) for cpu in load.application_cpus])
        self.assertEqual([kind.application_cpus for kind in WORKLOADS.values()].count((0,)), len(WORKLOADS) - 1)

    def test_forty_backends_differ_from_four_in_nothing_else(self):
        few, many = postgresql.Postgresql, postgresql.Postgresql40
        self.assertEqual((few.clients, many.clients), (4, 40))
        self.assertLess(many.clients, int(postgresql.SETTINGS["max_connections"]))
        self.assertEqual((few.shared_buffers, few._source(Path("/b"))), (many.shared_buffers, many._source(Path("/b"))))


class Two(unittest.TestCase):
    def test_operations_of_two_programs_are_added_at_the_times_of_the_first(self):
        first, second = [(1.0, 100), (2.0, 200), (3.0, 300)], [(1.5, 15), (2.5, 25), (3.5, 45)]
        self.assertEqual(two.together([first, second]), [(1.0, 110), (2.0, 220), (3.0, 335)])
        self.assertEqual(two.together([first, second[:1]]), [])

    def test_both_are_managed_the_hot_one_first(self):
        load = WORKLOADS["gups-two"](Path("/build"), "4K", False)
        made = []

        class Program:
            def __init__(self, words: list, cpu: int) -> None:
                made.append([str(word) for word in words])
                self.pid, self.ops = len(made), 5

            def wait(self, verb: str) -> None:
                assert verb == "truth"

        with mock.patch.object(two, "Follower", Program):
            load.prepare()
        self.assertIn("100%", made[0])                # who uses all alike was there first, and so has tier 1
        self.assertEqual((load.pids(), load.ops()), ([2, 1], 10))


if __name__ == "__main__":
    unittest.main()
