#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
"""hmkd without the module, on processes it may not or cannot manage, and on a kernel whose symbols
cannot be found: one line that names the thing, the place and the remedy, exit code 1 (3 where the
module is required, which tells systemd not to try again); or it runs on what the kernel offers and
says what is missing."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HMKD, HMKCTL, CONTROL = "/run/hmkd", lib.build("tools/hmkctl/hmkctl"), "/run/hmk.sock"
shutil.copy(lib.build("daemon/hmkd"), HMKD)  # nobody may not enter every checkout


def refused(what: str, words: list, *arguments: str, user: int = 0, code: int = 1) -> None:
    done = subprocess.run([HMKD, "--socket", CONTROL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, user=user, group=user, timeout=30)
    lines = done.stderr.strip().splitlines()
    lib.check(done.returncode == code, f"{what}: exit code {code}, it was {done.returncode}")
    lib.check(len(lines) == 1 and all(word in lines[0] for word in words), f"{what}: one line with {words}: {done.stderr.strip()}")
    lib.check(not os.path.exists(CONTROL), f"{what}: no socket is left behind")


target = subprocess.Popen(["sleep", "1000"])
refused("no module", ["/dev/hmk", "modprobe hmk"], "--pid", str(target.pid), "--require-module", code=3)
lib.load_module()
refused("no such process", ["999999", "does not exist"], "--pid", "999999")
refused("kernel thread", ["2", "kernel thread"], "--pid", "2")
refused("device of root", ["/dev/hmk"], "--pid", str(target.pid), user=65534)
os.chmod("/dev/hmk", 0o666)
refused("process of root", [str(target.pid)], "--pid", str(target.pid), user=65534)
lib.unload_module()

lib.load_module(symbols=0)
daemon = subprocess.Popen([HMKD, "--pid", str(target.pid), "--socket", CONTROL], stderr=subprocess.PIPE, text=True)
lib.wait_for(lambda: os.path.exists(CONTROL), 20, "hmkd serves on a kernel whose symbols are missing")
status = json.loads(lib.run(HMKCTL, "--socket", CONTROL, "--json", "status").stdout)
lib.check(status["targets"][0]["pid"] == target.pid, "and manages the process")
target.terminate()
lib.check(daemon.wait(20) == 0, "hmkd ends with its only process")
print(daemon.stderr.read())
target.wait()
lib.unload_module()
