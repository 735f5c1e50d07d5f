#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 120
# seconds: 4
"""Hostile requests to every ioctl, to read, poll and mmap, from several threads of programs that change what they
handed over and are killed at any moment: no splat, no leak, and nobody's memory changes."""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

# Of a hundred that are asked for so many must succeed at least, or the requests get no further than their first test; about
# a third of what they do. Of fewer than FEW one is enough.
SHARES, FEW = {"move": 4, "paired": 5, "cancel": 3}, 60
KCOV = Path("/sys/kernel/debug/kcov")


def places():
    """What KCOV can see of hmk.ko."""
    return lib.run("objdump", "-dr", os.environ["HMK_MODULE"]).stdout.count("__sanitizer_cov_trace_pc")


def fuzz(seconds, calls):
    """On both CPUs; its output is shown as it comes, should it hang."""
    seed = lib.seed()
    done = subprocess.run(["taskset", "-c", "0,1", lib.helper("fuzz"), str(seconds), str(calls), seed], check=False,
                          stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    lib.intact(done.returncode == 0, "nothing was lost")
    reached = int(re.search(r"reached (\d+) places", done.stdout).group(1))
    if KCOV.exists():
        lib.check(reached > 0, f"{reached} of {places()} places of hmk.ko were reached")
    return {name: (int(asked), int(accepted)) for name, asked, accepted in re.findall(r"(\w+): (\d+) asked, (\d+)", done.stdout)}


lib.load_module()
fuzz(round(lib.slowness()), 0)  # what is made once and kept
lib.unload_module()
books = lib.Books()
lib.load_module()
counts = fuzz(int(os.environ["HMK_SECONDS"]), int(os.environ.get("HMK_COUNT", "0")))
for verb, (asked, accepted) in counts.items():
    wanted = SHARES.get(verb, 0) * asked / 100 if asked >= FEW else 0
    lib.check(asked >= accepted > wanted, f"{verb}: {asked} asked, {accepted} accepted, so it went past the first test")
lib.figures(count=sum(asked for asked, _ in counts.values()), lost=0, of={f"accepted {verb}": n for verb, (_, n) in counts.items()})
lib.unload_module()
books.balanced()
