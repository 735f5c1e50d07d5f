# SPDX-License-Identifier: MIT
"""Which tests tools/test takes: the gate, all, what a change touches; and which results it keeps."""
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d")]

from lab.errors import UsageError  # noqa: E402
from suite import choice, e2e, inputs, prepare, python_tests, static, torture, userspace  # noqa: E402
from suite.kept import Passes, Times  # noqa: E402

HEADERS = {"31-on-both": "", "20-by-night-on-6.1": "# gate: 6.12\n", "30-by-night": "# gate: none\n",
           "40-only-6.12": "# kernels: 6.12\n", "50-two-qemus": "# qemu: system backports\n", "63-two-clocks": "# clock: host instructions\n", "71-of-others": "# suite: none\n"}


def tree(folder: str) -> Path:
    """A checkout with these tests only."""
    root = Path(folder)
    for name, header in HEADERS.items():
        (root / "tests/e2e" / name).mkdir(parents=True)
        (root / "tests/e2e" / name / "test.sh").write_text(f"#!/bin/sh\n{header}", encoding="ascii")
    (root / "configs").mkdir()
    (root / "configs/lab").symlink_to(ROOT / "configs/lab")
    return root


class Chosen(unittest.TestCase):
    def choose(self, named=None, everything=False, cached=False) -> choice.Choice:
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(choice, "is_cached", lambda series: cached), \
                mock.patch.object(torture, "ROWS", tuple(row for row in torture.ROWS if row.test == "71")):
            return choice.choose(tree(folder), named, everything)

    def names(self, **flags) -> list:
        return [test.name for test in self.choose(**flags).tests]

    def test_the_gate_takes_what_no_header_keeps_for_the_night(self):
        self.assertEqual(self.names(), ["e2e/31-on-both [6.1]", "e2e/50-two-qemus [6.1]", "e2e/63-two-clocks [6.1]",
                                        "e2e/20-by-night-on-6.1 [6.12]", "e2e/31-on-both [6.12]", "e2e/40-only-6.12 [6.12]",
                                        "e2e/50-two-qemus [6.12]", "e2e/63-two-clocks [6.12]"])

    def test_all_takes_the_rest_and_the_core_of_kernels_with_checks(self):
        names = self.names(everything=True)
        for name in ("e2e/20-by-night-on-6.1 [6.1]", "e2e/30-by-night [6.1]", "e2e/50-two-qemus [6.12 backports]",
                     "e2e/63-two-clocks [6.12 instructions]",
                     "torture/the kernel's own mm tests [6.1]", "e2e/31-on-both [6.1-debug]", "e2e/31-on-both [6.1-kcsan]"):
            self.assertIn(name, names)
        self.assertNotIn("e2e/20-by-night-on-6.1 [6.1-debug]", names)
        self.assertNotIn("e2e/71-of-others [6.1]", names, "it runs as a row")

    def test_every_pair_is_run_or_left_out_for_a_reason(self):
        chosen = self.choose()
        told = {name for names in chosen.left_out.values() for name in names}
        pairs = {f"e2e/{name} [{kernel}]" for name in HEADERS for kernel in ("6.1", "6.12") if name != "71-of-others"}
        self.assertEqual(pairs - {test.name for test in chosen.tests} - told, set())
        self.assertEqual(chosen.left_out[choice.OTHER_KERNELS], ["e2e/40-only-6.12 [6.1]"])
        self.assertIn("torture/the kernel's own mm tests [6.12]", chosen.left_out[choice.FOR_THE_NIGHT])

    def test_the_debug_kernels_core_runs_where_that_kernel_is_built_and_is_told_of_where_not(self):
        self.assertIn("e2e/31-on-both [6.1-debug]", self.names(cached=True))
        self.assertEqual(self.choose().left_out[choice.NOT_BUILT], ["e2e/31-on-both [6.1-debug]"])

    def test_a_kernel_that_is_named_is_the_only_one(self):
        self.assertEqual({test.kernel for test in self.choose(named="6.1").tests}, {"6.1"})
        self.assertEqual(self.names(named="6.1-debug"), ["e2e/31-on-both [6.1-debug]"])

    def test_a_row_is_in_the_gate_where_its_test_is(self):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(torture, "ROWS", tuple(row for row in torture.ROWS if row.test in ("20", "63", "table"))):
            self.assertEqual([row.name for row in choice.choose(tree(folder), None, False).rows],
                             ["torture/target killed mid-move [6.1]", "torture/target killed mid-move [6.12]",
                              "torture/daemon killed mid-move [6.12]"])

    def test_the_projects_own_gate_has_each_name_once(self):
        names = [test.name for test in choice.choose(ROOT, None, False).tests]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 40)


