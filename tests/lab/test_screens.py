# SPDX-License-Identifier: MIT
"""tools/screens: what a terminal showed, as SVG."""
import os
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/screens.d"))
import terminal  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def drawn(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(terminal.to_svg(text))


class Terminal(unittest.TestCase):
    def test_text_is_where_it_was_and_escaped(self):
        words = drawn("a\n  <b> & \x1b[31mred\x1b[0m\n\n").findall(f"{SVG}text")
        self.assertEqual([word.text for word in words], ["a", "  <b> & ", "red"])
        self.assertEqual([word.get("y") for word in words], ["25", "42", "42"])
        self.assertEqual(float(words[2].get("x")), round(terminal.MARGIN + 8 * terminal.WIDTH, 1))
        self.assertEqual([word.get("fill") for word in words], [terminal.INK, terminal.INK, terminal.BASIC[1]])

    def test_colours_of_all_kinds(self):
        self.assertEqual([terminal.colour(n) for n in (9, 16, 231, 232)], ["#f14c4c", "#000000", "#ffffff", "#080808"])
        self.assertEqual(terminal.styled(terminal.Style(), [38, 5, 196, 44]).colours(), ("#ff0000", terminal.BASIC[4]))
        self.assertEqual(terminal.styled(terminal.Style(), [7, 91]).colours(), (terminal.PAPER, terminal.BASIC[9]))
        self.assertEqual(terminal.styled(terminal.Style("#123456"), [1, 39]).ink, terminal.INK)

    def test_a_painted_space_stays(self):
        paper = [box.get("fill") for box in drawn("x\x1b[48;5;196m  \x1b[m").findall(f"{SVG}rect")]
        self.assertEqual(paper, [terminal.PAPER, "#ff0000"])

    def test_a_picture_is_its_owners_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            picture = Path(folder) / "x.svg"
            before = os.umask(0)
            try:
                for old in (None, "a longer picture"):
                    if old:
                        picture.write_text(old, encoding="utf-8")
                        picture.chmod(0o644)
                    terminal.write_private(picture, "new")
                    self.assertEqual((picture.stat().st_mode & 0o7777, picture.read_text(encoding="utf-8")), (0o600, "new"))
            finally:
                os.umask(before)

    def test_empty_lines_at_the_end_take_no_room(self):
        self.assertEqual(terminal.to_svg("a\n"), terminal.to_svg("a\n\n  \n"))


if __name__ == "__main__":
    unittest.main()
