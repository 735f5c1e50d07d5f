#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""hmk-load-gups with a thread on each of some CPUs: none loses an update of another, all are counted; what it refuses."""
import json
import os
import subprocess
import sys
import time

PROGRAM = sys.argv[1]


def run(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, "--size", "32MiB", *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def has_run(pid: int, task: str) -> bool:
    """For two ticks of the clock at least, in which there are thousands of updates."""
    with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[11]) >= 2  # of user time


def both_work() -> None:
    """Of the program's two threads each is on its CPU, and what both added is what memory holds."""
    allowed = sorted(os.sched_getaffinity(0))
    cpus = [allowed[0], allowed[-1]]
    for share, jump in (("100%", ()), ("50%", ("--jump-every", "50ms")), ("0%", ())):
        with subprocess.Popen([PROGRAM, "--size", "32MiB", "--cpus", ",".join(map(str, cpus)), "--write-share", share, *jump],
                              stdout=subprocess.PIPE, text=True) as load:
            seen: list = []
            limit = time.monotonic() + 30
            while time.monotonic() < limit and sorted(seen) != sorted([cpu] for cpu in cpus):
                seen = [sorted(os.sched_getaffinity(int(task))) for task in os.listdir(f"/proc/{load.pid}/task") if has_run(load.pid, task)]
            load.stdout.readline()
            load.terminate()
            said = [json.loads(line) for line in load.stdout]
        assert sorted(seen) == sorted([cpu] for cpu in cpus), seen
        assert said[-1]["wrong_values"] == 0 and load.returncode == 0, said[-1]
        assert said[-1]["ops"] > 64 * said[-1]["gaps"], "what the second thread did is not counted"


def refusals() -> None:
    for words, told in ((["--cpus", "0,1,2"], "want 1, 2, 4"), (["--cpus", "0,x"], "--cpus 0,x: want numbers"),
                        (["--cpus", "0,1", "--rate", "5"], "--rate"), (["--levels", "1"], "--levels"), (["--levels", "3"], "--levels"),
                        (["--nodes", ""], "--nodes")):
        done = run(*words)
        assert done.returncode == 2 and done.stderr.count("\n") == 1 and told in done.stderr, (words, done)
    done = run("--cpus", "4095", "--ops", "64")
    assert done.returncode == 1 and "CPU 4095" in done.stderr, done


both_work()
refusals()
