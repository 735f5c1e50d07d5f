#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# What hmkd makes of what it is told; tests/daemon has each part of it with a real program. By night until it was seen on more hosts.
# suite: 6.12
# gate: none
# timeout: 300
"""A program says what it is about to use: that rises before the interval has ended, and what it puts aside makes room for it.
An hmkd that is killed and started again finds all that was said. What is dead is given back. By the module, and by move_pages(2)
alone. A program that nobody manages is told so."""
import errno
import os
import sys
from pathlib import Path
from typing import List

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, PAGES, FOLDER = 1, 2, 2048, Path("/run/hints")
CONTROL = str(FOLDER / "control.sock")
lib.CONTROL = CONTROL
os.environ["HMK_HINTS_SOCKET"] = str(FOLDER / "hints.sock")


def share_on(node: int, start: int) -> float:
    return lib.nodes_of(touch.pid, start, PAGES).count(node) / PAGES


def says(area: int, label: str) -> str:
    return touch.tell(f"register {area} {label}")[0]


def hinted() -> int:
    """Bytes that moved because the program said so."""
    return sum(pair["moved_bytes_by_reason"]["hint"] for pair in lib.ask_hmkd("stats")["targets"][0]["pairs"])


def start(options: List[str]) -> lib.subprocess.Popen:
    # Room for one of the two areas, and intervals that are long beside what a hint takes.
    return lib.start_hmkd(f"mode: manage\ninterval: 5s\noverhead: 20%\nreserve: 8MiB\ntiers: [{FAST}, {SLOW}]\n"
                          f"caps: [{touch.pid}/1={PAGES * 4096 + (2 << 20)}B]\nattach: [{touch.pid}]\n", control=CONTROL, options=tuple(options))


FOLDER.mkdir()
lib.load_module()
for by_module in (True, False):
    options = [] if by_module else ["--device", "/nonexistent"]
    touch = lib.Touch(SLOW)
    first, one = touch.map(PAGES)
    second, other = touch.map(PAGES)
    touch.tell(f"loop read {first} 0 {PAGES} 1")
    lib.check(share_on(SLOW, one) == share_on(SLOW, other) == 1, "all begins in the slow tier")
    daemon = start(options)
    lib.wait_for(lambda: touch.tell("hints") == ["0"], 60, "hmkd listens")
    hot, next_one = says(first, "hot"), says(second, "next")
    lib.wait_for(lambda: share_on(FAST, one) >= 0.95, 120, "what is used rises, by what is measured")
    lib.check(hinted() == 0, "nobody has said anything")
    risen = lib.intervals()
    lib.wait_for(lambda: lib.intervals() >= risen + 2, 60, "two more intervals end, and hmkd knows where it is")

    # Measuring would not tell: nothing is accessed any more.
    touch.tell("stop")
    touch.tell(f"say {hot} archive")
    touch.tell(f"will {next_one} 20")
    lib.wait_for(lambda: share_on(FAST, other) >= 0.95, 60, "what is about to be used rises")
    both = share_on(FAST, one) + share_on(FAST, other)
    print(f"{both:.2f} of two areas are there, 1.25 is the cap")
    lib.check(both <= 1.4 or not by_module, "in the place of what is put aside")  # without it nobody counts where pages are
    lib.check(hinted() >= 0.9 * PAGES * 4096, f"because the program said so: {hinted()} bytes")

    daemon.kill()
    daemon.wait()
    touch.tell(f"say {next_one} archive")
    daemon = start(options)
    lib.wait_for(lambda: touch.tell("hints") == ["0"], 60, "it hears of a new hmkd")
    lib.wait_for(lambda: lib.intervals() >= 1, 60, "an interval ends")
    labels = {row["label"]: row for row in lib.ask_hmkd("labels")["targets"][0]["labels"]}
    lib.check({name: row["says"] for name, row in labels.items()} == {"hot": "archived", "next": "archived"}, f"which knows what was said: {labels}")
    lib.check(labels["next"]["resident_bytes"] == PAGES * 4096 or not by_module, "and where it is")

    touch.tell(f"say {next_one} retire")
    lib.check(set(lib.nodes_of(touch.pid, other, PAGES)) == {-errno.ENOENT}, "what is dead is given back")
    stranger = lib.Touch()
    lib.check(stranger.tell("hints") == [str(-errno.ENOTCONN)], "who is not managed is told so")
    stranger.end()
    lib.end_hmkd(daemon)
    lib.check(touch.tell("hints") == [str(-errno.ENOENT)], "and everybody is when hmkd has ended")
    touch.end()
lib.unload_module()
