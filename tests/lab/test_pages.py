# SPDX-License-Identifier: MIT
"""Counts per page as the plugin writes them: little-endian pairs of 64 bits."""
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/lab.d"))

from lab import pages  # noqa: E402
from lab.errors import LabError  # noqa: E402
from lab.outcome import Mark  # noqa: E402


class PageCounts(unittest.TestCase):
    def read(self, data: bytes) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "pages-3.bin"
            file.write_bytes(data)
            return pages.read(file)

    def test_pairs_become_counts_by_page(self):
        self.assertEqual(self.read(struct.pack("<4Q", 0x7f0000000, 5, 1, 1 << 40)), {0x7f0000000: 5, 1: 1 << 40})
        self.assertEqual(self.read(b""), {})

    def test_half_a_pair_and_no_file_are_errors(self):
        for data in (struct.pack("<3Q", 1, 2, 3), b"12345"):
            with self.assertRaisesRegex(LabError, "pages-3.bin"):
                self.read(data)
        with self.assertRaisesRegex(LabError, "pages=True"):
            pages.read(Path("/nonexistent/pages-0.bin"))

    def test_a_mark_names_its_file(self):
        self.assertEqual(pages.file_of(Path("/r"), Mark(14, 3, {})).name, "pages-3.bin")


if __name__ == "__main__":
    unittest.main()