class Changed(unittest.TestCase):
    """What a change touches, in this tree."""

    def touched(self, *paths: str) -> set:
        chosen = choice.choose(ROOT, "6.12", False)
        choice.keep_touched(chosen, paths)
        return {test.name for test in chosen.tests}

    def test_a_change_of_one_test_touches_that_test(self):
        self.assertEqual(self.touched("tests/e2e/21-hmkd-refuses-in-one-line/test.py"), {"e2e/21-hmkd-refuses-in-one-line [6.12]"})

    def test_a_change_of_a_rows_test_touches_the_row(self):
        self.assertEqual(self.touched("tests/e2e/15-answers-are-those-of-move-pages/contract.c"), {"torture/contract table [6.12]"})

    def test_a_change_of_what_others_include_touches_them(self):
        self.assertEqual(self.touched("tests/e2e/31-lifecycle-fuzz/fuzz.c"),
                         {"e2e/31-lifecycle-fuzz [6.12]", "torture/page moves with version counters [6.12]", "e2e/68-ten-movers-over-the-same-memory [6.12]"})
        self.assertEqual(inputs.own(ROOT / "tests/e2e/72-trinity-finds-nothing"),
                         ("tests/e2e/72-trinity-finds-nothing/", "tests/e2e/71-the-kernels-own-tests-notice-nothing/"))

    def test_what_runs_in_every_guest_touches_every_guest(self):
        everything = {test.name for test in choice.choose(ROOT, "6.12", False).tests}
        self.assertEqual(self.touched("tests/e2e/putback.py"), everything)

    def test_a_change_of_the_module_touches_all_but_those_that_do_not_load_it(self):
        everything = {test.name for test in choice.choose(ROOT, "6.12", False).tests}
        left = everything - self.touched("kmod/move_own.c")
        self.assertTrue(left and all(name.startswith(("e2e/00", "e2e/01")) for name in left), left)

    def test_a_change_of_the_lab_touches_every_guest(self):
        everything = {test.name for test in choice.choose(ROOT, "6.12", False).tests}
        self.assertEqual(self.touched("tools/lab.d/lab/guest.py"), everything)

    def test_a_page_of_docs_touches_nothing(self):
        self.assertEqual(self.touched("docs/hazards.md", "README.md", "tests/README.md"), set())
        self.assertFalse(inputs.touched(inputs.CHECKED, ["tests/README.md"]))

    def test_units_follow_the_daemon_and_not_the_module(self):
        self.assertTrue(inputs.touched(inputs.UNITS, ["daemon/policy/plan.cpp"]))
        self.assertFalse(inputs.touched(inputs.UNITS, ["kmod/move_own.c"]))

    def test_every_file_of_the_tree_is_known_and_a_new_folder_is_not(self):
        listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], check=False, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        self.assertEqual(inputs.unknown(listed), [])
        self.assertEqual(inputs.unknown(["libnew/a.c", "docs/a.md"]), ["libnew/a.c"])

    def test_every_kind_of_test_has_its_inputs(self):
        for test in python_tests.collect(ROOT / "tests"):
            self.assertTrue(inputs.touched(getattr(inputs, test.file.parent.name.upper()), [str(test.file.relative_to(ROOT))]), test.name)

    def test_a_base_that_is_no_commit_is_refused(self):
        with self.assertRaisesRegex(UsageError, "no-such-commit"):
            inputs.changed_since(ROOT, "no-such-commit")

    def test_committed_changed_and_new_files_are_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)

            def git(*words: str) -> None:
                subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", *words], check=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            git("init", "-b", "main")
            for name in ("old", "edited"):
                (root / name).write_text("1", encoding="ascii")
            git("add", ".")
            git("commit", "-m", "a")
            git("checkout", "-b", "work")
            (root / "committed").write_text("1", encoding="ascii")
            git("add", ".")
            git("commit", "-m", "b")
            (root / "edited").write_text("2", encoding="ascii")
            (root / "new").write_text("1", encoding="ascii")
            self.assertEqual(inputs.changed_since(root, "main"), ["committed", "edited", "new"])


