# SPDX-License-Identifier: MIT
"""What is read out of a guest: kernel log, marks, headers of tests, accounting helpers."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tests/e2e")]

import lib  # noqa: E402
from lab.errors import LabError  # noqa: E402
from lab.outcome import PASS, Mark, Outcome, read_marks  # noqa: E402
from lab.splat import broken, splats, telling  # noqa: E402
from suite import e2e  # noqa: E402


def row(seq: int, user: list, kernel: list) -> dict:
    def half(read: list) -> dict:
        return {"read": read, "write": [0] * len(read), "llc_hits": 0, "accesses": 0, "instructions": 7 * seq}
    return {"mark": 1, "seq": seq, "nodes": len(user),
            "vcpus": [{"cpu": 0, "elsewhere": 0, "user": half(user), "kernel": half(kernel)}]}


class KernelLog(unittest.TestCase):
    def test_what_a_test_made_fail_is_no_defect_and_anything_else_is(self):
        log = ["x: page allocation failure: order:0", "hmk-lab: failures are injected", "x: page allocation failure: order:0",
               "Call Trace:", "[  268.1]  ? lockdep_hardirqs_on_prepare+0x286/0x3f0", "BUG: sleeping function called", "hmk-lab: failures are no longer injected", "Call Trace:"]
        self.assertEqual(splats(log), [log[0], log[5], log[7]])

    def test_defects_are_found(self):
        for line in ("WARNING: CPU: 0 PID: 1 at mm/migrate.c:1", "BUG: Bad page state in process x", "Oops: int3: 0000",
                     "int3: 0000 [#1] PREEMPT SMP NOPTI", "BUG: unable to handle page fault", "rcu: INFO: rcu_preempt self-detected stall on CPU",
                     "INFO: task a:1 blocked for more than 120 seconds.", "UBSAN: array-index-out-of-bounds",
                     "BUG: KASAN: use-after-free in f+0x1/0x2 [m]", "WARNING: possible circular locking dependency detected",
                     "WARNING: inconsistent lock state", "WARNING: suspicious RCU usage", "WARNING: bad unlock balance detected!",
                     "BUG: sleeping function called from invalid context at mm/x.c:1",
                     "kmemleak: unreferenced object 0xffff888000000000 (size 64):",
                     "kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)"):
            self.assertEqual(splats([line]), [line])

    def test_a_breakpoint_nobody_set_is_told_as_qemus_and_every_other_defect_as_it_is(self):
        found = splats(["[ 1.0] WARNING: CPU: 0 PID: 1 at mm/x.c:1", "[ 1.1] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI"])
        self.assertRegex(telling(found), r"^\[ 1.1\] Oops: int3: .* \(QEMU ran code that the kernel was patching")
        self.assertEqual(telling(found[:1]), found[0])

    def test_flags_that_no_cpu_has_are_told_as_qemus_and_all_others_are_no_defect(self):
        log = ["[ 1.0] traps: PANIC: double fault, error_code: 0x0", "[ 1.1] RSP: 0018:ffffce690072f310 EFLAGS: 81b34702"]
        self.assertEqual(splats(log), log)
        self.assertRegex(telling(splats(log)), r"^\[ 1.1\] RSP: .* EFLAGS: 81b34702 \(no CPU has such flags")
        self.assertEqual([broken(splats(log)), broken(log[:1])], [False, True])
        for flags, is_possible in (("00000202", True), ("00010246", True), ("003fffff", True), ("00400000", False), ("ffffffff", False)):
            self.assertEqual(splats([f"RSP: 0018:ffff EFLAGS: {flags} ORIG_RAX: 1"]) == [], is_possible, flags)

    def test_a_race_is_a_defect_where_the_module_or_memcpy_for_it_takes_part(self):
        def report(*frames: str) -> list:
            return ["=" * 66, "BUG: KCSAN: data-race in f / g", "", "write to 0x1 of 8 bytes by task 1 on cpu 0:", " f+0x1/0x2", "",
                    "read to 0x1 of 8 bytes by task 2 on cpu 1:", *frames, "=" * 66]
        theirs, helper, ours = " g+0x1/0x2", "[    1.0]  __memcpy+0x1/0x2", "[    1.0]  h+0x1/0x2 [hmk]"
        for frames, found in (((theirs, ours), 0), ((helper, theirs, ours), 0), ((ours, theirs), 1), ((helper, ours), 1), ((theirs,), 0)):
            self.assertEqual(len(splats([*report(theirs), "x", *report(*frames), *report(theirs)])), found, frames)
        unknown = ["BUG: KCSAN: data-race in f+0x1/0x2", "race at unknown origin, with read to 0x1 of 8 bytes by task 1 on cpu 0:"]
        self.assertEqual((len(splats([*unknown, ours])), len(splats([*unknown, theirs, ours]))), (1, 0))

    def test_what_a_debug_kernel_says_at_boot_is_not_a_defect(self):
        lines = ["Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar", "... MAX_LOCKDEP_SUBCLASSES:  8",
                 "kasan: KernelAddressSanitizer initialized", "kmemleak: Kernel memory leak detector initialized (mem pool available: 1)",
                 "rcu: \tRCU lockdep checking is enabled.", "ODEBUG: selftest passed",
                 "Kernel command line: nowatchdog rcupdate.rcu_cpu_stall_timeout=60",
                 "\tRCU CPU stall warnings timeout set to 60 (rcu_cpu_stall_timeout)."]
        self.assertEqual(splats(lines), [])

    def test_loading_an_unsigned_module_is_not_a_defect(self):
        lines = ["hmk: loading out-of-tree module taints kernel.",
                 "hmk: module verification failed: signature and/or required key missing - tainting kernel",
                 "rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies."]
        self.assertEqual(splats(lines), [])


class Marks(unittest.TestCase):
    def test_a_line_still_being_written_waits(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "marks.jsonl"
            file.write_text(json.dumps(row(0, [1, 3], [0, 0])) + "\n" + '{"mark":1,"se', encoding="ascii")
            self.assertEqual([mark.sequence for mark in read_marks(file)], [0])

    def test_shares_are_of_the_asked_mode_and_differences_subtract(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "marks.jsonl"
            file.write_text("".join(json.dumps(r) + "\n" for r in (row(1, [1, 3], [9, 9]), row(2, [2, 12], [9, 9]))),
                            encoding="ascii")
            first, second = read_marks(file)
        self.assertEqual(first.shares(), [0.25, 0.75])
        self.assertEqual(first.shares(modes=("kernel",)), [0.5, 0.5])
        self.assertEqual(second.since(first).shares(), [0.1, 0.9])
        self.assertEqual(second.since(first).instructions(), 14)


    def test_lists_add_up_over_cpus_and_modes_and_a_format_without_them_has_none(self):
        def mark(times: int) -> Mark:
            rows = [{"cpu": cpu, "user": {"walks": [times, 0]}, "kernel": {"walks": [times * 10, times * cpu]}} for cpu in (0, 1)]
            return Mark(1, 0, {"format": 2, "mark": 1, "seq": times, "nodes": 1, "vcpus": rows})
        self.assertEqual(mark(1).counted("walks"), [22, 1])
        self.assertEqual(mark(1).counted("walks", [1], ("kernel",)), [10, 1])
        later = mark(5).since(mark(2))
        self.assertEqual((later.counted("walks", [0]), later.data["format"]), ([33, 0], 2))
        self.assertEqual(mark(1).counted("streamed"), [])

    def test_a_guest_of_the_plugin_before_has_marks_that_can_be_read(self):
        old = row(3, [5, 0], [1, 0])
        self.assertNotIn("format", old)
        self.assertEqual(Mark(1, 3, old).counted("walks"), [])


class ExitCodes(unittest.TestCase):
    def test_a_lost_guest_is_never_zero(self):
        self.assertEqual(Outcome("lost").exit_code, 1)
        self.assertEqual(Outcome("fail", status=0).exit_code, 1)
        self.assertEqual(Outcome("fail", status=5).exit_code, 5)
        self.assertEqual(Outcome("skip", status=77).exit_code, 77)


class Waits(unittest.TestCase):
    def fails_after(self, limit: float) -> float:
        """Seconds of a clock that only sleeping moves."""
        now = [100.0]
        clock = mock.Mock(monotonic=lambda: now[0], sleep=lambda seconds: now.__setitem__(0, now[0] + seconds))
        with mock.patch.object(lib, "time", clock), self.assertRaises(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            lib.wait_for(lambda: False, limit)
        return now[0] - 100

    def test_limits_are_those_of_a_plain_kernel(self):
        self.assertAlmostEqual(self.fails_after(2), 2, delta=0.06)
        with mock.patch.dict(os.environ, HMK_SLOWNESS="5"):
            self.assertAlmostEqual(self.fails_after(2), 10, delta=0.06)


class TestHeaders(unittest.TestCase):
    def test_a_misspelt_header_is_refused(self):
        with self.assertRaises(LabError):
            e2e.header("# timout: 60\n")

    def test_prose_is_not_a_header(self):
        self.assertEqual(e2e.header("# SPDX-License-Identifier: MIT\n# count: yes\n"), {"count": "yes"})


class Accounting(unittest.TestCase):
    def test_free_pages_include_the_per_cpu_lists(self):
        text = "Node 0, zone DMA\n  pages free     5\n      nr_free_pages 5\n  pagesets\n    cpu: 0\n" \
               "              count:    3\n              high:  9\n    cpu: 1\n              count: 4\n"
        self.assertEqual(lib.free_pages(text), 12)

    def test_resident_bytes_honour_the_page_size(self):
        text = "7f00 default anon=3 dirty=3 N0=2 N2=1 kernelpagesize_kB=4\n7f10 default huge N2=1 kernelpagesize_kB=2048\n"
        self.assertEqual(lib.resident_bytes(1, text), {0: 8192, 2: 4096 + (2 << 20)})


class Log(unittest.TestCase):
    def test_each_line_has_its_second_and_one_added_later_that_of_the_last(self):
        outcome = Outcome(PASS, output=["a", "b", "added"], times=[0.5, 12.3])
        self.assertEqual(outcome.log(), "    0.5 a\n   12.3 b\n   12.3 added\n")
        self.assertEqual(Outcome(PASS, output=["added"]).log(), "    0.0 added\n")
        self.assertEqual(Outcome(PASS).log(), "")


if __name__ == "__main__":
    unittest.main()
