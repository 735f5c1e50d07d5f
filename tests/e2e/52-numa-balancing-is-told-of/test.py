#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 200
"""The kernel's NUMA balancing moves memory of a managed process: stats count what the kernel counts, doctor warns of it
and says how to be rid of it; a process started as doctor advises is left alone beside it."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SWITCH = Path("/proc/sys/kernel/numa_balancing")
PAGES, AWAY = 2048, 1


def counted(pid: int) -> dict:
    return next(t for t in lib.ask_hmkd("stats")["targets"] if t["pid"] == pid)["numa_balancing"]


def warned(pid: int) -> list:
    return [c for c in lib.ask_hmkd("doctor", check_status=False)["checks"] if c["check"] == f"process {pid}" and c["state"] != "ok"]


def vmstat(name: str) -> int:
    lines = Path("/proc/vmstat").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name + " "))


def far_from_home() -> int:
    """Area of memory on another node than the one whose CPU uses it."""
    area, start = touch.map(PAGES)
    lib.run("taskset", "-p", "-c", "0", touch.pid)
    lib.run("migratepages", touch.pid, "all", AWAY, check_status=False)
    touch.tell(f"loop write {area} 0 {PAGES} 1")
    return start


SWITCH.write_text("0", encoding="ascii")
lib.load_module()
touch = lib.Touch()
far_from_home()
# As doctor advises: beside it, and busy in the same way.
alone = subprocess.Popen(["numactl", "--localalloc", lib.build("tests/programs/hmk-touch")], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, text=True, bufsize=1)
alone.stdout.readline()
for command in (f"map {PAGES}", f"loop write 0 0 {PAGES} 1"):
    alone.stdin.write(command + "\n")
    lib.check(alone.stdout.readline().startswith("ok"), command)

daemon = lib.start_hmkd(f"mode: track-only\ninterval: 200ms\noverhead: 20%\nattach: [{touch.pid}, {alone.pid}]\n")
lib.check(not warned(touch.pid) and counted(touch.pid)["moved_bytes"] == 0, "off: nothing is told")
before = vmstat("numa_pages_migrated")
SWITCH.write_text("1", encoding="ascii")
lib.wait_for(lambda: counted(touch.pid)["moved_bytes"] > 0, 90, "what NUMA balancing moves is counted")
row = warned(touch.pid)[0]
lib.check(row["state"] == "warn" and "--localalloc" in row["remedy"], f"doctor warns of it: {row}")
lib.wait_for(lambda: counted(touch.pid)["scans"] > 0, 90, "its passes are counted")
seen, moved = counted(touch.pid), vmstat("numa_pages_migrated") - before
lib.check(0 < seen["moved_bytes"] >> 12 <= moved, f"{seen['moved_bytes'] >> 12} pages of {moved} that moved are this process's")
lib.check(counted(alone.pid)["moved_bytes"] == 0, f"who was started under numactl is left alone: {counted(alone.pid)}")
SWITCH.write_text("0", encoding="ascii")
lib.wait_for(lambda: not warned(touch.pid), 30, "off again: doctor is content")
lib.check(counted(touch.pid)["moved_bytes"] >= seen["moved_bytes"], "what was counted stays")

lib.end_hmkd(daemon, 30)
touch.end()
alone.kill()
lib.unload_module()
