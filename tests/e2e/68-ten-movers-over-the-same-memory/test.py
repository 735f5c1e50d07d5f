#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 240
# seconds: 6
"""Ten movers, killed now and then, move the same memory of a program that is killed now and then, one node is full to
the last page, and all the time somebody tries to unload the module: no write is lost, nothing leaks, it unloads in the end."""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FULL_NODE = 1


def fill(node: int) -> subprocess.Popen:
    """A program that holds all of it; `--preferred`, so that the last page is no reason to end it."""
    size = lib.node_free_bytes(node) + (8 << 20)
    hog = subprocess.Popen(["numactl", f"--preferred={node}", "/usr/bin/python3", "-c",
                            f"held = bytearray({size}); print('full', flush=True); input()"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, text=True)
    lib.check(hog.stdout.readline() == "full\n", f"node {node} is full: {lib.node_free_bytes(node) >> 10} kB free")
    return hog


def fuzz(seconds: int) -> tuple:
    """Pages moved, and how often the unload was refused meanwhile."""
    refused = 0
    with subprocess.Popen(["taskset", "-c", "0,1", lib.helper("movers"), str(seconds), seed], stdout=subprocess.PIPE,
                          text=True) as program:
        while program.poll() is None:
            lib.check(lib.run("rmmod", "hmk", check_status=False).returncode != 0, "a module in use is not unloaded")
            refused += 1
        said = program.stdout.read()
    print(said, flush=True)
    lib.check(program.returncode == 0, f"the movers hold for {seconds} s")
    moved = {mode: int(pages) for mode, pages in re.findall(r"pages_(\w+) (\d+)", said)}
    lib.check(all(moved.values()), f"pages by the way of asking: {moved}")
    return sum(moved.values()), refused


Path("/proc/sys/kernel/pid_max").write_text("400", encoding="ascii")  # a PID comes again within a hundred forks
seed = lib.seed()
lib.load_module()
keep = os.open("/dev/hmk", os.O_RDWR)
fuzz(1)  # what is made once and kept
books = lib.Books()
hog = fill(FULL_NODE)
moved, refused = fuzz(int(os.environ["HMK_SECONDS"]))
lib.check(moved > 0 and refused > 0, f"{moved} pages were moved, {refused} attempts to unload were refused")
hog.communicate("\n")
os.close(keep)
lib.figures(count=moved, lost=0)
lib.unload_module()
books.balanced()
