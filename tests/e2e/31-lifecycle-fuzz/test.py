#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# kernels: 6.1 6.12
# timeout: 240
# seconds: 10
"""Programs that fork, exec, exit, map, unmap, remap, protect and advise at random, in huge pages and
base pages, while sessions come, profile and move them, and either side is killed: every page keeps
what was written to it, every table is whole, no session follows a PID to another process, the kernel
log stays clean, the module unloads and the pages come back. `seconds` says for how long."""
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402


def fuzz(seconds: int) -> None:
    """On both CPUs; what it prints is shown as it comes, should it hang."""
    done = subprocess.run(["taskset", "-c", "0,1", lib.helper("fuzz"), str(seconds), seed], check=False)
    lib.check(done.returncode == 0, f"the fuzz holds for {seconds} s")


# A PID comes again within a hundred forks.
Path("/proc/sys/kernel/pid_max").write_text("400", encoding="ascii")
seed = lib.seed()
lib.load_module()
fuzz(1)
before = lib.free_pages()
fuzz(int(os.environ["HMK_SECONDS"]))
lib.unload_module()
lib.wait_for(lambda: abs(lib.free_pages() - before) < 8192, 20, f"free pages {before} back (now {lib.free_pages()})")
