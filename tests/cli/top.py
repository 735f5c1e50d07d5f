#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""top.py WITH_FAKE_HMKD HMKCTL: `hmkctl top` on a terminal sorts, scrolls, follows its size, keeps to NO_COLOR, and leaves on q."""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from typing import Callable, Dict, List, Tuple

LIMIT = 20  # seconds for a condition
SEQUENCE = re.compile(r"\x1b\[([\d;?]*)([A-Za-z])|\x1b([M78=>]|[()][0B])|[\x0e\x0f]|(.)", re.S)


class Terminal:
    """What it shows of what a program writes to it: as much of one as ncurses uses with TERM=screen."""

    def __init__(self, words: List[str], lines: int, columns: int, **extra: str) -> None:
        self.size(lines, columns)
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.pop("NO_COLOR", None)
            os.environ.update({"TERM": "screen", **extra})
            os.execv(words[0], words)
        self.resize(lines, columns)

    def size(self, lines: int, columns: int) -> None:
        self.rows = [[" "] * columns for _ in range(lines)]
        self.row = self.column = self.top = 0
        self.bottom = lines - 1

    def resize(self, lines: int, columns: int) -> None:
        self.size(lines, columns)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self) -> bool:
        """False at its end."""
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            more = os.read(self.fd, 65536).decode("utf-8", "replace")
        except OSError:
            return False
        self.text += more
        for numbers, what, short, letter in SEQUENCE.findall(more):
            if what:
                self.control([int(n or 0) for n in numbers.strip("?").split(";")], what)
            elif short == "M":
                self.reverse()
            elif letter:
                self.put(letter)
        return bool(more)

    def control(self, numbers: List[int], what: str) -> None:
        first = numbers[0]
        if what == "H":
            self.row, self.column = max(first, 1) - 1, max(numbers[-1] if len(numbers) > 1 else 1, 1) - 1
        elif what == "J":
            for row in range(self.row, len(self.rows)):
                self.rows[row][self.column if row == self.row else 0:] = [" "] * (len(self.rows[row]) - (self.column if row == self.row else 0))
        elif what == "K":
            line = self.rows[self.row]
            here = range(self.column, len(line)) if first == 0 else range(self.column + 1)
            for column in here:
                line[column] = " "
        elif what == "r":
            self.top, self.bottom = max(first, 1) - 1, (numbers[-1] if len(numbers) > 1 else len(self.rows)) - 1
            self.row = self.column = 0
        elif what in "ML":
            for _ in range(max(first, 1)):
                self.scroll(self.row, up=what == "M")
        elif what in "Gd":
            self.column, self.row = (max(first, 1) - 1, self.row) if what == "G" else (self.column, max(first, 1) - 1)
        elif what in "@P":  # insert, delete
            line, by = self.rows[self.row], max(first, 1)
            new = line[:self.column] + ([" "] * by + line[self.column:] if what == "@" else line[self.column + by:] + [" "] * by)
            self.rows[self.row] = new[:len(line)]
        elif what in "ABCD":
            by = max(first, 1)
            self.row += {"A": -by, "B": by}.get(what, 0)
            self.column += {"C": by, "D": -by}.get(what, 0)

    def scroll(self, top: int, up: bool) -> None:
        """The lines from `top` to the end of the scrolling region."""
        blank = [" "] * len(self.rows[0])
        if up:
            self.rows[top:self.bottom + 1] = self.rows[top + 1:self.bottom + 1] + [blank]
        else:
            self.rows[top:self.bottom + 1] = [blank] + self.rows[top:self.bottom]

    def reverse(self) -> None:
        if self.row == self.top:
            self.scroll(self.top, up=False)
        else:
            self.row -= 1

    def put(self, letter: str) -> None:
        if letter == "\r":
            self.column = 0
        elif letter == "\n" and self.row == self.bottom:
            self.scroll(self.top, up=True)
        elif letter == "\n":
            self.row += 1
        elif letter == "\b":
            self.column -= 1
        elif letter >= " " and self.row < len(self.rows) and self.column < len(self.rows[0]):
            self.rows[self.row][self.column] = letter
            self.column += 1

    def lines(self) -> List[str]:
        return ["".join(row).rstrip() for row in self.rows]

    def starts(self) -> List[int]:
        """Of the regions that are on the screen, in units of 4 MiB."""
        found = [re.match(r"  0x7f0*([0-9a-f]{8}) ", line) for line in self.lines()]
        return [int(match[1], 16) >> 22 for match in found if match]

    def press(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def wait_for(self, holds: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT
        while not holds():
            if not self.read() or time.monotonic() > end:
                print("\n".join([f"never: {what}; on the screen:", *self.lines()]))
                sys.exit(1)

    def leave(self, keys: bytes = b"q") -> None:
        self.press(keys)
        end = time.monotonic() + LIMIT
        while self.read():
            if time.monotonic() > end:
                print("it does not leave")
                sys.exit(1)
        if os.waitpid(self.pid, 0)[1] != 0:
            print("it leaves with an error")
            sys.exit(1)


def sorts_and_scrolls(top: List[str]) -> None:
    """Of 40 regions; the screen has room for ten."""
    screen = Terminal(top, 24, 200)
    screen.wait_for(lambda: "by hot-slow" in screen.lines()[-1], "it names its order")
    assert "sort by: h hot in a slow tier, s size, r rate, a address, t tier" in screen.lines()[-2], screen.lines()[-2]
    # Address 39 is the hottest and largest, in tier 4; 36 is in tier 1, so it is not hot in a slow one.
    screen.wait_for(lambda: screen.starts()[:6] == [39, 38, 37, 35, 34, 33], "what is hot in a slow tier is first")
    titles, shown = [line for line in screen.lines() if "MAPPING" in line], len(screen.starts())
    assert len(titles) == 1 and any("[heap]" in line or "a <b>" in line for line in screen.lines()), "mappings have names"
    assert any(re.search(r"\[#*=*-*\.*\]$", line) for line in screen.lines()), "a bar for each tier"
    assert any(line.startswith("  MOVES") for line in screen.lines()), "how far moves have come"

    steps: Dict[bytes, List[int]] = {
        b"a": [0, 1], b"\x1bOB": [1, 2], b"\x1bOA": [0, 1], b"\x1b[6~": [shown - 1, shown], b"\x1b[5~": [0, 1],
        b"\x1b[4~": [40 - shown, 41 - shown], b"\x1b[1~": [0, 1], b"s": [39, 38], b"t": [39, 35], b"r": [39, 38], b"h": [39, 38]}
    for key, first in steps.items():
        screen.press(key)
        screen.wait_for(lambda want=first: screen.starts()[:2] == want, f"{key!r} shows {first} first")  # type: ignore[misc]
        assert [line for line in screen.lines() if "MAPPING" in line] == titles, "titles stay"
    screen.press(b"a")
    screen.wait_for(lambda: "by address" in screen.lines()[-1], "it names the order that was asked for")

    screen.resize(34, 200)
    screen.wait_for(lambda: len(screen.starts()) == shown + 10 and "by address" in screen.lines()[-1], "a larger screen shows more")
    screen.resize(12, 80)
    screen.wait_for(lambda: "q: leave" in screen.lines()[-2] and screen.lines()[0].startswith("PID"), "a small one shows what fits")
    screen.press(b"\x1b[4~")
    screen.wait_for(lambda: screen.starts()[-1:] == [39], "and all of it scrolls")
    screen.leave()


def keeps_to_no_color(top: List[str]) -> None:
    cases: List[Tuple[Dict[str, str], bool]] = [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False)]
    for extra, is_coloured in cases:
        screen = Terminal(top, 24, 200, TERM="xterm-256color", **extra)
        screen.wait_for(lambda: "by hot-slow" in screen.text, "it shows something")
        if bool(re.search(r"\x1b\[[\d;]*3[0-7]m", screen.text)) != is_coloured:
            print(f"coloured, or not, against {extra}")
            sys.exit(1)
        screen.leave()


def main(fake: str, hmkctl: str) -> None:
    top = [fake, "--many", hmkctl, "--socket", "@SOCKET@", "top", "--root", "@ROOT@"]
    sorts_and_scrolls(top)
    keeps_to_no_color(top)


if __name__ == "__main__":
    main(*sys.argv[1:])
