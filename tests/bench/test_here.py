# SPDX-License-Identifier: MIT
"""tools/bench placement --here: what it makes of samples and counters, how large the loads are, and what it refuses."""
import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Dict, List
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import counters  # noqa: E402
import here  # noqa: E402
import main  # noqa: E402
from lab import LabError  # noqa: E402
from workloads import WORKLOADS  # noqa: E402

GIB = 1 << 30


def sample(seconds: float, cycles: float, moved: float = 0.0, service: float = 0.0) -> Dict[str, Any]:
    return {"seconds": seconds, "counters": {"cycles": cycles}, "moved_bytes": moved, "service_seconds": service}


class Figures(unittest.TestCase):
    def test_time_and_counters_for_an_operation_whole_and_settled(self):
        samples = [sample(0.0, 0.0), sample(4.0, 4e9), sample(6.0, 5e9, 1.0, 1.0), sample(8.0, 5.5e9, 4096.0, 2.0)]
        found = here.figures(samples, [(1.0, 10_000), (6.0, 60_000), (8.0, 100_000)], 8.0)
        self.assertAlmostEqual(found["ns_per_operation"], 8e9 / 100_000)
        self.assertAlmostEqual(found["settled_ns_per_operation"], 2e9 / 40_000)
        self.assertAlmostEqual(found["counters_per_operation"]["cycles"], 0.5e9 / 40_000)
        self.assertEqual((found["moved_bytes"], found["service_percent_of_a_cpu"]), (4096.0, 25.0))

    def test_a_load_that_counted_nothing_is_refused(self):
        cases: List[Any] = [[], [(1.0, 5)], [(1.0, 5), (2.0, 5)]]
        for reports in cases:
            with self.assertRaisesRegex(LabError, "longer --window"):
                here.figures([sample(0.0, 0.0), sample(4.0, 4e9)], reports, 4.0)

    def test_a_counter_that_shared_the_hardware_is_scaled(self):
        self.assertEqual([counters.scaled(*given) for given in ((100, 10, 10), (100, 10, 5), (0, 10, 0))], [100, 200, 0])

    def test_runs_of_one_turn_are_compared(self):
        def run(system: str, repeat: int, ns: float) -> Dict[str, Any]:
            return {"workload": "w", "page_size": "THP", "system": system, "repeat": repeat, "ns_per_operation": ns, "settled_ns_per_operation": ns,
                    "counters_per_operation": {"cycles": ns}, "moved_bytes": 0.0, "service_percent_of_a_cpu": 1.0}
        rows = here.rows([run("first-touch", 1, 100.0), run("hm-keeper", 1, 50.0), run("hm-keeper", 2, 70.0), run("first-touch", 2, 90.0)])
        beside = rows[1]["beside_first_touch"]
        self.assertEqual((beside["pairs"], beside["less"], beside["ratio"]), (2, 2, 60 / 95))
        self.assertEqual((rows[0]["settled_ns_per_operation"], rows[0]["settled_ns_per_operation_range"]), (95.0, [90.0, 100.0]))
        self.assertIsNone(rows[0]["beside_first_touch"])
        told = here.text(rows)
        self.assertIn("cycles/op", told)
        self.assertIn("60.0 (50.0–70.0)", told)

    def test_without_counters_the_rest_is_shown(self):
        row = {"workload": "w", "page_size": "4K", "system": "first-touch", "repeat": 1, "ns_per_operation": 1.0, "settled_ns_per_operation": 1.0,
               "counters_per_operation": {}, "moved_bytes": 0.0, "service_percent_of_a_cpu": 0.0}
        self.assertNotIn("cycles", here.text(here.rows([row])))


class Counters(unittest.TestCase):
    def test_what_opens_counts_and_what_does_not_says_why(self):
        with mock.patch.dict(counters.EVENTS, {"task clock": (1, 1), "nothing": (99, 0)}, clear=True):  # software; no such kind
            own = counters.Counters(0)
            first = own.read()
            self.assertEqual(list(own.missing), ["nothing"])
            self.assertTrue(own.missing["nothing"])
            limit = 10 ** 6
            while own.read()["task clock"] == first["task clock"] and limit:
                limit -= 1
            self.assertGreater(own.read()["task clock"], first["task clock"])
            own.close()
            self.assertEqual(own.read(), {})


