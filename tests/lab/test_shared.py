# SPDX-License-Identifier: MIT
"""Which tests share a guest, when it ends, and that each test's outcome, log and results are its own."""
import sys
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path
from typing import Dict, List, Sequence, Union
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tests/e2e")]

import putback  # noqa: E402
from lab import LabError, boots  # noqa: E402
from lab.outcome import FAIL, LOST, PASS, SKIP, Outcome  # noqa: E402
from suite import boots as boots_told, e2e, shared, sitting, torture  # noqa: E402
from suite.case import FAILED, PASSED, Result  # noqa: E402
from suite.sitting import Part, Shape, Sitting  # noqa: E402

SHAPE = Shape("6.12", "host", "system", "one node", "", "madvise", False, False, 0, 4096, "", "")
PLAIN = e2e.EndToEnd(ROOT, ROOT / "tests/e2e/13-bad-requests-change-nothing",
                     ROOT / "tests/e2e/13-bad-requests-change-nothing/test.py", "6.12", {})


class FakeGuest:
    """Answers a test's command with what the command says; what is put back as `putback` says, by number of test."""

    born: List["FakeGuest"] = []
    putback: Dict[str, Outcome] = {}

    def __init__(self, _machine, _kernel, *, timeout: float, results: Path, **_options) -> None:
        self.results, self.console, self.timeout, self.over = results, results / "console.log", timeout, False
        self.ran: List[str] = []
        self.console.write_text("booted\n", encoding="ascii")
        FakeGuest.born.append(self)

    def __enter__(self) -> "FakeGuest":
        return self

    def __exit__(self, *_exc) -> None:
        self.over = True

    def run(self, command: Sequence[str], *, timeout: float, env=None, own_root=None) -> Outcome:
        assert not self.over
        if tuple(command[:3]) == sitting.PUTBACK:
            return FakeGuest.putback.get(self.ran[-1], Outcome(PASS)) if command[3] == "restore" else Outcome(PASS)
        self.ran.append(command[0])
        (self.results / own_root / "figures.json").write_text(command[0], encoding="ascii")
        return Outcome(command[1], dmesg=[f"log of {command[0]}"])


class Groups(unittest.TestCase):
    def shares(self, **other) -> bool:
        clock = {name: other.pop(name) for name in ("clock", "qemu", "kernel") if name in other}
        both = (PLAIN, replace(PLAIN, needs=other, **clock))
        return len(shared.groups(both)) == 1

    def test_whatever_a_guest_is_booted_with_sets_tests_apart_and_nothing_else(self):
        self.assertTrue(self.shares(timeout="7", seconds="3", module="no", packages="x"))
        for other in ({"cmdline": "quiet"}, {"thp": "always"}, {"llc": "65536"}, {"count": "yes"}, {"defines": "X"}, {"alone": "yes"},
                      {"clock": "instructions"}, {"qemu": "backports"}, {"kernel": "6.1"}):
            self.assertFalse(self.shares(**other), other)

    def test_machines_are_the_same_when_their_nodes_are_whatever_the_file_says_beside(self):
        def on(number: str) -> e2e.EndToEnd:
            folder, = (ROOT / "tests/e2e").glob(f"{number}-*")
            return replace(PLAIN, folder=folder, script=folder / "test.py")
        self.assertEqual(len(shared.groups([on("45"), on("46")])), 1)
        self.assertEqual(len(shared.groups([on("45"), on("33")])), 2)

    def test_a_debug_kernel_and_a_counting_guest_are_for_one_test(self):
        for alone in (replace(PLAIN, kernel="6.1-debug"), replace(PLAIN, kernel="newest"), replace(PLAIN, needs={"count": "yes"})):
            self.assertEqual(len(shared.groups([alone, replace(alone, folder=ROOT / "tests/e2e/14-x")])), 2)

    def test_a_long_group_is_cut_evenly_and_keeps_its_order(self):
        tests = [replace(PLAIN, folder=Path(f"/{number:02}-x")) for number in range(17)]
        with mock.patch.object(e2e.EndToEnd, "shape", SHAPE):
            cut = [group.tests for group in shared.groups(tests, most=8)]
        self.assertEqual([len(part) for part in cut], [5, 6, 6])
        self.assertEqual([test for part in cut for test in part], tests)

    def test_the_suite_loses_no_test_and_boots_less_than_half_as_often(self):
        tests: List[shared.Test] = [*e2e.collect(ROOT), *torture.collect(ROOT, ("6.1", "6.12"))]
        groups = shared.groups(tests)
        self.assertEqual(sorted(test.name for group in groups for test in group.tests), sorted(test.name for test in tests))
        self.assertLess(len(groups), len(tests) / 2)


