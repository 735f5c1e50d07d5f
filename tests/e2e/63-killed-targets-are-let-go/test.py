#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# clock: host instructions
# seconds: 2
"""Targets killed while they are moved and profiled: their memory is free within a second, nothing leaks."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402


def kill(seconds):
    """How many were killed."""
    seed = lib.seed()
    late = 0 if os.environ["HMK_CLOCK"] == "instructions" else 1  # in a hundred: the host may be busy elsewhere
    done = lib.run("taskset", "-c", "0,1", lib.helper("kill"), seconds, seed, late)
    print(done.stdout, flush=True)
    return int(re.search(r"kills (\d+)", done.stdout).group(1))


lib.load_module()
kill(1)
lib.unload_module()
books = lib.Books()
lib.load_module()
kills = kill(int(os.environ["HMK_SECONDS"]))
lib.check(kills > 0, f"{kills} targets were killed mid-move")
lib.figures(count=kills, lost=0)
lib.unload_module()
books.balanced()
