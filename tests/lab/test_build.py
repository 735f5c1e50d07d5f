# SPDX-License-Identifier: MIT
"""User space is compiled once on a machine, whichever checkout it is in."""
import functools
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))
from lab.build import remembering  # noqa: E402

PROJECT = "cmake_minimum_required(VERSION 3.24)\nproject(one C)\nset(CMAKE_UNITY_BUILD ON)\nadd_library(one STATIC one.c)\n"


class Remembering(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        clean = {name: value for name, value in os.environ.items() if "CCACHE" not in name and "LAUNCHER" not in name}
        self.enterContext(mock.patch.dict(os.environ, {**clean, "HMK_CACHE": str(self.folder / "cache")}, clear=True))

    def enterContext(self, context):  # unittest has it from Python 3.11 on
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def counts(self, root):
        """Hits and misses so far."""
        told = subprocess.run(["ccache", "--print-stats"], check=True, env=remembering(root), stdout=subprocess.PIPE, text=True).stdout
        count = {name: int(value) for name, value in (line.split("\t") for line in told.splitlines())}
        return count["direct_cache_hit"] + count["preprocessed_cache_hit"], count["cache_miss"]

    def compile_in(self, name):
        """Hits and misses of a build there; CMake's own tries of the compiler do not count."""
        root = self.folder / name
        root.mkdir()
        (root / "CMakeLists.txt").write_text(PROJECT, encoding="ascii")
        (root / "one.h").write_text("int one(void);\n", encoding="ascii")
        (root / "one.c").write_text('#include "one.h"\nint one(void) { return 1; }\n', encoding="ascii")
        cmake = functools.partial(subprocess.run, cwd=root, check=True, env=remembering(root), stdout=subprocess.DEVNULL)
        cmake(["cmake", "-G", "Ninja", "-B", "build"])
        hits, misses = self.counts(root)
        cmake(["cmake", "--build", "build"])
        now = self.counts(root)
        return now[0] - hits, now[1] - misses

    def test_what_one_checkout_has_compiled_another_does_not_compile_again(self):
        self.assertEqual(self.compile_in("a"), (0, 1))
        self.assertEqual(self.compile_in("b"), (1, 0))
        self.assertTrue((self.folder / "cache/compiled").is_dir())

    def test_what_is_set_stays_as_it_is(self):
        with mock.patch.dict(os.environ, {"CCACHE_DIR": "/mine"}):
            self.assertEqual(remembering(self.folder)["CCACHE_DIR"], "/mine")

    def test_without_ccache_nothing_changes(self):
        with mock.patch.dict(os.environ, {"PATH": str(self.folder)}):
            self.assertEqual(remembering(self.folder), dict(os.environ))


if __name__ == "__main__":
    unittest.main()
