#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: none
# timeout: 400
# clock: instructions
# alone: yes
"""e2e/36 on a machine whose firmware has no HMAT: latencies are not known, and tiers go by distance and by which nodes have CPUs."""
import runpy
import sys
from pathlib import Path

FOLDER = Path(sys.path[0]).parent
sys.path.insert(0, str(FOLDER))
import lib  # noqa: E402

told = list(Path("/sys/devices/system/node").glob("node*/access*"))
lib.check(len(told) >= 8, f"{len(told)} folders have what HMAT says")
for folder in told:
    lib.run("mount", "-t", "tmpfs", "none", folder)
sys.path[0] = str(FOLDER / "36-eight-nodes-make-three-tiers")
seen = runpy.run_path(sys.path[0] + "/test.py")
lib.check(seen["tiers"]["order"]["source"] == "distance", "the order is by distance")
