#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 240
# cpu: max,la57
"""On a CPU with five levels of page tables memory beyond 128 TiB is profiled and moved as any other."""
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

flags = Path("/proc/cpuinfo").read_text(encoding="ascii").split("flags", 1)[1].split("\n", 1)[0].split()
lib.check("la57" in flags, "the kernel uses five levels")
lib.load_module()
print(lib.run(lib.helper("high")).stdout, flush=True)
lib.unload_module()
