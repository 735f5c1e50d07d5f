#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
"""While a control group at its limit keeps swapping, nothing is promoted and hmkd says why; what is hot rises once that has ended."""
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, BESIDE, PAGES = 1, 2, 3, 16 << 8
WATCHED = 6                      # intervals
LIMIT_MIB, USED_MIB = 24, 48     # of the control group
PRESSURE = Path("/proc/pressure/memory")
GROUPS = Path("/sys/fs/cgroup")
GROUP = GROUPS / "thrashing"


def share() -> float:
    return lib.nodes_of(touch.pid, hot, PAGES).count(FAST) / PAGES


def told() -> dict:
    return lib.ask_hmkd("status")["daemon"]


lib.swap_in_memory(256 << 20)
(GROUPS / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
GROUP.mkdir()
(GROUP / "memory.max").write_text(f"{LIMIT_MIB}M", encoding="ascii")
lib.load_module()

touch = lib.Touch(SLOW)
area, hot = touch.map(PAGES)
touch.tell(f"loop read {area} 0 {PAGES} 1")
thrashing = lib.Touch(BESIDE)
(GROUP / "cgroup.procs").write_text(str(thrashing.pid), encoding="ascii")
used, _ = thrashing.map(USED_MIB << 8)
thrashing.tell(f"loop write {used} 0 {USED_MIB << 8} 1")
lib.wait_for(lambda: float(PRESSURE.read_text(encoding="ascii").split("avg10=")[1].split()[0]) >= 20, 120, "the group waits for memory")

daemon = lib.start_hmkd(f"mode: manage\ninterval: 1s\noverhead: 20%\npressure_limit: 10%\ntiers: [{FAST}, {SLOW}]\nattach: [{touch.pid}]\n")
lib.wait_for(lambda: lib.intervals() >= WATCHED, 60, f"{WATCHED} intervals end")
status = told()
print(status, PRESSURE.read_text(encoding="ascii"), flush=True)
lib.check(status["promotions_paused"] and status["memory_pressure_percent"] >= 10, "hmkd says that promotions are paused, and why")
lib.check(share() == 0, "nothing of what is hot rises")

thrashing.end()
lib.wait_for(lambda: share() >= 0.95, 120, "what is hot rises once nobody waits")
lib.check(not told()["promotions_paused"], "and promotions go on")
lib.end_hmkd(daemon)
touch.end()
lib.run("swapoff", "/dev/zram0")
lib.unload_module()
