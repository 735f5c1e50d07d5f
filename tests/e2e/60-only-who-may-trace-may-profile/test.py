#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The matrix of rights: who may profile and move whom, by which descriptor, and what it learns; once with the
kernel's own check and once without (symbols=0), where only the capability of the first user namespace counts. Tickets are
asked for again when they begin."""
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SUID, GROUP = "/run/suid-sleep", Path("/sys/fs/cgroup/rights")

Path("/proc/sys/kernel/pid_max").write_text("400", encoding="ascii")  # a PID comes again within a hundred forks
lib.run("mount", "-o", "remount,suid", "/run", check_status=False)
shutil.copy("/bin/sleep", SUID)
os.chmod(SUID, 0o4755)
lib.load_module()
print(lib.run(lib.helper("rights"), SUID).stdout, flush=True)
Path("/sys/fs/cgroup/cgroup.subtree_control").write_text("+cpuset", encoding="ascii")
GROUP.mkdir()
(GROUP / "cpuset.mems").write_text("0-1", encoding="ascii")
print(lib.run(lib.helper("tickets"), GROUP).stdout, flush=True)
GROUP.rmdir()
lib.unload_module()
lib.load_module(symbols=0)
print(lib.run(lib.helper("rights"), SUID, "capability").stdout, flush=True)
lib.unload_module()