class Turns(unittest.TestCase):
    def sit(self, *kinds: Union[str, LabError], putback=None) -> List[Outcome]:
        def part(number: int, kind: Union[str, LabError]) -> Part:
            def environment() -> Dict[str, str]:
                if isinstance(kind, LabError):
                    raise kind
                return {}
            return Part((str(number), str(kind)), environment, 10.0 * (number + 1))
        FakeGuest.born, FakeGuest.putback = [], putback or {}
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(sitting, "Guest", FakeGuest):
            turns = Sitting(SHAPE, lambda: None, [part(*each) for each in enumerate(kinds)], Path(folder))
            outcomes = []
            for number, (outcome, results) in enumerate(turns.run()):
                outcomes.append(outcome)
                if not isinstance(kinds[number], LabError):
                    self.assertEqual((results / "figures.json").read_text(encoding="ascii"), str(number))
                    self.assertTrue((results / "console.log").exists())
                results.rename(Path(folder) / f"kept{number}")  # it is the caller's
            self.assertEqual(len(list(Path(folder).glob(".guest*"))), 0, "nothing is left over")
        self.assertTrue(all(guest.over for guest in FakeGuest.born))
        return outcomes

    def ran(self) -> List[List[str]]:
        return [guest.ran for guest in FakeGuest.born]

    def test_all_that_pass_or_skip_run_in_one_guest_whose_life_is_as_long_as_all_limits(self):
        outcomes = self.sit(PASS, SKIP, PASS)
        self.assertEqual([outcome.kind for outcome in outcomes], [PASS, SKIP, PASS])
        self.assertEqual([outcome.dmesg for outcome in outcomes], [[f"log of {number}"] for number in range(3)])
        self.assertEqual((self.ran(), FakeGuest.born[0].timeout), ([["0", "1", "2"]], 60 + 3 * sitting.PUTBACK_SECONDS))

    def test_after_a_failure_or_a_loss_in_the_middle_the_others_go_on_in_a_new_guest(self):
        for bad in (FAIL, LOST):
            self.assertEqual([outcome.kind for outcome in self.sit(PASS, bad, PASS, PASS)], [PASS, bad, PASS, PASS])
            self.assertEqual(self.ran(), [["0", "1"], ["2", "3"]])

    def test_a_leak_or_taint_found_afterwards_fails_the_test_and_its_log_counts(self):
        leak = Outcome(FAIL, output=["put back: swap", "DEFECT: pages more than before: slab 9"], dmesg=["late"])
        first, second = self.sit(PASS, PASS, putback={"0": leak})
        self.assertEqual((first.kind, second.kind, self.ran()), (FAIL, PASS, [["0"], ["1"]]))
        self.assertIn("slab 9", first.reason)
        self.assertEqual(first.dmesg, ["log of 0", "late"])

    def test_a_splat_while_it_is_put_back_fails_the_test(self):
        first, _ = self.sit(PASS, PASS, putback={"0": Outcome(FAIL, reason="kernel log: BUG: x", dmesg=["BUG: x"])})
        self.assertEqual((first.kind, first.reason), (FAIL, "afterwards: kernel log: BUG: x"))

    def test_what_cannot_be_put_back_ends_the_guest_and_is_told_of_a_test_that_passed(self):
        first, second = self.sit(PASS, PASS, putback={"0": Outcome(FAIL, output=["NOT BACK: mounts: '/x'"])})
        self.assertEqual((first.kind, second.kind, self.ran()), (PASS, PASS, [["0"], ["1"]]))
        self.assertIn("its guest ended: NOT BACK: mounts: '/x'", first.reason)

    def test_who_cannot_be_prepared_is_lost_alone(self):
        outcomes = self.sit(PASS, LabError("x.c does not compile"), PASS)
        self.assertEqual([outcome.kind for outcome in outcomes], [PASS, LOST, PASS])
        self.assertEqual((outcomes[1].reason, self.ran()), ("x.c does not compile", [["0", "2"]]))

    def test_a_guest_that_does_not_boot_loses_one_test_and_the_next_one_tries_again(self):
        with mock.patch.object(FakeGuest, "__enter__", side_effect=[LabError("lost 3 times"), LabError("lost 3 times")]):
            outcomes = self.sit_without_results(PASS, PASS)
        self.assertEqual([(outcome.kind, outcome.reason) for outcome in outcomes], [(LOST, "lost 3 times")] * 2)

    def sit_without_results(self, *kinds: str) -> List[Outcome]:
        FakeGuest.born, FakeGuest.putback = [], {}
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(sitting, "Guest", FakeGuest):
            parts = [Part((str(number), kind), dict, 1.0) for number, kind in enumerate(kinds)]
            return [outcome for outcome, _ in Sitting(SHAPE, lambda: None, parts, Path(folder)).run()]


