# SPDX-License-Identifier: MIT
"""tools/test itself: what is counted, in which order tasks run, who is run again, and what the exit status says."""
import contextlib
import io
import sys
import tempfile
import threading
import unittest
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Iterator, List, Tuple
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d")]

from lab.outcome import FAIL, Outcome  # noqa: E402
from lab.splat import NO_DEFECT  # noqa: E402
from suite import gtest, python_tests, userspace  # noqa: E402
from suite.case import FAILED, PASSED, SKIPPED, Report, Result  # noqa: E402
from suite.e2e import is_grave  # noqa: E402
from suite.schedule import Schedule, Task  # noqa: E402


def report_of(*results: Result) -> Report:
    report = Report()
    for result in results:
        report.add(result)
    return report


def closed(report: Report) -> Tuple[int, List[str]]:
    """Exit status and the lines close() prints."""
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = report.close()
    return status, said.getvalue().splitlines()


class Quiet(unittest.TestCase):
    """What reports print belongs to the run that is tested."""

    def setUp(self) -> None:
        quiet = contextlib.redirect_stdout(io.StringIO())
        self.said = quiet.__enter__()
        self.addCleanup(quiet.__exit__, None, None, None)


class Counts(Quiet):
    def test_the_last_line_counts_and_one_failure_is_enough_for_1(self):
        status, lines = closed(report_of(Result("a", PASSED), Result("b", FAILED), Result("c", SKIPPED)))
        self.assertEqual((status, lines[-2:]), (1, ["failed: b", "1 passed, 1 failed, 1 skipped"]))

    def test_nothing_passed_is_no_success(self):
        self.assertEqual(closed(report_of(Result("c", SKIPPED)))[0], 1)
        self.assertEqual(closed(report_of())[0], 1)
        self.assertEqual(closed(report_of(Result("a", PASSED), Result("c", SKIPPED)))[0], 0)

    def test_a_failure_shows_its_detail_a_pass_does_not(self):
        report_of(Result("a", PASSED, detail=("unseen",)), Result("b", FAILED, detail=("seen",)))
        self.assertIn("| seen", self.said.getvalue())
        self.assertNotIn("unseen", self.said.getvalue())

    def test_what_is_left_out_is_told_by_reason_with_its_number(self):
        report = report_of(Result("a", PASSED))
        report.left_out("for the night", [f"t{n}" for n in range(9)])
        report.left_out("for nobody", [])
        self.assertEqual([line for line in closed(report)[1] if line.startswith("not run")],
                         ["not run: 9 for the night: t0, t1, t2, t3, t4, t5 and 3 more"])

    def test_what_was_kept_counts_as_passed_and_is_told(self):
        report = Report()
        report.keep(3)
        status, lines = closed(report)
        self.assertEqual((status, lines[-1]), (0, "3 passed, 0 failed, 0 skipped"))
        self.assertTrue(lines[-2].startswith("3 of the passed were not run"))


