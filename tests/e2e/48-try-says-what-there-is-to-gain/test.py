#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# One kernel in a gate, for its time; the other by --kernel 6.1.
# gate: 6.12
# timeout: 200
"""hmkctl try against the real module: a hot part in slow memory is a gain, with the size it has; nothing moves while it watches,
and hmkd is as it was before when it ends, on Ctrl-C, when it is killed and when the process ends. Once the hot part has been
moved there is nothing left to gain, and hmkctl report tells before from after."""
import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HMKCTL = lib.build("tools/hmkctl/hmkctl")
MIB = 1 << 20
SIZE, HOT_FROM, HOT_TO = 32 * MIB, 8 * MIB, 16 * MIB


def start_try(*options: str) -> subprocess.Popen:
    return subprocess.Popen([HMKCTL, "--socket", lib.CONTROL, "--json", "try", str(touch.pid), *options],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def has_passed(intervals: int) -> bool:
    return ((lib.target_of(touch.pid).get("last_interval") or {}).get("seq") or 0) >= intervals


def pages_by_node() -> Counter:
    return Counter(lib.nodes_of(touch.pid, start, SIZE >> 12))


lib.load_module()
daemon = lib.start_hmkd("mode: manage\ninterval: 400ms\noverhead: 20%\nreserve: 8MiB\n")
touch = lib.Touch(2)
area, start = touch.map(SIZE >> 12)
touch.tell(f"loop write {area} {HOT_FROM >> 12} {HOT_TO >> 12} 1")

before = pages_by_node()
lib.check(set(before) == {2}, f"all of the area is resident, in slow memory: {dict(before)}")
answer = lib.ask_hmkd("try", str(touch.pid), "--for", "8s")
trial, fastest = answer["trial"], answer["tiers"][0]
print(json.dumps(answer))
lib.check(trial["verdict"] == "gain", f"the hot part in slow memory is a gain: {trial['text']}")
lib.check(fastest["now_percent"] < 20 and fastest["best_percent"] > 80,
          f"tier 1 serves {fastest['now_percent']:.1f} %, at best {fastest['best_percent']:.1f} %")
served = max(corner["share_percent"] for corner in answer["curve"] if corner["bytes"] <= 1.5 * (HOT_TO - HOT_FROM))
lib.check(served > 70, f"the hottest {1.5 * (HOT_TO - HOT_FROM) / MIB:g} MiB serve {served:.1f} %")
lib.check(pages_by_node() == before, f"nothing has moved: {dict(before)}")
lib.wait_for(lambda: not lib.target_of(touch.pid), 10, "what was attached for it is let go")

interrupted = start_try("--for", "10min")
lib.wait_for(lambda: has_passed(4), 60, "it watches")
lib.check(lib.target_of(touch.pid)["mode"] == "track-only", "in track-only, whatever hmkd's mode")
interrupted.send_signal(signal.SIGINT)
told = json.loads(interrupted.communicate(timeout=30)[0])
lib.check(interrupted.returncode == 0 and told["trial"]["verdict"] == "gain", "on Ctrl-C it tells what it has seen so far")
lib.wait_for(lambda: not lib.target_of(touch.pid), 10, "and the process is let go")

killed = start_try("--for", "10min")
lib.wait_for(lambda: lib.target_of(touch.pid).get("mode") == "track-only", 30, "it watches")
killed.kill()
killed.communicate()
lib.wait_for(lambda: not lib.target_of(touch.pid), 10, "killed it leaves nothing behind")
lib.check(pages_by_node() == before, "and nothing has moved")

lib.ask_hmkd("attach", str(touch.pid))
lib.wait_for(lambda: lib.target_of(touch.pid)["tiers"][0]["resident_bytes"] >= HOT_TO - HOT_FROM, 90, "managed, the hot part comes to tier 1")
answer = lib.ask_hmkd("try", str(touch.pid), "--for", "8s")
lib.check(answer["trial"]["verdict"] in ("placed", "fits"), f"then nothing is to be gained: {answer['trial']['text']}")
lib.wait_for(lambda: lib.target_of(touch.pid)["mode"] == "manage", 10, "and it is managed again afterwards")

lib.ask_hmkd("report", "-o", "/run/report.html", str(touch.pid))
page = Path("/run/report.html").read_text(encoding="utf-8")
table = re.search(r"served by tier 1[^<]*</td><td>([\d.]+) %</td><td>([\d.]+) %</td>", page)
lib.check(bool(table) and float(table.group(1)) < 50 < float(table.group(2)), f"the report tells before from after: {table and table.group(0)}")
lib.check("Heat map" in page and "not measured" not in page.split("Heat map")[1].split("</figure>")[0], "and draws where the memory lies")

ends = start_try("--for", "10min")
lib.wait_for(lambda: lib.target_of(touch.pid).get("mode") == "track-only", 30, "it watches")
touch.end()
problem = json.loads(ends.communicate(timeout=60)[1])
lib.check(ends.returncode == problem["exit_code"] == 1 and "has ended" in problem["what"],
          f"it ends with the process, and says so: {problem}")
lib.end_hmkd(daemon)
lib.unload_module()