class Sizes(unittest.TestCase):
    KIND = WORKLOADS["gups-stable"]

    def test_as_much_larger_as_there_is_more_room_in_whole_numbers(self):
        self.assertEqual(here.factor(self.KIND, [8 * GIB, 64 * GIB], 0), 17)
        self.assertEqual(here.factor(self.KIND, [GIB // 4, 64 * GIB], 0), 1)
        load = here.made("gups-phases", Path("/b"), "THP", 17, 60.0)
        words = [str(word) for word in load.command()]
        self.assertEqual(words[words.index("--size") + 1], f"{17 * 1280}MiB")

    def test_what_would_fit_into_the_fast_node_is_refused_with_a_remedy(self):
        with self.assertRaisesRegex(LabError, "leave at most 12000 MiB free there, for instance by .*node0/hugepages"):
            here.factor(self.KIND, [200 * GIB, 500 * GIB], 0)

    def test_what_has_no_room_is_refused(self):
        with self.assertRaisesRegex(LabError, "needs 2560 MiB, all nodes have 1536 MiB free"):
            here.factor(self.KIND, [GIB, GIB // 2], 0)


class Refusals(unittest.TestCase):
    def test_one_node_two_nodes(self):
        self.assertRegex(here.why_not(1) or "", "^this machine has one memory node[^\n]*$")
        self.assertIsNone(here.why_not(2))

    def test_what_hmkd_lacks_is_told_with_its_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            there, gone = Path(folder), Path(folder) / "none"
            for device, control, user, told in ((gone, gone, 0, "insmod"), (there, gone, 1, "as root"), (there, there, 0, "another hmkd")):
                with mock.patch.object(here, "DEVICE", device), mock.patch.object(here.hmkd, "CONTROL", str(control)), \
                        mock.patch.object(here.os, "geteuid", lambda user=user: user):
                    self.assertIn(told, here.left_out() or "")
            with mock.patch.object(here, "DEVICE", there), mock.patch.object(here.hmkd, "CONTROL", str(gone)), \
                    mock.patch.object(here.os, "geteuid", lambda: 0):
                self.assertIsNone(here.left_out())

    def test_a_machine_of_one_node_ends_in_one_line(self):
        said = io.StringIO()
        with mock.patch.object(here, "memory_by_node", lambda _: [GIB]), mock.patch.object(sys, "argv", ["main.py", "--here"]), \
                contextlib.redirect_stderr(said):
            self.assertEqual(main.main(), 1)
        self.assertRegex(said.getvalue(), r"^bench: this machine has one memory node[^\n]*\n$")

    def test_what_is_of_guests_is_refused(self):
        cases: List[Any] = [(["--gate"], "--here --gate"), (["--density", "2"], "--here --density"), (["--workload", "redis-zipf"], "lab's guest"),
                            (["--workload", "x"], "--workload x"), (["--repeat", "0"], "--repeat")]
        for words, told in cases:
            said = io.StringIO()
            with mock.patch.object(sys, "argv", ["main.py", "--here", *words]), contextlib.redirect_stderr(said):
                self.assertEqual(main.main(), 2, words)
            self.assertIn(told, said.getvalue())
            self.assertEqual(said.getvalue().count("\n"), 1)


class Measured(unittest.TestCase):
    """A load that speaks the protocol, measured for half a second."""

    LOAD = """#!/bin/sh
trap 'echo "{\\"verb\\": \\"end\\", \\"ops\\": $ops, \\"wrong_values\\": WRONG, \\"gap_p50_us\\": 1, \\"gap_p99_us\\": 1, \\"gap_max_us\\": 1}"; exit 0' TERM
ops=0
echo '{"verb": "truth", "pid": 7, "hot": []}'
read go
while :; do ops=$((ops + 100)); echo "{\\"verb\\": \\"run\\", \\"ops\\": $ops}"; sleep 0.02; done
"""

    def measured(self, wrong: int = 0) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "load"
            script.write_text(self.LOAD.replace("WRONG", str(wrong)), encoding="ascii")
            script.chmod(0o755)
            self.load = here.made("gups-stable", Path(folder), "4K", 1, 0.5)
            with mock.patch.object(here.base, "LOGS", Path(folder)), mock.patch.object(self.load, "command", lambda: [script]), \
                    mock.patch.object(here.base, "APPLICATION_CPU", min(os.sched_getaffinity(0))):
                return here.measure(self.load, Path(folder), {}, 0.5)

    def test_its_own_count_over_the_machines_time(self):
        own, _ = self.measured()
        self.assertTrue(1e9 * 0.01 / 100 < own["ns_per_operation"] < 1e9 * 1 / 100, own)  # 100 in 20 ms or more
        self.assertEqual((own["moved_bytes"], own["service_percent_of_a_cpu"]), (0.0, 0.0))

    def test_wrong_values_are_worth_nothing(self):
        with self.assertRaisesRegex(LabError, "gups-stable: values were wrong"):
            self.measured(wrong=1)

    def test_what_fails_leaves_no_load_behind(self):
        with mock.patch.object(here.Service, "seen", side_effect=here.waiting.Failed("hmkd ended")), self.assertRaises(here.waiting.Failed):
            self.measured()
        self.assertFalse(Path(f"/proc/{self.load.program.pid}").exists())


class Turns(unittest.TestCase):
    def test_systems_take_turns_at_being_first(self):
        self.assertEqual(list(here.in_turns(2, ["a", "b"])), [(1, "a"), (1, "b"), (2, "b"), (2, "a")])

if __name__ == "__main__":
    unittest.main()
