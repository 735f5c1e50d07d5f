# SPDX-License-Identifier: MIT
"""Counts per page as the plugin writes them: a head, then six little-endian words of 64 bits for each page."""
import struct
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/lab.d"))

from lab import pages  # noqa: E402
from lab.errors import LabError  # noqa: E402
from lab.outcome import Mark  # noqa: E402


def head(told: int = 3) -> bytes:
    return b"hmkpages" + struct.pack("<Q", told)


class PageCounts(unittest.TestCase):
    def read(self, data: bytes) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "pages-3.bin"
            file.write_bytes(data)
            return pages.read(file)

    def test_six_words_become_the_counts_of_a_page(self):
        self.assertEqual(self.read(head() + struct.pack("<12Q", 0x7f0000000, 5, 3, 1, 2, 0, 1, 1 << 40, 0, 7, 1, 3)),
                         {0x7f0000000: pages.Count(misses=5, streamed=3, written_back=1, visits=2, node=0), 1: pages.Count(1 << 40, 0, 7, 1, 3)})
        self.assertEqual(self.read(head()), {})

    def test_half_a_page_half_a_head_and_no_file_are_errors(self):
        for data in (head() + struct.pack("<11Q", *range(11)), head() + b"12345", head()[:8], b""):
            with self.assertRaisesRegex(LabError, "pages-3.bin: .* ended while writing"):
                self.read(data)
        with self.assertRaisesRegex(LabError, "pages=True"):
            pages.read(Path("/nonexistent/pages-0.bin"))

    def test_pairs_without_a_head_are_refused_whatever_their_number(self):
        for pairs in range(1, 9):
            with self.assertRaisesRegex(LabError, "pages-3.bin: format 1, wanted 3; run the guest again"):
                self.read(struct.pack(f"<{2 * pairs}Q", *range(2 * pairs)))

    def test_other_formats_are_refused(self):
        for told in (2, 4):
            with self.assertRaisesRegex(LabError, f"format {told}, wanted 3"):
                self.read(head(told) + struct.pack("<6Q", 1, 2, 1, 0, 1, 0))

    def test_a_mark_names_its_file(self):
        self.assertEqual(pages.file_of(Path("/r"), Mark(14, 3, {})).name, "pages-3.bin")


if __name__ == "__main__":
    unittest.main()
