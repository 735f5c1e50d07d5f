# SPDX-License-Identifier: MIT
"""Runs of tools/torture add up, a failure stays one, and every row has its test."""
import importlib.util
import io
import json
import re
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Dict, List, Sequence
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/torture.d")]

from lab import LabError  # noqa: E402
from lab.outcome import FAIL, PASS, Outcome  # noqa: E402
import runs  # noqa: E402
import same  # noqa: E402
import sums  # noqa: E402
from rows import FUZZED, MODULE, ROWS, USER, Row  # noqa: E402
from suite import e2e, torture  # noqa: E402
from suite.case import PASSED  # noqa: E402

def load_main():
    """Of all main.py that are on the path, that of torture."""
    spec = importlib.util.spec_from_file_location("torture_main", ROOT / "tools/torture.d/main.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


main = load_main()
ROW = Row("kills, many", "63", {"6.1": 100}, seconds=5, unit="kills")


def run(count: int, **other) -> Dict[str, Any]:
    return {"count": count, "lost": 0, "splats": 0, "leaked": 0, "seconds": 7, "failed": "", "commit": "abcdef1", **other}


def git(folder: str, *words: str) -> None:
    subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, stdout=subprocess.DEVNULL)


class Sums(unittest.TestCase):
    def verdict(self, *done) -> str:
        return sums.add_up(ROW, "6.1", done)["verdict"]

    def test_fewer_than_wanted_shows_as_fewer_and_none_as_not_run(self):
        self.assertEqual((self.verdict(), self.verdict(run(99)), self.verdict(run(60), run(40))), ("not run", "fewer", "ok"))

    def test_a_sum_that_is_reached_by_one_of_its_parts_alone_is_fewer(self):
        row = Row("in and out", "77", {"6.1": 100}, least={"reads": 50, "writes": 50})
        one, other = run(100, reads=80, writes=20), run(60, reads=20, writes=30)
        self.assertEqual([sums.add_up(row, "6.1", done)["verdict"] for done in ([one], [one, other])], ["fewer", "ok"])
        self.assertEqual((runs.has_enough(row, "6.1", [one]), runs.has_enough(row, "6.1", [one, other])), (False, True))
        self.assertIn("- in and out, 6.1: 100 reads, 50 writes", sums.page([sums.add_up(row, "6.1", [one, other])]))

    def test_a_lost_write_a_splat_a_leak_and_a_failure_are_never_ok(self):
        wrongs: List[Dict[str, Any]] = [{"lost": 1}, {"splats": 1}, {"leaked": 1}, {"failed": "guest lost"}]
        for wrong in wrongs:
            self.assertEqual(self.verdict(run(1000), run(1000, **wrong)), "failed", wrong)

    def test_the_page_tells_why_a_row_failed(self):
        page = sums.page([sums.add_up(ROW, "6.1", [run(1, failed="kernel log: BUG")])])
        self.assertIn("- kills, many, 6.1: abcdef1: kernel log: BUG", page)


    def test_a_failure_without_its_cause_fails_its_row_whatever_is_explained(self):
        explained = run(7, failed="lost: no word", explained="the host's disk was full", lost=3)
        self.assertEqual((self.verdict(explained), self.verdict(explained, run(100))), ("not run", "ok"))
        self.assertEqual(self.verdict(explained, run(100), run(0, failed="lost: no word")), "failed")
        page = sums.page([sums.add_up(ROW, "6.1", [explained, run(100)])])
        self.assertIn("- kills, many, 6.1: abcdef1: lost: no word: the host's disk was full", page)
        self.assertIn("| kills, many | 6.1 | 100 | 100 | kills | 0 | 0 | 0 | 7 | abcdef1: 100 | ok |", page)

    def test_the_page_tells_how_many_on_which_commit_and_what_they_are_made_of(self):
        page = sums.page([sums.add_up(ROW, "6.1", [run(60, of={"asked paired": 9}), run(10, commit="1234567"),
                                                   run(50, of={"asked paired": 1, "asked ticket": 2}), run(999, commit="unknown")])])
        self.assertIn("| 120 | 100 | kills | 0 | 0 | 0 | 21 | abcdef1: 110, 1234567: 10 | ok |", page)
        self.assertIn("- kills, many, 6.1: 10 asked paired, 2 asked ticket", page)
        self.assertIn("- kills, many, 6.1: 999 kills", page)

    def test_the_page_tells_which_releases_ran(self):
        page = sums.page([sums.add_up(ROW, "6.1", [run(60, release="6.1.0-44-amd64"), run(40, release="6.1.0-9-amd64"), run(1)])])
        self.assertIn("- 6.1: 6.1.0-44-amd64, 6.1.0-9-amd64\n", page)


