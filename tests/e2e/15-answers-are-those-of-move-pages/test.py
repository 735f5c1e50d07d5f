#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The same requests to move_pages(2) and to move_memory_regions(), without and with the module: same
answers, but where the kernel of this series is known to answer worse."""
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

CONTRACT = lib.helper("contract")
GROUPS = Path("/sys/fs/cgroup")


def answers(who):
    """One column of the table."""
    (GROUPS / "tight/memory.max").write_text("max", encoding="ascii")
    print(lib.run(CONTRACT, who).stdout, flush=True)


(GROUPS / "cgroup.subtree_control").write_text("+memory +cpuset", encoding="ascii")
for group in ("few", "tight"):
    (GROUPS / group).mkdir()
(GROUPS / "few/cpuset.mems").write_text("0-1", encoding="ascii")
for node in (0, 1, 2):
    lib.huge_pool(node, 1)
answers("kernel")
answers("library")
lib.load_module()
answers("module")
lib.unload_module()
