# SPDX-License-Identifier: MIT
"""Which package is the newest plain kernel of a series."""
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/lab.d"))

from lab.errors import UsageError  # noqa: E402
from lab.kernels import kernel, pick  # noqa: E402


class KernelNames(unittest.TestCase):
    """Made-up numbers: no version of a real archive is written down here."""

    def test_numbers_are_compared_as_numbers(self):
        names = ["linux-image-6.1.0-9-amd64", "linux-image-6.1.0-10-amd64"]
        self.assertEqual(pick(names, "6.1"), "linux-image-6.1.0-10-amd64")

    def test_a_series_does_not_match_a_longer_one(self):
        names = ["linux-image-6.12.3+deb12-amd64", "linux-image-6.1.0-1-amd64"]
        self.assertEqual(pick(names, "6.1"), "linux-image-6.1.0-1-amd64")

    def test_other_flavours_are_left_out(self):
        flavours = ["cloud-amd64", "rt-amd64", "amd64-dbg", "amd64-unsigned", "cloud-amd64-dbg", "arm64"]
        self.assertIsNone(pick([f"linux-image-6.1.0-9-{flavour}" for flavour in flavours], "6.1"))

    def test_meta_packages_are_left_out(self):
        self.assertIsNone(pick(["linux-image-6.12-amd64", "linux-image-amd64"], "6.12"))

    def test_backports_spelling_is_understood(self):
        names = ["linux-image-6.12.9+bpo-amd64", "linux-image-6.12.12+bpo-amd64"]
        self.assertEqual(pick(names, "6.12"), "linux-image-6.12.12+bpo-amd64")

    def test_newest_takes_the_highest_of_all_series(self):
        names = ["linux-image-7.2.1+deb14-amd64", "linux-image-7.10.1+deb14-amd64", "linux-image-6.12.99+deb14-amd64"]
        self.assertEqual(pick(names, "newest"), "linux-image-7.10.1+deb14-amd64")

    def test_a_release_candidate_comes_before_its_release(self):
        names = ["linux-image-7.2~rc3-amd64", "linux-image-7.2.1-amd64"]
        self.assertEqual(pick(names, "newest"), "linux-image-7.2.1-amd64")

    def test_unknown_series_is_a_usage_error(self):
        with self.assertRaises(UsageError):
            kernel("5.10")


if __name__ == "__main__":
    unittest.main()