class Again(Quiet):
    """Guests that failed beside others."""

    def ran(self, *alone: str, beside: int = 1) -> Report:
        """So many tests fail, and alone end as told; `beside` others pass."""
        def once_more(outcome: str, name: str) -> Result:
            return Result(name, outcome, reason="late again" if outcome == FAILED else "")
        report = Report()
        tasks = [Task(f"t{n}", partial(Result, f"t{n}", FAILED, reason="late"), alone=partial(once_more, outcome))
                 for n, outcome in enumerate(alone)]
        tasks += [Task(f"o{n}", partial(Result, f"o{n}", PASSED)) for n in range(beside)]
        Schedule(tasks, report).run(2)
        return report

    def test_one_that_passes_alone_passes_and_is_named(self):
        status, lines = closed(self.ran(PASSED))
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertIn("flaky: t0: failed beside others, passed alone", lines)
        self.assertIn("flaky: failed beside others: late; alone it passed", self.said.getvalue())

    def test_one_that_fails_alone_fails_with_both_reasons(self):
        status, lines = closed(self.ran(FAILED))
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("late again; beside others: late", self.said.getvalue())

    def test_one_that_lost_data_fails_whatever_comes_out_alone(self):
        report = Report()
        lost = partial(Result, "t", FAILED, reason="lost", grave=True)
        Schedule([Task("t", lost, alone=lambda name: Result(name, PASSED)), Task("o", partial(Result, "o", PASSED))], report).run(2)
        status, lines = closed(report)
        self.assertEqual((status, lines[-1], report.flaky), (1, "1 passed, 1 failed, 0 skipped", []))
        self.assertIn("lost; alone it passed, which excuses nothing", self.said.getvalue())

    def test_what_is_lost_leaked_or_broken_is_grave_and_what_is_late_is_not(self):
        def failed(output: List[str], dmesg: List[str]) -> Outcome:
            return Outcome(FAIL, output=output, dmesg=dmesg)
        grave = [failed(["LOST: every word is right"], []), failed(["race: LOST: page 7 holds 0x1", "NOT OK: x"], []), failed(["NOT OK: LOST: every page has its content"], []),
                 failed(["DEFECT: pages more than before: slab 900"], []), failed([], ["[ 1.0] BUG: KASAN: use-after-free in x"])]
        late = [failed(["NOT OK: it is found within 8 intervals", "nothing is LOST: ok"], []), failed([], []),
                failed([], ["[ 1.0] rcu: INFO: rcu_preempt detected stalls on CPUs", "[ 1.1] Call Trace:"]),
                failed([], ["[ 1.0] Oops: int3: 0000 [#1] PREEMPT", "[ 1.1] Call Trace:"])]
        self.assertEqual([is_grave(outcome) for outcome in (*grave, *late)], [True] * 5 + [False] * 4)

    def test_what_qemu_breaks_alone_is_run_again_three_times_at_most(self):
        def ran(*alone: Result) -> Tuple[int, List[str]]:
            left = list(alone)
            report = Report()
            tasks = [Task("t", partial(Result, "t", FAILED, reason="late"), alone=lambda name: left.pop(0)), Task("o", partial(Result, "o", PASSED))]
            Schedule(tasks, report).run(2)
            return closed(report)[0], [result.outcome for result in left]
        broken = Result("t", FAILED, reason=f"kernel log: EFLAGS: 01bc8002 (no CPU has such flags; {NO_DEFECT}): NOT OK: taint 0x200 is new")
        passed = Result("t", PASSED)
        self.assertEqual(ran(broken, passed, passed), (0, [PASSED]))
        self.assertEqual(ran(broken, broken, passed), (0, []))
        self.assertEqual(ran(broken, broken, broken, passed), (1, [PASSED]))
        self.assertEqual(ran(Result("t", FAILED, reason="late again"), passed), (1, [PASSED]), "of the test itself")
        self.assertEqual(ran(replace(broken, grave=True), passed), (1, [PASSED]), "what is lost is never excused")

    def test_two_may_be_flaky_and_three_fail_the_run(self):
        self.assertEqual(closed(self.ran(PASSED, PASSED))[0], 0)
        status, lines = closed(self.ran(PASSED, PASSED, PASSED))
        self.assertEqual(status, 1)
        self.assertIn("failed: 3 tests are flaky, 2 may be", lines)

    def test_one_that_had_nothing_beside_it_is_not_repeated(self):
        self.assertEqual(closed(self.ran(PASSED, beside=0))[0], 1)

    def test_repeats_have_nothing_beside_them(self):
        running, most = [], []

        def alone(name: str) -> Result:
            running.append(name)
            most.append(len(running))
            running.remove(name)
            return Result(name, PASSED)
        tasks = [Task(f"t{n}", partial(Result, f"t{n}", FAILED), alone=alone) for n in range(2)]
        Schedule(tasks, Report()).run(2)
        self.assertEqual(most, [1, 1])

    def test_only_the_failed_test_of_a_shared_guest_is_repeated(self):
        repeated: List[str] = []

        def alone(name: str) -> Result:
            repeated.append(name)
            return Result(name, PASSED)
        shared = Task("guest", lambda: [Result("a", PASSED), Result("b", FAILED), Result("c", PASSED)], alone=alone)
        report = Report()
        Schedule([shared, Task("o", lambda: Result("o", PASSED))], report).run(2)
        self.assertEqual((repeated, report.counts[PASSED], report.flaky), (["b"], 4, ["b"]))