class Kept(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="ascii")

    def key(self, *prefixes: str, more: str = "6.12") -> str:
        return inputs.Contents(self.root).key(prefixes, more)

    def test_the_key_follows_contents_names_mode_and_kernel_and_nothing_else(self):
        self.write("kmod/a.c", "1")
        self.write("daemon/b.cpp", "1")
        first = self.key("kmod/")
        self.write("daemon/b.cpp", "2")
        self.assertEqual(self.key("kmod/"), first)
        self.assertNotEqual(self.key("kmod/", more="6.1"), first)
        self.write("kmod/a.c", "2")
        second = self.key("kmod/")
        os.chmod(self.root / "kmod/a.c", 0o755)
        third = self.key("kmod/")
        (self.root / "kmod/a.c").rename(self.root / "kmod/c.c")
        self.assertEqual(len({first, second, third, self.key("kmod/")}), 4)

    def test_a_pass_is_there_until_it_is_a_month_old(self):
        passes = Passes(self.root / "passed")
        self.assertFalse(passes.has("k"))
        passes.add("k")
        passes.add("old")
        long_ago = time.time() - 31 * 86400
        os.utime(self.root / "passed/old", (long_ago, long_ago))
        passes.forget_old()
        self.assertEqual((passes.has("k"), passes.has("old")), (True, False))

    def test_times_of_two_runs_are_kept_side_by_side_and_unknown_ones_are_long(self):
        one, other = Times(self.root / "times"), Times(self.root / "times")
        one.add("a", 1.0)
        other.add("b", 2.0)
        one.save()
        other.save()
        times = Times(self.root / "times")
        self.assertEqual((times.of("a", "b"), times.of("c")), (3.0, Times.UNKNOWN))

    def test_times_that_cannot_be_read_are_none(self):
        self.write("times", "not json")
        self.assertEqual(Times(self.root / "times").of("a"), Times.UNKNOWN)


class Sanitized(unittest.TestCase):
    #: Built for tsan, or run in guests only, or by hand (the sweep: its threads share a counter and what one lock guards).
    THREADED = {"daemon/util/beside.hpp", "tests/unit/table_reader_threads.cpp", "tests/unit/hint_threads.cpp", "tests/programs/integrity.cpp", "tests/programs/threads.cpp",
                "tests/programs/touch.cpp", "tools/bench.d/hints.cpp", "tools/bench.d/moves/stall.cpp", "tools/hmkctl/gauge.cpp", "tools/load/gups.cpp", "tools/sim.d/sweep.cpp", "tools/sim.d/machine/sweep.cpp"}

    def test_whatever_has_threads_is_built_for_tsan(self):
        """Its preset builds what is listed in CMakePresets.json; hmkd runs one job beside itself, such as joining huge pages; `hmkctl calibrate` reads by several."""
        files = [file for folder in ("daemon", "include", "tools", "tests") for file in (ROOT / folder).rglob("*.[ch]pp")]
        threaded = {str(file.relative_to(ROOT)) for file in files
                    if re.search(r"std::j?thread\b|std::async|pthread_create", file.read_text(encoding="utf-8"))}
        self.assertEqual(threaded, self.THREADED)


class Once(unittest.TestCase):
    """The gate compiles each test of user space for one of release and ASan."""

    def test_every_label_is_run_by_one_of_them(self):
        text = "\n".join(file.read_text(encoding="utf-8") for folder in ("tests", "tools") for file in (ROOT / folder).rglob("CMakeLists.txt"))
        labels = set(re.findall(r"LABELS (\w+)|^hmk_test\(\w+ (\w+)", text, re.M))
        found = {first or second for first, second in labels} - {"LIBRARIES"}
        self.assertGreaterEqual(len(found), 6)
        for label in found:
            self.assertEqual(sum(re.search(wanted, label) is not None for _, wanted in userspace.ONCE.values()), 1, label)


class Packages(unittest.TestCase):
    def test_what_a_choice_needs_is_installed_before_it_runs(self):
        rows = torture.collect(ROOT, ("6.12",))
        needed = prepare.needed(True, [], rows)
        for name in ("libpython3-dev", "mypy", "trinity", "libnuma-dev", "libclang-rt-dev", "stress-ng"):
            self.assertIn(name, needed)
        self.assertEqual(prepare.needed(False, [], []), [])

    def test_every_checker_has_its_place_in_a_task(self):
        from suite import tasks
        self.assertEqual(sorted(name for names in tasks.TOGETHER for name in names), sorted(static.names()))


class Headers(unittest.TestCase):
    def test_a_gate_of_a_kernel_it_is_not_for_would_never_run(self):
        for test in [test for kernel in ("6.1", "6.12") for test in e2e.collect(ROOT, (kernel,))]:
            able = test.needs.get("kernels", "6.1 6.12").split()
            gate = test.needs.get("gate", "none").split()
            self.assertTrue(set(gate) <= {*able, "none"}, f"{test.name}: gate {gate}, kernels {able}")


if __name__ == "__main__":
    unittest.main()
