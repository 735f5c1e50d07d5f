# SPDX-License-Identifier: MIT
"""Every checker of tools/check-static finds the defect planted for it: one that cannot fail proves nothing."""
import contextlib
import functools
import io
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/check-static.d")]

from lab.apt import install_missing  # noqa: E402
from lab.errors import LabError  # noqa: E402
import kernel  # noqa: E402
import tidy  # noqa: E402
from checkers import CHECKERS  # noqa: E402
from suite import static  # noqa: E402
from suite.case import Report  # noqa: E402
from tree import Tree, findings  # noqa: E402

#: What the finding must tell of, for each checker.
WANTED = {
    "gcc": ["gcc_without_prototype"],
    "sparse": ["dereference of noderef expression"],
    "clang": ["self-comparison"],
    "coccinelle": ["still held on return", "is not put on this way out", "may sleep"],
    "checkpatch": ["CODE_INDENT"],
    "clang-tidy": ["'text' used after it was moved", "Dereference of null pointer", "the parameter 'text' is copied",
                   "use nullptr", "the 'empty' method", "parameter 'number' is unused",  # in a header
                   "daemon/broken.cpp:7:8: error: clang cannot compile it"],
    "cppcheck": ["out of bounds"],
    "mypy": ['expected "str"', "in no folder of PROGRAMS"],
    "pyflakes": ["undefined name 'never_defined'"],
    "shellcheck": ["Double quote"],
}


def units(root, sources):
    """As CMake makes them: files that include sources of daemon/, and the command for each."""
    folder = (root / tidy.DATABASE).parent
    folder.mkdir(parents=True)
    for name, included in sources.items():
        lines = [f'#include "{root}/daemon/{source}.cpp"\n' for source in included]
        (folder / f"{name}.cxx").write_text("".join(lines), encoding="utf-8")
    commands = [{"directory": str(root), "file": f"{folder}/{name}.cxx", "command": f"c++ -std=c++20 -o x.o -c {folder}/{name}.cxx"}
                for name in sources]
    (root / tidy.DATABASE).write_text(json.dumps(commands), encoding="utf-8")


@functools.lru_cache(maxsize=None)
def planted() -> Path:
    """One tree for all, at one place: what a checker leaves in the cache is keyed by the tree's path."""
    root = ROOT / "build/static-planted"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(ROOT / "tests/static/planted", root)
    shutil.copy(ROOT / ".clang-tidy", root)
    for name in ("include", "uapi"):
        (root / name).mkdir(exist_ok=True)
    for name in ("first", "last"):
        (root / f"daemon/{name}.cpp").write_text(f"int {name}() {{ return 1; }}\n", encoding="utf-8")
    units(root, {"several": ["first", "defects", "last"], "one": ["broken"]})
    return root


class Planted(unittest.TestCase):
    def finds(self, name):
        function, packages = CHECKERS[name]
        install_missing(packages, "this test")
        found = function(Tree(planted(), ("6.1",)))
        for wanted in WANTED[name]:
            self.assertTrue([line for line in found if wanted in line], f"{name} finds '{wanted}', it found {found}")


def _add(name):
    setattr(Planted, f"test_{name.replace('-', '_')}_finds_what_is_planted_for_it", lambda self: self.finds(name))


for checker in CHECKERS:
    _add(checker)


class Told(unittest.TestCase):
    """What is planted for one of them comes out where somebody looks."""

    CHEAP = "pyflakes"

    def test_a_run_of_the_suite_fails_by_it(self):
        report = Report()
        with contextlib.redirect_stdout(io.StringIO()) as said:
            report.add(static.run(planted(), self.CHEAP, float("inf")))
            status = report.close()
        self.assertEqual((status, report.failed), (1, [f"check-static/{self.CHEAP}"]))
        self.assertIn(WANTED[self.CHEAP][0], said.getvalue())

    def test_the_command_ends_with_1_and_the_file_has_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "found.json"
            done = subprocess.run([ROOT / "tools/check-static", "--root", planted(), "--only", self.CHEAP, "--json", file],
                                  check=False, stdout=subprocess.DEVNULL)
            rows = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual((done.returncode, [row["checker"] for row in rows]), (1, [self.CHEAP]))
        self.assertTrue(any(WANTED[self.CHEAP][0] in line for line in rows[0]["findings"]))


class ClangTidy(unittest.TestCase):
    """It may have too little time for all files."""

    def test_what_it_has_no_time_for_is_told_and_not_taken_for_clean(self):
        tree = Tree(planted(), ("6.1",), seconds=-1)
        self.assertEqual((tidy.clang_tidy(tree), tree.notes), ([], ["4 of 4 files are left for the next run: -1 s are up"]))

    def test_where_it_did_not_look_it_is_not_taken_for_clean(self):
        with mock.patch.object(tidy, "OPTIONS", ("--no-such-option",)), self.assertRaisesRegex(LabError, "clang-tidy ended with 1"):
            tidy.clang_tidy(Tree(planted(), ("6.1",)))

    def test_what_is_clean_in_one_clone_is_so_in_another_until_a_file_of_it_changes(self):
        def content(root, text):
            shutil.rmtree(root / "build", ignore_errors=True)
            (root / "daemon").mkdir(exist_ok=True)
            (root / "daemon/a.cpp").write_text(text, encoding="utf-8")
            units(root, {"a": ["a"]})
            tree = Tree(root, ("6.1",))
            return tidy._content(tree, next(tidy._units(tree)))

        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            first = content(Path(one), "int a;\n")
            self.assertEqual(content(Path(other), "int a;\n"), first)
            self.assertNotEqual(content(Path(other), "int b;\n"), first)

    def test_the_youngest_files_come_first_new_ones_before_all(self):
        ages = {"a.cpp": 5, "b.hpp": 1, "b.cpp": 7, "c.cpp": 3}
        names = sorted(map(Path, ["a.cpp", "b.cpp", "c.cpp", "new.cpp"]), key=lambda file: tidy._age(ages, file))
        self.assertEqual(list(map(str, names)), ["new.cpp", "b.cpp", "c.cpp", "a.cpp"])


class Lines(unittest.TestCase):
    def test_only_lines_of_files_below_the_tree_are_findings_and_each_once(self):
        lines = ["/t/kmod/a.c:1: warning: x", "/t/kmod/a.c:1: warning: x", "/usr/include/b.h:2: warning: y", "note", "/t/c.c:3: note: z"]
        self.assertEqual(findings(lines, Path("/t")), ["kmod/a.c:1: warning: x"])

    def test_what_kbuild_tells_gcc_alone_is_not_told_clang(self):
        words = ["-I./include", "-fconserve-stack", "-include", "a.h", "-DMODULE", "-mrecord-mcount", "-Wall"]
        self.assertEqual(kernel._kept(words), ["-I./include", "-include", "a.h", "-DMODULE", "-Wall"])


if __name__ == "__main__":
    unittest.main()