class Looks(unittest.TestCase):
    def looks(self, *left: List[str]) -> tuple:
        """What settled() gives when the time is over after the first look, and how many looks it took."""
        looked = mock.Mock(side_effect=left)
        return putback.settled(looked, 0), looked.call_count

    def test_what_one_look_undoes_another_one_sees_however_slow_the_guest(self):
        self.assertEqual(self.looks(["/swap"], []), ([], 2))
        self.assertEqual(self.looks(["thp"], ["min_free"], []), ([], 3))
        self.assertEqual(self.looks(*[["stays"]] * 9), (["stays"], putback.FEWEST))

    def test_a_choice_is_told_by_what_holds_and_controllers_by_what_differs(self):
        self.assertEqual((putback.chosen("always [madvise] never\n"), putback.chosen("65530\n")), ("madvise", "65530"))
        self.assertEqual(putback.without("cpuset memory", "memory pids"), "-cpuset +pids")


class Told(unittest.TestCase):
    def test_a_group_tells_each_test_by_its_own_name_and_keeps_its_results(self):
        kinds = {"13-a": PASS, "14-b": FAIL, "15-c": PASS}
        FakeGuest.born, FakeGuest.putback = [], {}
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(sitting, "Guest", FakeGuest), \
                mock.patch.object(e2e.EndToEnd, "shape", SHAPE), mock.patch.object(e2e, "_machine", lambda *_: None), \
                mock.patch.object(e2e.EndToEnd, "part", property(lambda test: Part(
                    (test.folder.name, kinds[test.folder.name]), dict, 1.0))):
            tests = [e2e.EndToEnd(Path(folder), Path(f"/{name}"), Path("test.py"), "6.12", {}) for name in kinds]
            group, = shared.groups(tests)
            results = list(group.run())
            alone = tests[1].run()
            figures = [(test.results / "figures.json").read_text(encoding="ascii") for test in tests]
            logs = [(test.results / "dmesg.log").read_text(encoding="ascii") for test in tests]
            failed = (tests[1].failed / "output.log").read_bytes()
            kinds["14-b"] = PASS
            later = tests[1].run()
            self.assertEqual([test.failed.exists() for test in tests], [False, True, False])
            self.assertEqual((later.outcome, (tests[1].failed / "output.log").read_bytes()), (PASSED, failed), "what passes later leaves it")
        self.assertEqual([(result.name, result.outcome) for result in results],
                         [("e2e/13-a [6.12]", PASSED), ("e2e/14-b [6.12]", FAILED), ("e2e/15-c [6.12]", PASSED)])
        self.assertEqual((alone.outcome, figures), (FAILED, list(kinds)))
        self.assertEqual(logs, [f"log of {name}\n" for name in kinds])


class Boots(unittest.TestCase):
    def told(self, lost: List[str]) -> Result:
        with mock.patch.object(boots, "counted", lambda: (36, lost)):
            return boots_told.result()

    def test_boots_that_were_lost_are_told_with_their_reason_and_fail_the_run_when_they_are_many(self):
        self.assertEqual((self.told([]).outcome, self.told(["int3"] * 5).outcome, self.told(["int3"] * 6).outcome),
                         (PASSED, PASSED, FAILED))
        self.assertIn("36 guests booted, 3 lost before they were ready: 2 x int3; 1 x silence", self.told(["int3", "silence", "int3"]).reason)


if __name__ == "__main__":
    unittest.main()
