# SPDX-License-Identifier: MIT
"""Options of the debug kernel: what Kconfig dropped is named, what is wanted is really in the fragment."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/lab.d"))

from lab.debug import check_options, read_options, wanted_options  # noqa: E402
from lab.errors import LabError  # noqa: E402
from lab.kernels import DEBUG, GATES, KCSAN, SERIES  # noqa: E402


def options(text: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.config"
        file.write_text(text, encoding="utf-8")
        return read_options(file)


class Fragment(unittest.TestCase):
    def test_comments_and_empty_lines_are_no_options(self):
        self.assertEqual(options("# CONFIG_A=y\n\nCONFIG_B=n\nCONFIG_C=64\n"), {"CONFIG_B": "n", "CONFIG_C": "64"})

    def test_a_line_kconfig_would_ignore_is_an_error_with_its_place(self):
        with self.assertRaisesRegex(LabError, r"x\.config:2: 'KASAN=y'"):
            options("CONFIG_A=y\nKASAN=y\n")

    def test_an_option_set_twice_is_an_error(self):
        with self.assertRaisesRegex(LabError, r"x\.config:2: CONFIG_A is set twice"):
            options("CONFIG_A=y\nCONFIG_A=n\n")

    def test_ours_asks_for_the_checkers(self):
        ours = wanted_options(DEBUG)
        for name in ("KASAN", "KASAN_INLINE", "PROVE_LOCKING", "DEBUG_ATOMIC_SLEEP", "PAGE_TABLE_CHECK_ENFORCED", "UBSAN",
                     "DEBUG_KMEMLEAK", "SLUB", "PANIC_ON_OOPS"):
            self.assertEqual(ours.get(f"CONFIG_{name}"), "y", name)

    def test_a_later_fragment_wins(self):
        ours = wanted_options(KCSAN)
        self.assertEqual([ours[f"CONFIG_{name}"] for name in ("KCSAN", "KASAN", "DEBUG_VM")], ["y", "n", "y"])


class Assertion(unittest.TestCase):
    MADE = "CONFIG_KASAN=y\n# CONFIG_SLOB is not set\nCONFIG_NR_CPUS=64\n"

    def test_all_as_wanted(self):
        check_options({"CONFIG_KASAN": "y", "CONFIG_SLOB": "n", "CONFIG_ABSENT": "n", "CONFIG_NR_CPUS": "64"}, self.MADE)

    def test_a_dropped_option_is_named_in_one_line(self):
        with self.assertRaises(LabError) as caught:
            check_options({"CONFIG_KASAN": "y", "CONFIG_SWAP": "y", "CONFIG_SLOB": "y"}, self.MADE)
        self.assertRegex(str(caught.exception), "CONFIG_SWAP is n, not y, CONFIG_SLOB is n, not y")
        self.assertNotIn("\n", str(caught.exception))
        self.assertNotIn("KASAN", str(caught.exception))

    def test_another_value_and_a_longer_name_do_not_pass(self):
        for wanted in ({"CONFIG_NR_CPUS": "6"}, {"CONFIG_KASAN": "n"}, {"CONFIG_KASA": "y"}):
            with self.assertRaises(LabError):
                check_options(wanted, self.MADE)


class Series(unittest.TestCase):
    def test_it_is_no_gate(self):
        for series in (DEBUG, KCSAN):
            self.assertIn(series, SERIES)
            self.assertNotIn(series, GATES)


if __name__ == "__main__":
    unittest.main()
