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

from workloads import WORKLOADS, Failed, base, postgresql  # noqa: E402

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
                least, most = (0, 400 << 20) if kind.fits else (1 << 30, 2 << 30)
                self.assertTrue(least <= kind.memory_bytes <= most)
                self.assertTrue(kind.programs or kind.packages)

    def test_what_cannot_be_run_is_refused_in_one_line(self):
        with self.assertRaisesRegex(Failed, "gups-read has no variant with pages of THP; it has 4K"):
            WORKLOADS["gups-read"](Path("/build"), "THP", False)


if __name__ == "__main__":
    unittest.main()
