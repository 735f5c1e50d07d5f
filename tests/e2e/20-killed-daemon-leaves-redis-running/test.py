#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 240
# seconds: 40
"""SIGKILL of hmkd at random moments of a migrating run: redis-server keeps serving, every value
stays right, a restarted hmkd attaches again, and afterwards module and memory are as before."""
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

LOAD = lib.build("tools/load/hmk-load-kv")
REDIS, STATE, LOG = "/run/redis.sock", "/run/load.state", Path("/run/hmkd.log")
FEWEST, KEYS = 10, 60000
MOST = math.log2((40 << 20) / lib.slowness())  # of the bytes that are waited for: a slower program heats less
rng = random.Random(int(lib.seed()))


def start_redis() -> subprocess.Popen:
    process = subprocess.Popen(["taskset", "-c", "0", "redis-server", "--port", "0", "--unixsocket", REDIS, "--save", "",
                                "--appendonly", "no", "--dir", "/run"], stdout=subprocess.DEVNULL)
    lib.wait_for(lambda: os.path.exists(REDIS), 30, "redis-server is up")
    return process


def start_hmkd(pid: int, first: int) -> subprocess.Popen:
    """Another order of tiers each time, so that the hot data always has somewhere to go."""
    tiers = [(first + i) % 4 for i in range(4)]
    return lib.start_hmkd(f"mode: manage\ninterval: 200ms\noverhead: 20%\npromote_limit: 64MiB\nreserve: 8MiB\ntiers: {tiers}\n",
                          LOG, ("--pid", pid))


def wait_until_promoted(goal: int, what: str) -> None:
    """What hmkd knows is shown when it does not come to that."""
    try:
        lib.wait_for(lambda: promoted() >= goal, 60, what)
    except SystemExit:
        for verb in ("status", "stats", "gain"):
            print(lib.run(lib.build("tools/hmkctl/hmkctl"), "--socket", lib.CONTROL, verb, check_status=False).stdout, flush=True)
        raise


def promoted() -> int:
    """Asked twenty times a second: to start hmkctl each time would take the CPU from hmkd."""
    try:
        page = lib.get(lib.CONTROL, "/metrics")
    except OSError:
        return 0
    match = re.search(r"^hmk_promoted_bytes_total\S* (\d+)$", page, re.M)
    return int(match.group(1)) if match else 0


def finish(process: subprocess.Popen, number: int = signal.SIGTERM) -> int:
    process.send_signal(number)
    return process.wait(60)


books = lib.Books()
lib.load_module()
redis = start_redis()
lib.run(LOAD, "fill", "--socket", REDIS, "--state", STATE, "--keys", KEYS, "--value-size", "2048B")
load = subprocess.Popen([LOAD, "run", "--socket", REDIS, "--state", STATE, "--read-share", "70%", "--pipeline", "8"],
                        stdout=subprocess.DEVNULL)
kills, end = 0, time.monotonic() + int(os.environ["HMK_SECONDS"])
while kills < FEWEST or time.monotonic() < end:
    daemon = start_hmkd(redis.pid, 1 + kills % 3)
    goal = int(2 ** rng.uniform(0, MOST))  # as often 4 MiB as 40: more kills, and most early in a move
    wait_until_promoted(goal, f"round {kills}: {goal} bytes are promoted")
    lib.check(finish(daemon, signal.SIGKILL) == -signal.SIGKILL, f"round {kills}: hmkd is killed after {goal} bytes")
    answer = lib.run("redis-cli", "-s", REDIS, "ping").stdout
    lib.check("PONG" in answer and load.poll() is None, f"round {kills}: redis-server serves")
    kills += 1
daemon = start_hmkd(redis.pid, 0)
wait_until_promoted(1, "the restarted hmkd attaches and moves again")
lib.check(finish(daemon) == 0, "hmkd ends by itself on SIGTERM")
lib.check(finish(load) == 0, "every reply during the run was right")
lib.values_are_right(LOAD, REDIS, STATE)
finish(redis)
lib.figures(count=kills, lost=0)
lib.unload_module()
Path(STATE).unlink()
books.balanced()