class Order(Quiet):
    def order(self, *tasks: Task) -> List[str]:
        ran: List[str] = []
        Schedule(tasks, Report(), lambda task, results: ran.append(task.name)).run(1)
        return ran

    @staticmethod
    def task(name: str, seconds: float = 0, rank: int = 0, after: Tuple[str, ...] = (), outcome: str = PASSED) -> Task:
        return Task(name, lambda: Result(name, outcome), frozenset(after), seconds, rank)

    def test_rank_then_the_longest(self):
        task = self.task
        self.assertEqual(self.order(task("s", 1), task("l", 9), task("b", 5, rank=3)), ["b", "l", "s"])

    def test_a_longer_one_that_has_to_wait_lets_others_go_first(self):
        task = self.task
        self.assertEqual(self.order(task("guest", 99, after=("build",)), task("build", 5), task("free", 9)), ["free", "build", "guest"])

    def test_what_needs_a_failed_build_fails_without_being_run(self):
        report, ran = Report(), mock.Mock(return_value=Result("guest", PASSED))
        Schedule([Task("guest", ran, frozenset({"build"})), self.task("build", outcome=FAILED)], report).run(2)
        self.assertEqual((ran.called, report.failed), (False, ["build", "guest"]))

    def test_an_uncounted_build_is_told_only_when_it_fails(self):
        for outcome, counts in ((PASSED, 0), (FAILED, 1)):
            report = Report()
            Schedule([Task("build", partial(Result, "build", outcome), counted=False)], report).run(1)
            self.assertEqual(sum(report.counts.values()), counts)

    def test_an_exception_is_the_failure_of_its_test_only(self):
        def wrong() -> Result:
            raise OSError("no such file")
        report = Report()
        Schedule([Task("wrong", wrong), self.task("right")], report).run(2)
        self.assertEqual((report.failed, report.counts[PASSED]), (["wrong"], 1))

    def test_what_came_before_the_exception_counts(self):
        def breaks() -> Iterator[Result]:
            yield Result("first", PASSED)
            raise OSError("gone")
        report = Report()
        Schedule([Task("guest", breaks)], report).run(1)
        self.assertEqual((report.counts[PASSED], report.failed), (1, ["guest"]))

    def test_two_lanes_run_two_at_a_time(self):
        meet = threading.Barrier(2, timeout=30)

        def meeting(name: str) -> Result:
            meet.wait()
            return Result(name, PASSED)
        report = Report()
        Schedule([Task(name, partial(meeting, name)) for name in "ab"], report).run(2)
        self.assertEqual(report.counts[PASSED], 2)


class PythonTests(unittest.TestCase):
    """Methods of unittest, run in a process for each file."""

    TEXT = ('import os, unittest\nclass T(unittest.TestCase):\n'
            '    def setUp(self):\n        self.folder = object()  # a name of its own must not rename it\n'
            '    def test_a(self): pass\n    def test_b(self): self.fail("no")\n    def test_c(self): self.skipTest("why")\n'
            '    def test_d(self): raise SystemExit(0)\n    def test_e(self): os._exit(3)\n    def test_f(self): pass\n')

    def test_each_method_has_its_own_result_whatever_it_does(self):
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "lab/test_made_up.py"
            file.parent.mkdir()
            file.write_text(self.TEXT, encoding="utf-8")
            tests = [python_tests.PythonTest(file, f"test_made_up.T.test_{letter}") for letter in "abcdef"]
            results = python_tests.run(file, tests)
        self.assertEqual([result.name for result in results], [f"lab/T.test_{letter}" for letter in "abcdef"])
        self.assertEqual([result.outcome for result in results], [PASSED, FAILED, SKIPPED, FAILED, FAILED, FAILED])
        self.assertEqual(results[2].reason, "why")
        self.assertIn("ended with 3", results[4].reason)