class Runs(unittest.TestCase):
    def test_runs_of_a_row_are_kept_apart_by_kernel_and_found_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "runs"
            self.assertEqual(runs.Store(file).runs(ROW, "6.1"), [])
            for count, kernel in ((60, "6.1"), (7, "6.1-debug"), (40, "6.1")):
                runs.Store(file).add(run(count, row=ROW.name, kernel=kernel))
            runs.Store(file).add({"same": ["a", "b"], "kernel": "6.1", "code": "c", "commit": "abcdef1"})
            again = runs.Store(file)
            self.assertEqual([r["count"] for r in again.runs(ROW, "6.1")], [60, 40])
            self.assertEqual(([r["count"] for r in again.runs(ROW, "6.1-debug")], again.runs(ROW, "6.12")), ([7], []))
            self.assertTrue(runs.has_enough(ROW, "6.1", again.runs(ROW, "6.1")))

    def test_a_line_that_is_no_run_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "runs"
            whole = json.dumps(run(1, row=ROW.name, kernel="6.1"))
            for wrong, why in (("{", "not a run"), ("7", "not a run"), ('{"row": "kills, many"}', "without kernel, count")):
                file.write_text(f"{whole}\n{wrong}\n", encoding="utf-8")
                with self.assertRaisesRegex(LabError, f"runs:2: .*{why}.*; remove the line"):
                    runs.Store(file).runs(ROW, "6.1")

    def test_the_kept_runs_can_be_read_and_no_failure_of_them_is_without_its_cause(self):
        kept = runs.Store(ROOT / "docs/torture.jsonl")
        done = [each for row in ROWS for kernel in row.wanted for each in kept.runs(row, kernel)]
        lines = [line for line in kept.file.read_text(encoding="utf-8").splitlines() if not line.startswith('{"same"')]
        self.assertEqual(len(done), len(lines), "runs of no row")
        self.assertFalse([each for each in done if each["failed"] and not each.get("explained")])
        self.assertFalse([each for each in done if each["commit"] != runs.UNKNOWN and not runs.is_commit(each["commit"])])

    def test_the_own_path_is_trusted_unseen_up_to_the_newest_kernel_that_passed(self):
        lines = [json.loads(line) for line in (ROOT / "docs/torture.jsonl").read_text(encoding="utf-8").splitlines()]
        passed = [tuple(map(int, line["release"].split(".")[:2])) for line in lines
                  if line["kernel"] == "newest" and line.get("release") and not line["failed"]]
        text = (ROOT / "kmod/compat/mm.h").read_text(encoding="utf-8")
        before = tuple(map(int, re.search(r"HMK_TESTED_BEFORE\s+KERNEL_VERSION\((\d+), (\d+), 0\)", text).groups()))
        major, minor = max(passed)
        self.assertIn(before, ((major, minor + 1), (major + 1, 0)))

    def test_a_run_of_a_changed_tree_is_not_kept_where_others_read_it(self):
        kept = runs.Store(ROOT / runs.DOCS[0])
        before = kept.file.read_bytes()
        for commit in ("abcdef1-dirty", "abcdef1-changed", runs.UNKNOWN, "18de5e2 to a8fd77e"):
            with self.assertRaisesRegex(LabError, f"a run of {commit} is not kept: commit what has changed"):
                kept.add(run(1, row=ROW.name, kernel="6.1", commit=commit))
        self.assertEqual(kept.file.read_bytes(), before)

    def test_a_full_run_of_a_changed_tree_is_refused_before_it_begins(self):
        with mock.patch.object(runs, "state", lambda _: "abcdef1-dirty"), mock.patch.object(main, "prepare", self.fail):
            with mock.patch.object(sys, "argv", ["torture", "--only", "contract"]), self.assertRaisesRegex(LabError, "abcdef1-dirty"):
                main.main()

    def test_for_a_row_that_is_done_nothing_is_built(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "runs.jsonl"
            file.write_text(json.dumps(run(180, row="contract table", kernel="6.1", commit="abcdef1")) + "\n", encoding="utf-8")
            prepared: list = []
            with mock.patch.object(main, "prepare", prepared.extend), mock.patch.object(main, "torture", lambda *_: []), \
                    mock.patch.object(sys, "argv", ["torture", "--only", "contract", "--store", str(file)]), redirect_stdout(io.StringIO()):
                self.assertEqual(main.main(), 0)
            self.assertEqual([kernel for _, kernel in prepared], ["6.12", "6.1-debug"])

    def test_the_state_of_a_tree_is_its_commit_and_whether_anything_differs_but_what_runs_write(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("kmod.c", *runs.DOCS):
                (Path(folder) / name).parent.mkdir(exist_ok=True)
                (Path(folder) / name).touch()
            git(folder, "init", "-q")
            git(folder, "add", ".")
            git(folder, "commit", "-qm", "all")
            clean = runs.state(Path(folder))
            self.assertTrue(runs.is_commit(clean), clean)
            (Path(folder) / runs.DOCS[0]).write_text("a run", encoding="ascii")
            self.assertEqual(runs.state(Path(folder)), clean)
            (Path(folder) / "new.c").touch()
            self.assertEqual(runs.state(Path(folder)), f"{clean}-dirty")

    def test_a_failed_row_is_not_repeated(self):
        self.assertTrue(runs.has_enough(ROW, "6.1", [run(1, failed="x")]))
        self.assertFalse(runs.has_enough(ROW, "6.1", [run(99)]))

    def test_an_explained_failure_and_a_run_of_no_known_commit_neither_end_a_row_nor_count(self):
        aside = [run(500, failed="lost", explained="the host's disk was full"), run(500, commit=runs.UNKNOWN)]
        self.assertFalse(runs.has_enough(ROW, "6.1", [*aside, run(99)]))
        self.assertTrue(runs.has_enough(ROW, "6.1", [*aside, run(100)]))

    def test_a_run_lasts_as_what_is_left_needs_by_the_rate_of_earlier_runs(self):
        older = run(40, seconds=10, older=True)  # 4 a second
        self.assertEqual(runs.length(ROW, "6.1", [older], 25), 25, "50 s for twice the 100 that are wanted")
        self.assertEqual(runs.length(ROW, "6.1", [older], 60), 50)
        self.assertEqual(runs.length(ROW, "6.1", [older, run(80, seconds=20)], 60), 10)
        self.assertEqual(runs.length(ROW, "6.1", [older, run(99, seconds=25)], 60), ROW.seconds, "and never less")
        self.assertEqual(runs.length(ROW, "6.1", [], 25), ROW.seconds, "nothing to go by")
        self.assertEqual(runs.length(ROW, "6.1", [older], 2), 2, "--quick")

    def test_a_fuzzer_is_about_all_that_it_is_compiled_of(self):
        text = (ROOT / "tests/fuzz/run").read_text(encoding="utf-8")
        compiled = {name: words.strip("\"'").split() for name, words in re.findall(r"^(\w+)\).*?sources=(\"[^\"]*\"|'[^']*'|\S+)", text, re.M | re.S)}
        self.assertEqual(set(compiled), {name for name, _, _ in FUZZED})
        for name, _, about in FUZZED:
            sources = [f"tests/fuzz/{name}.cpp", *(str(file.relative_to(ROOT)) for word in compiled[name] for file in ROOT.glob(word))]
            told = subprocess.run(["c++", "-std=c++20", "-MM", "-Idaemon", "-Iinclude", "-Iuapi", "-Itools/hmkctl", *sources], cwd=ROOT,
                                  check=True, text=True, stdout=subprocess.PIPE).stdout
            used = {word for word in told.replace("\\\n", " ").split() if word.startswith(("daemon/", "include/", "uapi/", "tools/"))}
            self.assertTrue(used)
            self.assertEqual({file for file in used if not any(file == path or file.startswith(f"{path}/") for path in about)}, set(), name)

    def test_a_run_of_an_older_module_counts_for_nothing_and_is_told_of(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            def commit(file: str) -> str:
                (root / file).parent.mkdir(exist_ok=True)
                (root / file).write_text(file + str(len(list(root.rglob("*")))), encoding="ascii")
                for words in (["init", "-q"], ["add", "."], ["commit", "-qm", file]):
                    git(folder, *words)
                return runs.state(root)
            old, new, newest = commit("kmod/a.c"), commit("kmod/b.c"), commit("daemon/c.cpp")
            commit("kmod/README.md")
            def older(commits: Sequence[str], about: Sequence[str]) -> List[bool]:
                return [runs.is_older(root, run(1, commit=each), about, {runs.subject(root, "HEAD", about)}) for each in commits]
            self.assertEqual(older((old, new, newest, "abcdef1"), MODULE), [True, False, False, True])
            self.assertEqual(older((new, newest), ("daemon/c.cpp", "uapi")), [True, False], "a parser is hmkd's")
            kept = [{"commit": "abcdef1", "subject": runs.subject(root, each)} for each in (old, new)]
            today = {kept[1]["subject"]}
            self.assertEqual([runs.is_older(root, each, MODULE, today) for each in kept], [True, False], "the content counts, wherever it lies")
            today = runs.alike(kept[1]["subject"], [[kept[0]["subject"], kept[1]["subject"]]])
            self.assertEqual([runs.is_older(root, each, MODULE, today) for each in kept], [False, False], "so does other content of the same code")
            self.assertEqual(runs.alike("c", [["a", "b"], ["b", "c"], ["d", "e"]]), {"a", "b", "c"})
            self.assertEqual(runs.whole(root, ROW, "6.1", {}, 1)["subject"], kept[1]["subject"])
        done = [run(500, commit=old, older=True), run(60)]
        self.assertFalse(runs.has_enough(ROW, "6.1", done))
        total = sums.add_up(ROW, "6.1", done)
        self.assertEqual((total["count"], total["verdict"]), (60, "fewer"))
        self.assertIn("## Runs of an older module, counted for nothing\n\n", sums.page([total]))
        self.assertIn(f"- kills, many, 6.1: {old}: 500\n", sums.page([total]))

    def test_what_a_test_finds_lost_is_counted_and_said(self):
        with tempfile.TemporaryDirectory() as folder:
            test = e2e.EndToEnd(Path(folder), Path("61-x"), Path("test.py"), "6.1", {})
            told = runs.figures(ROW, test, Outcome(FAIL, reason="exit status 1", output=["ok: it runs", "LOST: 0x7f00 holds 0, not 1"]))
        self.assertEqual((told["lost"], told["failed"]), (1, "fail: exit status 1: LOST: 0x7f00 holds 0, not 1"))

    def test_runs_of_one_test_in_one_checkout_take_turns(self):
        figures: List[int] = []
        others = threading.Barrier(2)

        def outcome(test: e2e.EndToEnd) -> Outcome:
            test.results.mkdir(parents=True, exist_ok=True)
            with self.assertRaises(threading.BrokenBarrierError):  # the other one does not come in
                others.wait(0.5)
            others.reset()
            figures.append(len(figures) + 1)
            (test.results / "figures.json").write_text(json.dumps({"count": figures[-1]}), encoding="ascii")
            return Outcome(PASS)

        with tempfile.TemporaryDirectory() as folder, mock.patch.object(e2e.EndToEnd, "outcome", outcome):
            tests = [e2e.EndToEnd(Path(folder), Path("63-x"), Path("test.py"), "6.1", {})]
            with mock.patch.object(e2e, "collect", lambda *_: tests), ThreadPoolExecutor(2) as pool:
                both = list(pool.map(lambda _: runs.perform(Path(folder), ROW, "6.1", 1), range(2)))
                self.assertEqual(tests[0].run().outcome, PASSED)
        self.assertEqual(sorted(done["count"] for done in both), [1, 2], both)

    def test_a_program_that_cannot_run_is_a_failed_run(self):
        done = runs.perform(ROOT, Row("no such", "none", {"6.1": 1}), "6.1", 1)
        self.assertIn("tests/e2e/none-* is not for 6.1", done["failed"])


class Same(unittest.TestCase):
    SOURCE = "static int a(void) { return 1; } static int b(void) { return 2; } int (*const table[])(void) = { a, b }; int sum(int x) { return x + 7; }"

    def code(self, old: str = "", new: str = "") -> str:
        """Of the source, with some text of it changed."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "m.o"
            subprocess.run(["gcc", "-O2", "-fno-pie", "-x", "c", "-c", "-o", str(file), "-"], check=True, text=True,
                           input=self.SOURCE.replace(old, new) if old else self.SOURCE)
            return same.code(file)

    def test_a_comment_is_no_change_of_the_code_and_an_instruction_a_table_or_a_string_is(self):
        self.assertEqual(self.code("x + 7", "x /* seven more */ + 7"), self.code())
        for change in (("x + 7", "x + 8"), ("{ a, b }", "{ b, a }"), ("x + 7", 'x + *(volatile const char *)"7"')):
            self.assertNotEqual(self.code(*change), self.code(), change)


class Rows(unittest.TestCase):
    def test_every_row_has_its_test(self):
        for row in ROWS:
            found = [ROOT / f"tests/fuzz/{row.test}.cpp"] if USER in row.wanted else list((ROOT / "tests/e2e").glob(f"{row.test}-*"))
            self.assertTrue(found and found[0].exists(), row)
            self.assertGreaterEqual(row.seconds, row.quick)

    def test_the_suite_runs_a_row_s_test_once_and_every_other_test_as_before(self):
        guests, rows = e2e.collect(ROOT, ("6.1",)), torture.collect(ROOT, ("6.1",))
        left = torture.without(guests, rows)
        of_rows = {row.row.test for row in rows}
        self.assertFalse([test.name for test in left if test.folder.name[:2] in of_rows and test.clock == "host"])
        gone = {test.name for test in guests} - {test.name for test in left}
        self.assertEqual({name[len("e2e/"):][:2] for name in gone}, of_rows - {row.row.test for row in rows if row.kernel == USER})


if __name__ == "__main__":
    unittest.main()
