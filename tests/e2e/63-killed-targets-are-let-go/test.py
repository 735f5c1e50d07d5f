#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# clock: instructions host
# gate: 6.12
# timeout: 240
# seconds: 2
"""Targets killed while they are moved and profiled: their memory is free within a second by the clock that counts
instructions (the host's own goes on while the host is busy elsewhere), and after a few calls by either; nothing leaks.
It goes on, a minute at most, until somebody was killed in every way of asking for a move, and pages had moved in every
way: a busy host gets to few kills in the time asked for, hence the time limit."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402


def kill(seconds):
    """How many were killed, and by the way of asking how many of them and what had moved."""
    seed = lib.seed()
    late = 0 if os.environ["HMK_CLOCK"] == "instructions" else 100  # in a hundred
    done = lib.run("taskset", "-c", "0,1", lib.helper("kill"), seconds, seed, late)
    print(done.stdout, flush=True)
    of = {mode: (int(kills), int(pages)) for mode, kills, pages in re.findall(r"asked (\w+): (\d+) kills, (\d+) pages", done.stdout)}
    return int(re.search(r"kills (\d+)", done.stdout).group(1)), of


lib.load_module()
kill(1)
lib.unload_module()
books = lib.Books()
lib.load_module()
kills, of = kill(int(os.environ["HMK_SECONDS"]))
lib.check(kills > 0, f"{kills} targets were killed mid-move")
lib.check(all(killed and pages for killed, pages in of.values()), f"kills and pages by the way of asking: {of}")
lib.figures(count=kills, lost=0, of={f"asked {mode}": killed for mode, (killed, _) in of.items()})
lib.unload_module()
books.balanced()
