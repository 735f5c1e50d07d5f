#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# seconds: 2
"""The module is loaded, used, refused to go while in use, and unloaded, over and over: nothing stays behind."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402


MODULE = "/run/hmk.ko"  # without what a debugger wants: most of it, read anew each time


def cycle(seconds):
    """How often."""
    done = lib.run("taskset", "-c", "0,1", lib.helper("cycle"), MODULE, seconds)
    print(done.stdout, flush=True)
    return int(re.search(r"cycles (\d+)", done.stdout).group(1))


lib.run("strip", "--strip-debug", "-o", MODULE, os.environ["HMK_MODULE"])
cycle(1)
books = lib.Books()
cycles = cycle(int(os.environ["HMK_SECONDS"]))
lib.check(cycles >= 4, f"{cycles} times loaded, used and unloaded")
lib.figures(count=cycles, lost=0)
books.balanced()
