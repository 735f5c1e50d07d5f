#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 300
# seconds: 3
# clock: instructions
"""Three processes, each hot in more than the fast tier holds, with weights 3, 1 and 1: what they hold of the tier comes
to be 3 to 1 to 1, stays so, and follows when the weights change."""
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

GUPS, HMKD, HMKCTL = (lib.build(p) for p in ("tools/load/hmk-load-gups", "daemon/hmkd", "tools/hmkctl/hmkctl"))
CONTROL, CONFIG = "/run/hmk.sock", "/run/hmkd.yaml"
FAST, SLOW, MIB = 1, 2, 1 << 20
PAUSE = 0.4      # seconds of the guest's clock, which looking costs: once an interval
LOOKS = round(float(os.environ["HMK_SECONDS"]) / PAUSE)


def start_load() -> subprocess.Popen:
    """A process that is hot all over and lies in the slow tier."""
    load = subprocess.Popen(["taskset", "-c", "0", "numactl", "--membind", str(SLOW), GUPS, "--size", "128MiB",
                             "--hot", "100%", "--hot-updates", "100%"], stdout=subprocess.PIPE, text=True)
    lib.wait_for(lambda: '"ready"' in load.stdout.readline(), 60, "the load has filled its memory")
    return load


def fast_mib(load: subprocess.Popen) -> float:
    return lib.resident_bytes(load.pid).get(FAST, 0) / MIB


def ctl(*words: str) -> dict:
    return json.loads(lib.run(HMKCTL, "--socket", CONTROL, "--json", *words).stdout)


def is_three_to_one(amounts: list) -> bool:
    """The first against each of the others, within 10 %."""
    return all(2.7 <= amounts[0] / max(other, 1) <= 3.3 for other in amounts[1:])


def wait_for_shares(loads: list, what: str) -> None:
    """Until they have been so on average over LOOKS looks: single regions come and go all the time."""
    seen = []

    def shared() -> bool:
        time.sleep(PAUSE)
        seen.append([round(fast_mib(load), 1) for load in loads])
        last = seen[-LOOKS:]
        return len(last) == LOOKS and all(sum(look) > 100 for look in last) and \
            is_three_to_one([sum(column) / LOOKS for column in zip(*last)])
    try:
        lib.wait_for(shared, 90, what)
    finally:
        print(what, seen[-12:], flush=True)


lib.load_module()
loads = [start_load() for _ in range(3)]
first, second, third = loads
Path(CONFIG).write_text(f"interval: 400ms\noverhead: 10%\npromote_limit: 20MiB\ntiers: [{FAST}, {SLOW}]\n"
                        f"attach: [{', '.join(str(load.pid) for load in loads)}]\nweights: {first.pid}=3\n", encoding="ascii")
daemon = subprocess.Popen([HMKD, "--config", CONFIG, "--socket", CONTROL])
lib.wait_for(lambda: os.path.exists(CONTROL), 30, "hmkd serves")
# What one does not ask for the others may have: from the start all are known to be hot.
lib.wait_for(lambda: all(target["intervals"] > 3 for target in ctl("stats")["targets"]), 60, "all have been watched")
lib.run(HMKCTL, "--socket", CONTROL, "set", "mode", "manage")

wait_for_shares([first, second, third], "3 to 1 to 1 MiB of the fast tier")

lib.run(HMKCTL, "--socket", CONTROL, "set", "weights", f"{third.pid}=3")
wait_for_shares([third, first, second], "3 to 1 to 1 MiB after the weights changed")

for target in ctl("stats")["targets"]:
    print({key: target[key] for key in ("pid", "intervals", "profiling_percent", "promoted_bytes", "demoted_bytes", "refused_bytes")})
    lib.check(target["profiling_percent"] <= target["budget_percent"], "profiling keeps its budget")
daemon.send_signal(signal.SIGTERM)
lib.check(daemon.wait(60) == 0, "hmkd ends by itself on SIGTERM")
for load in loads:
    lib.end_load(load)
lib.unload_module()
