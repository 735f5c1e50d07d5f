#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 240
"""A process that makes a virtual machine while it is profiled: what its guest touches would look cold. Profiling stops, the
session and hmkd say why, and hmkd leaves it alone, also one that a rule names, and goes on with the others."""
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

LOG = Path("/run/hmkd.log")
WHY = 'reason="a virtual machine or a device uses its memory behind its page table"'


def log_lines(pid):
    return [line for line in LOG.read_text(encoding="utf-8").splitlines() if f"pid={pid}" in line]


lib.run("modprobe", "kvm_amd")
lib.check(Path("/dev/kvm").exists(), "KVM works here")
lib.load_module()
print(lib.run(lib.helper("becomes"), "told").stdout, flush=True)

load = lib.start_gups("--size", "32MiB", "--hot", "10%")
machine = subprocess.Popen([lib.helper("becomes"), "asked"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
lib.check(machine.stdout.readline() == "ready\n", "the other target is ready")
daemon = lib.start_hmkd(f"mode: manage\ninterval: 400ms\noverhead: 10%\nattach: [comm=becomes, {load.pid}]\nattach_poll: 500ms\n", LOG)
lib.wait_for(lambda: {t["pid"] for t in lib.ask_hmkd("status")["targets"]} == {load.pid, machine.pid}, 60, "both are managed")
machine.stdin.write("now\n")
lib.wait_for(lambda: {t["pid"] for t in lib.ask_hmkd("status")["targets"]} == {load.pid}, 60, "the virtual machine is left")
lib.check(sum(WHY in line for line in log_lines(machine.pid)) == 1, f"hmkd says why, once: {log_lines(machine.pid)}")
seen = lib.ask_hmkd("stats")["targets"][0]["intervals"]
lib.wait_for(lambda: lib.ask_hmkd("stats")["targets"][0]["intervals"] >= seen + 8, 60, "the other goes on")
lines = log_lines(machine.pid)
lib.check(len(lines) == 2, f"attached, left, and left alone from then on: {lines}")
lib.end_hmkd(daemon)
lib.end_load(load)
machine.stdin.close()
lib.check(machine.wait(30) == 0, "the virtual machine ends well")
lib.unload_module()