class GoogleTests(unittest.TestCase):
    """Cases of a GoogleTest program, run in as few processes as there can be."""

    #: As GoogleTest prints; how many processes began is kept in $BEGAN.
    PROGRAM = """#!/usr/bin/python3 -B
import os, sys, time
open(os.environ["BEGAN"], "a").write("x")
wanted = sys.argv[2].split("=", 1)[1].split(":")
for name in [name for name in ("T.Passes", "T.Fails/0", "T.Skips", "T.Dies", "T.Hangs", "T.Leaves", "T.Last", "T.Leaks") if name in wanted]:
    print(f"[ RUN      ] {name}", flush=True)
    if name == "T.Fails/0":
        print(f"why\\n[  FAILED  ] {name}, where GetParam() = 8 (12 ms)")
    elif name == "T.Skips":
        print("no such thing here\\n[  SKIPPED ] T.Skips (0 ms)")
    elif name == "T.Dies":
        print("ERROR: AddressSanitizer", flush=True); os._exit(1)
    elif name == "T.Hangs":
        if os.fork():
            os._exit(0)  # its child holds the output open
        time.sleep(60)
    elif name == "T.Leaves":
        sys.exit(0)
    else:
        print(f"no newline[       OK ] {name} (1500 ms)")
if "T.Leaks" in wanted:
    print("ERROR: LeakSanitizer", flush=True); os._exit(23)
"""

    def ran(self, *cases: str, limit: float = 60.0) -> Tuple[List[Result], int]:
        """Their results, and how many processes it took."""
        with tempfile.TemporaryDirectory() as scratch:
            program, began = Path(scratch) / "some_tests", Path(scratch) / "began"
            program.write_text(self.PROGRAM, encoding="utf-8")
            program.chmod(0o755)
            results = list(gtest.Program(program, Path(scratch), {"BEGAN": str(began)}, limit).run(
                {case: f"asan/{case}" for case in cases}, "asan"))
            return results, len(began.read_text(encoding="utf-8"))

    def test_all_that_end_well_share_a_process(self):
        results, processes = self.ran("T.Passes", "T.Fails/0", "T.Skips", "T.Last")
        self.assertEqual([(result.name, result.outcome, result.seconds) for result in results],
                         [("asan/T.Passes", PASSED, 1.5), ("asan/T.Fails/0", FAILED, 0.012), ("asan/T.Skips", SKIPPED, 0.0), ("asan/T.Last", PASSED, 1.5)])
        self.assertEqual((results[1].detail, results[2].reason, processes), (("why",), "no such thing here", 1))

    def test_one_that_ends_the_process_fails_and_the_rest_run_in_another(self):
        results, processes = self.ran("T.Passes", "T.Dies", "T.Leaves", "T.Last")
        self.assertEqual([(result.name, result.outcome) for result in results],
                         [("asan/T.Passes", PASSED), ("asan/T.Dies", FAILED), ("asan/T.Leaves", FAILED), ("asan/T.Last", PASSED)])
        self.assertEqual((results[1].reason, results[1].detail, processes), ("the process ended with 1", ("ERROR: AddressSanitizer",), 3))

    def test_one_that_hangs_is_killed(self):
        results, _ = self.ran("T.Hangs", "T.Last", limit=0.5)
        self.assertEqual([(result.name, result.outcome) for result in results], [("asan/T.Hangs", FAILED), ("asan/T.Last", PASSED)])
        self.assertIn("took longer than", results[0].reason)

    def test_a_leak_told_at_the_end_fails_the_program(self):
        results, _ = self.ran("T.Passes", "T.Leaks")
        self.assertEqual([(result.name, result.outcome) for result in results],
                         [("asan/T.Passes", PASSED), ("asan/T.Leaks", PASSED), ("asan/some_tests", FAILED)])
        self.assertEqual(results[2].detail, ("ERROR: LeakSanitizer",))

    def test_a_case_that_the_program_does_not_have_fails(self):
        results, _ = self.ran("T.Last", "T.Gone")
        self.assertEqual([(result.name, result.outcome) for result in results], [("asan/T.Last", PASSED), ("asan/T.Gone", FAILED)])

    def test_no_test_at_all_is_a_failure(self):
        with mock.patch.object(userspace, "_listed", return_value=[]):
            results = list(userspace.run(ROOT, "asan", None))
        self.assertEqual([(result.name, result.outcome) for result in results], [("asan", FAILED)])

    def test_only_cases_that_can_run_are_taken_from_what_ctest_lists(self):
        def listed(name: str, *command: str, **properties: object) -> dict:
            return {"name": name, "properties": [{"name": key, "value": value} for key, value in properties.items()],
                    **({"command": list(command)} if command else {})}
        cases, others = userspace.by_program([
            listed("T.A", "/b/t", "--gtest_filter=T.A", WORKING_DIRECTORY="/b", TIMEOUT=30.0), listed("daemon.T.B", "/b/t", "--gtest_filter=T.B", WORKING_DIRECTORY="/b", TIMEOUT=30.0),
            listed("T.Off", "/b/t", "--gtest_filter=T.Off", WORKING_DIRECTORY="/b", TIMEOUT=30.0, DISABLED=True),
            listed("cli.x", "/usr/bin/cmake", "-P", "x", WORKING_DIRECTORY="/b", TIMEOUT=30.0), listed("u_NOT_BUILT", WORKING_DIRECTORY="/b", TIMEOUT=30.0)])
        self.assertEqual((cases, others), ({("/b/t", "/b", 30.0): {"T.A": "T.A", "T.B": "daemon.T.B"}}, ["T.Off", "cli.x", "u_NOT_BUILT"]))


if __name__ == "__main__":
    unittest.main()
