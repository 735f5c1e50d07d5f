#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# kernels: 6.1 6.12
# suite: none
# packages: trinity
# seconds: 20
# alone: yes
"""trinity, the kernel's fuzzer of system calls: at /dev/hmk, which nobody may open for once, and with all the calls of
memory management while each of its processes is profiled and moved. No splat, nothing leaks, the module unloads."""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FOLDER = Path("/run/trinity")
NOBODY = 65534
CALLS = ("ioctl", "read", "pread64", "readv", "mmap", "poll", "fcntl", "dup", "lseek", "splice", "close")


def makes_calls():
    """A child of trinity is there, or has been: one that gives back its own memory lives for a moment."""
    for line in lib.run("pgrep", "-l", "^trinity-", check_status=False).stdout.splitlines():
        pid, name = line.split()
        try:
            faults_of_children = int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[8])
        except OSError:  # it has ended
            continue
        if name != "trinity-main" or faults_of_children:
            return True
    return False


def fuzz(seconds, options, before=()):
    """How many calls it made as nobody, and the last of what was said."""
    process = subprocess.Popen([*before, "/usr/bin/setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "trinity",
                                "-q", "-l", "off", "--enable-fds=pseudo", "-s", lib.seed(), *options],
                               cwd=FOLDER, text=True, errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    lib.wait_for(lambda: process.poll() is not None or makes_calls(), 60, "trinity makes calls")
    said = ""
    for how, limit in (("-INT", seconds), ("-KILL", 30), ("-KILL", 30)):
        try:
            said = process.communicate(timeout=limit)[0]
            break
        except subprocess.TimeoutExpired:
            subprocess.run(["pkill", how, "trinity"], check=False)
    print("\n".join(said.splitlines()[-12:]), flush=True)
    return max((int(number) for number in re.findall(r"(\d+) iterations|Ran (\d+)", said) for number in number if number), default=0), said


FOLDER.mkdir()
os.chown(FOLDER, NOBODY, NOBODY)
seconds = int(os.environ["HMK_SECONDS"])
lib.load_module()
os.chmod("/dev/hmk", 0o666)
# Many children: whoever reads waits for a ticket until trinity's alarm of a second.
at_device, _ = fuzz(seconds / 2, ["-C", "16", "-V", "/dev/hmk", *(word for call in CALLS for word in ("-c", call))])
lib.check(at_device > 0, f"{at_device} calls at /dev/hmk")
beside, said = fuzz(seconds / 2, ["-C", "3", "-g", "vm"], (lib.helper("beside"), "hmk", str(seconds + 300)))  # it is ended before
moved = re.search(r"profiled (\d+), moved (\d+)", said)
lib.check(beside > 0 and bool(moved) and int(moved.group(2)) > 0, f"{beside} calls beside it, {moved and moved.group(0)}")
lib.figures(count=at_device + beside, lost=0)
lib.unload_module()
