#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 300
# seconds: 30
# clock: instructions
"""Three processes whose hot parts jump all the time, with weights 2, 1 and 1, for as long as one likes (T-12): the bytes
promoted an interval stay in that ratio, profiling within its budget, and neither hmkd nor the kernel holds more at the end."""
import json
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

GUPS, HMKD, HMKCTL = (lib.build(p) for p in ("tools/load/hmk-load-gups", "daemon/hmkd", "tools/hmkctl/hmkctl"))
CONTROL, CONFIG = "/run/hmk.sock", "/run/hmkd.yaml"
FAST, SLOW = 1, 2
WEIGHTS, LIMIT_MIB = (2, 1, 1), 2  # an interval promotes less than jumps ask for
LONG = 600       # seconds after which the shares are within 10 %; 30 of them see one jump
SECONDS = int(os.environ["HMK_SECONDS"])
ROOM_KB = 1024   # what an allocator keeps


def start_load() -> subprocess.Popen:
    """Half of it is hot, every forty seconds another one; most of the CPU is nobody's."""
    load = subprocess.Popen(["numactl", "--membind", str(SLOW), GUPS, "--size", "128MiB", "--hot", "50%", "--jump-every", "40s",
                             "--rate", "60000"], stdout=subprocess.PIPE, text=True)
    lib.wait_for(lambda: '"ready"' in load.stdout.readline(), 60, "the load has filled its memory")
    return load


def ctl(*words: str) -> dict:
    return json.loads(lib.run(HMKCTL, "--socket", CONTROL, "--json", *words).stdout)


def held() -> tuple:
    """Resident kB and descriptors of hmkd, without that of a control connection which is just being closed."""
    status = Path(f"/proc/{daemon.pid}/status").read_text(encoding="ascii")
    rss = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return rss, min(len(os.listdir(f"/proc/{daemon.pid}/fd")) for _ in range(50))


def counters() -> list:
    """Of each process, in the order of `loads`."""
    rows = {row["pid"]: row for row in ctl("stats")["targets"]}
    return [rows[load.pid] for load in loads]


def look_at_intervals() -> None:
    """Keep those not seen before."""
    for row in ctl("status")["targets"]:
        last = row["last_interval"]
        seen[row["pid"], last["seq"]] = last["profiling_percent"] <= last["budget_percent"]


lib.load_module()
loads = [start_load() for _ in WEIGHTS]
weights = ", ".join(f"{load.pid}={weight}" for load, weight in zip(loads, WEIGHTS))
Path(CONFIG).write_text(f"mode: manage\ninterval: 1s\noverhead: 5%\npromote_limit: {LIMIT_MIB}MiB\ntiers: [{FAST}, {SLOW}]\n"
                        f"attach: [{', '.join(str(load.pid) for load in loads)}]\nweights: {weights}\n", encoding="ascii")
with open("/run/hmkd.log", "wb") as log:
    daemon = subprocess.Popen([HMKD, "--config", CONFIG, "--socket", CONTROL], stdout=log, stderr=log)
lib.wait_for(lambda: os.path.exists(CONTROL), 30, "hmkd serves")
lib.wait_for(lambda: all(row["intervals"] > 8 for row in counters()), 60, "all are watched")
began, first, books, seen = counters(), held(), lib.Books(), {}
end = time.monotonic() + SECONDS
while time.monotonic() < end:
    time.sleep(max(0.4, SECONDS / 1000))
    look_at_intervals()
ended, last = counters(), held()

grown = [{key: now[key] - before[key] for key in ("promoted_bytes", "intervals")} for before, now in zip(began, ended)]
for row in ended:
    print({key: row[key] for key in ("pid", "intervals", "profiling_percent", "promoted_bytes", "demoted_bytes", "refused_bytes",
                                     "state_bytes", "late_intervals", "degraded_intervals")})
over = sum(not kept for kept in seen.values())
print(f"promoted in intervals {grown}; {over} of {len(seen)} intervals looked at over their budget; "
      f"hmkd held {first[0]} kB and {first[1]} descriptors, now {last[0]} and {last[1]}", flush=True)
share = LIMIT_MIB * (1 << 20) / sum(WEIGHTS)
per_interval = [row["promoted_bytes"] / row["intervals"] / share / weight for row, weight in zip(grown, WEIGHTS)]
fair = 1.1 if SECONDS >= LONG else 1.3
lib.check(max(per_interval) <= fair * min(per_interval) and max(per_interval) <= 1.1,
          f"the limit of an interval is shared by weight: {[round(part, 3) for part in per_interval]} of the shares")
lib.check(sum(row["profiling_percent"] for row in ended) <= 5, "profiling keeps its budget over the whole time")
lib.check(not over, "and in every interval")
lib.check(last[0] <= first[0] + ROOM_KB and last[1] <= first[1], "hmkd holds no more than at the beginning")
lib.wait_for(lambda: not books.leaked(), 20, f"nor does the kernel: {books.leaked()}")
daemon.terminate()
lib.check(daemon.wait(60) == 0, "hmkd ends by itself on SIGTERM")
for load in loads:
    load.terminate()
    last_line = json.loads(load.communicate(timeout=120)[0].splitlines()[-1])
    lib.check(load.returncode == 0 and last_line["wrong_values"] == 0, f"no value is wrong: {last_line}")
lib.figures(count=sum(row["intervals"] for row in ended), lost=0)
lib.unload_module()
