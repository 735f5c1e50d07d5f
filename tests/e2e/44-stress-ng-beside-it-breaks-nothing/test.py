#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Two CPUs by the instructions' clock: 6.1 does not boot so (tools/lab.d/lab/emulator.py).
# For --all: e2e/67 and 68 have others at work beside it in the gate.
# gate: none
# kernels: 6.12
# timeout: 240
# seconds: 20
# clock: instructions
"""stress-ng (vm, fork, mmap, switch) runs beside a managed redis-server, its vm workers managed, too: hmkd reports no
error, profiling keeps its budget, every value of both stays right, and the kernel holds what it held before.
HMK_E2E_SECONDS=600 runs it for ten minutes."""
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

LOAD = lib.build("tools/load/hmk-load-kv")
REDIS, STATE, LOG = "/run/redis.sock", Path("/run/load.state"), lib.RESULTS / "hmkd.log"
SECONDS = int(os.environ["HMK_SECONDS"])
SETTLED = 3  # intervals: the first learn what a scan costs
LOOK_EVERY = 2  # seconds


def start_redis() -> subprocess.Popen:
    process = subprocess.Popen(["taskset", "-c", "0", "numactl", "--preferred=2", "redis-server", "--port", "0", "--unixsocket",
                                REDIS, "--save", "", "--appendonly", "no", "--dir", "/run"], stdout=subprocess.DEVNULL)
    lib.wait_for(lambda: os.path.exists(REDIS), 30, "redis-server is up")
    return process


def start_stress() -> subprocess.Popen:
    return subprocess.Popen(["numactl", "--preferred=2", "stress-ng", "--vm", "1", "--vm-bytes", "48M", "--vm-keep", "--fork", "1",
                             "--mmap", "1", "--mmap-bytes", "32M", "--switch", "1", "--verify", "--timeout", f"{SECONDS}s",
                             "--temp-path", "/run", "--metrics-brief"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def watch(process: subprocess.Popen) -> dict:
    """Its output once it has ended, and the last counters of each process that was managed meanwhile."""
    last: dict = {}
    while True:
        last |= {target["pid"]: target for target in lib.ask_hmkd("stats")["targets"]}
        try:
            return {"output": process.communicate(timeout=LOOK_EVERY)[0], "targets": last}
        except subprocess.TimeoutExpired:
            pass


books = lib.Books()
lib.load_module()
redis = start_redis()
lib.run(LOAD, "fill", "--socket", REDIS, "--state", STATE, "--keys", 10000, "--value-size", "2048B")
load = subprocess.Popen([LOAD, "run", "--socket", REDIS, "--state", STATE, "--read-share", "70%"], stdout=subprocess.DEVNULL)
daemon = lib.start_hmkd(f"attach: [{redis.pid}, comm=stress-ng-vm*]\nattach_poll: 200ms\nmode: manage\ninterval: 300ms\n"
                        "overhead: 10%\nreserve: 8MiB\n", LOG)

stress = start_stress()
seen = watch(stress)
print(seen["output"])
lib.check(stress.returncode == 0, "stress-ng has found nothing wrong")
for target in seen["targets"].values():
    print({key: target[key] for key in ("pid", "comm", "intervals", "profiling_percent", "budget_percent", "promoted_bytes",
                                        "demoted_bytes")})
settled = [target for target in seen["targets"].values() if target["intervals"] > SETTLED]
lib.check({redis.pid} < {target["pid"] for target in settled}, "redis-server and a worker were managed")
lib.check(all(target["profiling_percent"] <= target["budget_percent"] for target in settled), "each within the budget")
lib.check(seen["targets"][redis.pid]["promoted_bytes"] > 0, "and pages moved")
lib.wait_for(lambda: [target["pid"] for target in lib.ask_hmkd("status")["targets"]] == [redis.pid], 30, "the workers are forgotten")

load.send_signal(signal.SIGTERM)
lib.check(load.wait(60) == 0, "every reply during the run was right")
lib.values_are_right(LOAD, REDIS, STATE)
lib.end_hmkd(daemon, 30)
log = LOG.read_text(encoding="utf-8")
print(log[-4000:])
lib.check(not re.search(r" (warning|error) ", log), "its log warns of nothing")
redis.terminate()
redis.wait(30)
STATE.unlink()
lib.unload_module()
books.balanced()
