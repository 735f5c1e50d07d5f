# SPDX-License-Identifier: MIT
"""Man pages: every key of the configuration, every function of the library, and what help is taken for. Commands: package_pages.py."""
import re
import subprocess
import sys
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import package_plan as plan

sys.path.insert(0, str(plan.ROOT / "packaging/man"))
import fill  # noqa: E402

HELP = """Show.
Usage: x [OPTIONS] file

Positionals:
  file TEXT REQUIRED          the file to write

Options:
  -h,--help                   Print this help message and exit
  --for FLOAT:FLOAT UNIT:POSITIVE
                              end after this time, for example 10min
  --foreground-log-level,--log-level TEXT
                              error or info

Exit codes: 0 ok.
"""


def page(template: str, *source: str) -> str:
    """A page as it is made."""
    with TemporaryDirectory() as scratch:
        out = Path(scratch) / "page"
        fill.main(str(plan.ROOT / f"packaging/man/{template}.in"), str(out), "9.9", "/doc", *source)
        return out.read_text(encoding="utf-8")


class Pages(unittest.TestCase):
    """What cannot be asked of a program."""

    def test_every_key_of_the_configuration_is_described(self) -> None:
        text = page("hmkd.yaml.5", str(plan.ROOT / "configs/hmkd.yaml"))
        keys = re.findall(r'\bKey\{\s*"(\w+)"', (plan.ROOT / "daemon/config/keys.cpp").read_text(encoding="utf-8"))
        self.assertGreater(len(keys), 30)
        for key in keys:
            found = re.search(rf'(?m)^\.BR {key} " \(default: .*\)"\n((?:\.TQ\n\.BR .*\n)*)(.*)$', text)
            self.assertTrue(found and found.group(2) and not found.group(2).startswith((".TP", ".SS")), f"{key} is not described")

    def test_every_function_of_the_library_is_described(self) -> None:
        text = page("libhmk.3")
        headers = "".join((plan.ROOT / f"include/hmk/{name}").read_text(encoding="utf-8") for name in ("hints.h", "move.h", "table_reader.h"))
        functions = re.findall(r"(?m)^(?:static inline )?(?:long|int|uint64_t|void|hmk_object) (\w+[^_\W])\(", headers)
        self.assertIn("hmk_table_read", functions)
        self.assertIn("hmk_register", functions)
        for name in functions:
            self.assertIn(name, text.split(".SH SYNOPSIS")[0], f"{name} is not in NAME")
            self.assertGreaterEqual(text.count(name), 3, f"{name} is not described")

    def test_every_errno_of_the_library_is_described(self) -> None:
        for header in ("move.h", "hints.h"):
            for returned in (plan.ROOT / "include/hmk" / header).read_text(encoding="utf-8").split("Return:")[1:]:
                for name in re.findall(r"\bE[A-Z0-9]{3,}\b", returned.split("*/")[0]):
                    self.assertIn(name, page("libhmk.3"))

    def test_help_is_taken_apart(self) -> None:
        self.assertEqual(fill.section(HELP, "Positionals"), [("file TEXT REQUIRED", "the file to write")])
        self.assertEqual(fill.section(HELP, "Options"), [
            ("-h,--help", "Print this help message and exit"),
            ("--for FLOAT:FLOAT UNIT:POSITIVE", "end after this time, for example 10min"),
            ("--foreground-log-level,--log-level TEXT", "error or info")])

    def test_roff_takes_nothing_for_a_request(self) -> None:
        self.assertEqual(fill.escaped(".5"), "\\&.5")
        self.assertEqual(fill.escaped("it's a-b\\c"), "it\\(aqs a\\-b\\ec")

    def test_man_has_nothing_to_say_against_them(self) -> None:
        for name, source in (("libhmk.3", ()), ("hmkd.yaml.5", (str(plan.ROOT / "configs/hmkd.yaml"),))):
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], check=False, input=page(name, *source), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual((done.returncode, done.stdout), (0, ""), name)


if __name__ == "__main__":
    unittest.main()
