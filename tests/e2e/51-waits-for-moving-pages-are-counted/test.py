#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 180
"""hmkd counts how long the threads of a managed process wait for pages that are being moved, by the
kernel or by itself, and the write faults its own moves cause; without the right to use BPF it runs on,
says so and looks for new processes by itself."""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HMKCTL = lib.build("tools/hmkctl/hmkctl")
CONTROL, LOG = "/run/hmk/control.sock", Path("/run/hmkd.log")
PAGES = 16384
RIGHTS = "+sys_nice,+sys_ptrace,+bpf,+perfmon"  # as hmkd.service gives them, to nobody in particular
AS_A_SERVICE = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", f"--inh-caps={RIGHTS}",
                f"--ambient-caps={RIGHTS}", f"--bounding-set=-all,{RIGHTS}")


def writer():
    """A process on node 0 that writes all its pages again and again."""
    program = lib.Touch(0)
    area, _ = program.map(PAGES)
    program.tell(f"loop write {area} 0 {PAGES} 1")
    return program


def start_hmkd(*under):
    return lib.start_hmkd("mode: track-only\ninterval: 200ms\noverhead: 20%\npromote_limit: 64MiB\nreserve: 8MiB\n"
                          "attach: [comm=hmk-touch]\nattach_poll: 100ms\n", LOG, under=under, control=CONTROL)


def ctl(*words):
    return lib.run(HMKCTL, "--socket", CONTROL, *words).stdout


def waits():
    return json.loads(ctl("--json", "stats"))["targets"][0]["waits"]


def moved_by_the_kernel(pid):
    """There and back until somebody had to wait."""
    for node in (1, 0):
        lib.run("migratepages", pid, "all", node)
    return waits()["count"]


def moved_by_hmkd():
    """The slowest tier first, then the fastest: everything hot has somewhere to go."""
    for tiers in ("3,2,1,0", "0,1,2,3"):
        ctl("set", "tiers", tiers)
    return waits()["write_faults"]


lib.load_module()
os.chmod("/dev/hmk", 0o666)
os.mkdir("/run/hmk")
os.chmod("/run/hmk", 0o777)
load = writer()
daemon = start_hmkd(*AS_A_SERVICE)
lib.check(waits()["count"] == 0 and waits()["buckets"] == [], "nobody has waited yet")
lib.wait_for(lambda: moved_by_the_kernel(load.pid), 60, "a thread waits for a page that the kernel moves")
seen = waits()
print(json.dumps(seen))
lib.check(sum(row["count"] for row in seen["buckets"]) == seen["count"], "each wait is in one bucket")
lib.check(0 < seen["longest_ns"] <= seen["total_ns"], "the longest is one of them")
longest = max(row["below_us"] for row in seen["buckets"])
lib.check(longest / 2 <= max(seen["longest_ns"] / 1000, 1) < longest, "and lies in the last bucket")
ctl("set", "mode", "manage")
lib.wait_for(moved_by_hmkd, 60, "a write meets a page that hmkd copies ahead")
print(ctl("stats"))
lib.check('hmk_write_faults_total{rule="comm=hmk-touch"' in lib.get(CONTROL, "/metrics"), "metrics tell it, too")
lib.end_hmkd(daemon)
daemon = start_hmkd("setpriv", "--bounding-set=-sys_admin,-bpf,-perfmon")
lib.check(waits() is None and "CAP_BPF" in LOG.read_text(encoding="utf-8"), "without the right nothing is counted, and said so")
lib.check("every attach_poll" in LOG.read_text(encoding="utf-8"), "and new processes are looked for")
other = lib.Touch()
lib.wait_for(lambda: f"attached pid={other.pid} " in LOG.read_text(encoding="utf-8"), 30, "and found")
other.end()
lib.end_hmkd(daemon)
load.end()
lib.unload_module()
