#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.1 6.12
# timeout: 300
# clock: instructions
"""Huge pages on the slow node of which the program uses the lower halves only are split, and the halves come to the fast
node alone. When it uses all of them the rest follows; what is hot all over then, and mapped by small entries, is joined by
hmkd into huge pages again, and stays so. Every write is kept. Nothing is joined while `join_huge` is no."""
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import List

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HUGE, PAGE = 2 << 20, 4096
SETTINGS = Path("/sys/kernel/mm/transparent_hugepage")
STEADY = 8  # intervals after which hmkd joins, at the earliest


class Program:
    """parts, and where its area is."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([lib.helper("parts")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pid, self.start, self.length = (int(word) for word in self.process.stdout.readline().split())
        self.pages, self.huge_pages = self.length // PAGE, self.length // HUGE

    def tell(self, letter: str) -> List[int]:
        """Wrong words, passes, pages on the fast node."""
        self.process.stdin.write(letter + "\n")
        return [int(word) for word in self.process.stdout.readline().split()]

    def huge(self) -> int:
        """Huge pages of all of it that are mapped as such. Looking costs the guest's clock."""
        time.sleep(1)
        text = Path(f"/proc/{self.pid}/smaps_rollup").read_text(encoding="ascii")
        return int(re.search(r"^AnonHugePages: +(\d+) kB", text, re.M).group(1)) * 1024 // HUGE


def stats() -> dict:
    """Of the program, from hmkd. Looking costs the guest's clock."""
    time.sleep(1)
    row = lib.ask_hmkd("stats")["targets"][0]
    print({name: row[name] for name in ("intervals", "huge_examined", "huge_split", "huge_left", "huge_joined",
                                        "huge_not_joined", "join_ns", "promoted_bytes", "demoted_bytes")}, flush=True)
    return row


def is_fast(pages: int) -> bool:
    """Whether so many are on the fast node."""
    found = program.tell("w")
    print(found, stats()["intervals"], flush=True)
    return found[2] >= pages


def is_joined() -> bool:
    """Whether all are huge pages. What hmkd sees and does meanwhile is printed."""
    stats()
    gain = lib.ask_hmkd("gain")["targets"][0]
    print({name: gain[name] for name in ("scale", "horizon_intervals")}, flush=True)
    regions = lib.ask_hmkd("regions")["targets"][0]["regions"]
    for row in regions:
        if row["start"] < program.start + program.length and program.start < row["start"] + row["length"]:
            print({name: row[name] for name in ("length", "whi", "rate", "rate_factor", "leaf_bytes", "resident_bytes", "away_bytes",
                                                "samples", "state")}, (row["start"] - program.start) / HUGE, flush=True)
    return program.huge() == program.huge_pages


for setting, value in (("enabled", "madvise"), ("khugepaged/scan_sleep_millisecs", "3600000")):
    (SETTINGS / setting).write_text(value, encoding="ascii")
lib.load_module()
program = Program()
lib.check(program.huge() == program.huge_pages, f"it begins with {program.huge_pages} huge pages")
daemon = lib.start_hmkd("mode: track-only\ninterval: 500ms\noverhead: 50%\ntiers: [0, 1]\ngovernor: off\nlog_level: debug\n"
                        f"split_huge: yes\njoin_huge: no\nattach: [{program.pid}]\n", Path("/run/hmkd.log"))
lib.wait_for(lambda: stats()["huge_split"] == program.huge_pages, 90, "all are split: their halves differ")
lib.check(program.huge() == 0, "none is a huge page any more")
lib.ask_hmkd("set", "mode", "manage")
lib.wait_for(lambda: is_fast(program.pages // 2), 60, "the halves that are used come to the fast node")
lib.ask_hmkd("set", "split_huge", "no")
program.tell("e")
lib.wait_for(lambda: is_fast(program.pages), 60, "the others follow when they are used")
BEGAN = stats()["intervals"]
lib.wait_for(lambda: stats()["intervals"] > BEGAN + 2 * STEADY, 60, "and are all hot for a while")
lib.check(program.huge() == 0 and stats()["huge_joined"] == 0, "nothing is joined unless asked for")
lib.ask_hmkd("set", "join_huge", "yes")
lib.wait_for(is_joined, 90, "all are huge pages again")
lib.wait_for(lambda: stats()["huge_joined"] == program.huge_pages, 30, "that is told")
SEEN = program.tell("w")
lib.check(SEEN[2] == program.pages, "on the fast node")
BEGAN = stats()["intervals"]
lib.wait_for(lambda: stats()["intervals"] > BEGAN + 2 * STEADY, 60, "some intervals later")
lib.check(stats()["huge_joined"] == program.huge_pages and program.huge() == program.huge_pages, "nothing was joined twice")
LAST = program.tell("w")
lib.check(LAST[1] > SEEN[1], f"the program went on: {LAST[1]} passes")
lib.intact(LAST[0] == 0, "every write was kept")
lib.end_hmkd(daemon)
program.process.stdin.close()
lib.check(program.process.wait(30) == 0, "the program ends")
lib.unload_module()
