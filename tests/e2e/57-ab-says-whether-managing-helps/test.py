#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Minutes of hmkctl's turns, for the night: the CLI's tests have all of it but the module.
# gate: none
# timeout: 400
"""hmkctl ab against the real module. The figure is how many pages lie in DRAM, which managing raises: each watched block has the placement as
it was at first, each managed one the hot part in DRAM of either socket, whichever is nearer. It is found as a gain, or where less is better as a loss at
which the guard stops after two managed blocks; mode and memory are put back at the end, on SIGINT and when the metric fails, the mode
when it is killed and when the process ends."""
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import List

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HMKCTL = lib.build("tools/hmkctl/hmkctl")
MIB = 1 << 20
SIZE, HOT_FROM, HOT_TO = 32 * MIB, 8 * MIB, 16 * MIB
HOT_PAGES = (HOT_TO - HOT_FROM) >> 12
FEW = HOT_PAGES // 8  # of stacks and libraries, and of what luck may move


def command(*options: str, metric: str = "") -> List[str]:
    return [HMKCTL, "--socket", lib.CONTROL, "--json", "ab", str(touch.pid), "--metric", metric or in_dram, "--block", "1s",
            "--settle", "6s", "--seed", "1", *options]


def start_ab(*options: str, metric: str = "") -> subprocess.Popen:
    return subprocess.Popen(command(*options, metric=metric), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def compare(*options: str) -> dict:
    done = start_ab(*options)
    printed, problem = done.communicate(timeout=300)
    lib.check(done.returncode == 0, f"hmkctl ab ends with 0: {problem}")
    print(printed)
    return json.loads(printed)


def pages_in_dram() -> int:
    """Anonymous ones, as the metric counts them."""
    lines = Path(f"/proc/{touch.pid}/numa_maps").read_text(encoding="ascii").splitlines()
    return sum(int(pages) for line in lines if "anon=" in line for pages in re.findall(r"\bN[01]=(\d+)", line))


def wait_until_managed() -> None:
    lib.wait_for(lambda: lib.target_of(touch.pid).get("mode") == "manage", 60, "a managed block begins")
    lib.wait_for(lambda: pages_in_dram() > before + FEW, 60, "and something is promoted")


def wait_until_back() -> None:
    lib.wait_for(lambda: not lib.target_of(touch.pid), 30, "the process is let go, as it was not managed before")
    lib.check(abs(pages_in_dram() - before) < FEW, f"memory lies where it lay: {pages_in_dram()} pages in DRAM, {before} at first")


lib.load_module()
daemon = lib.start_hmkd("mode: track-only\ninterval: 400ms\noverhead: 20%\nreserve: 8MiB\n")
touch = lib.Touch(2)
area, start = touch.map(SIZE >> 12)
touch.tell(f"loop write {area} {HOT_FROM >> 12} {HOT_TO >> 12} 1")
before = pages_in_dram()
in_dram = ("awk '/anon=/ { for (i = 1; i <= NF; i++) if ($i ~ /^N[01]=/) sum += substr($i, 4) } END { print 1000 + sum }' "
           f"/proc/{touch.pid}/numa_maps")

answer = compare()
found = answer["comparison"]
lib.check(found["verdict"] == "gain" and found["pairs"] == 4, f"a gain is found after four pairs: {found['text']}")
lib.check(found["low_percent"] > 0, "the interval lies above nothing")
for block in answer["blocks"]:
    pages = block["figure"] - 1000 - before
    lib.check(pages > HOT_PAGES - FEW if block["mode"] == "managed" else abs(pages) < FEW,
              f"block {block['block']}, {block['mode']}: {pages:.0f} pages more in DRAM than at first, {HOT_PAGES} are hot")
wait_until_back()

answer = compare("--better", "lower", "--guard", "5%")
lib.check(answer["comparison"]["verdict"] == "guard", f"the guard stops it: {answer['comparison']['text']}")
lib.check([block["mode"] for block in answer["blocks"]].count("managed") == 2, "after two managed blocks")
wait_until_back()

interrupted = start_ab()
wait_until_managed()
interrupted.send_signal(signal.SIGINT)
told = json.loads(interrupted.communicate(timeout=60)[0])
lib.check(interrupted.returncode == 0 and told["comparison"]["verdict"] == "unclear", "on Ctrl-C it tells that it is too early")
wait_until_back()

broken = Path("/run/hmk-ab-broken")
fails = start_ab(metric=f"test ! -e {broken} && {in_dram}")
wait_until_managed()
broken.touch()
problem = json.loads(fails.communicate(timeout=60)[1])
lib.check(fails.returncode == 1 and "ended with code 1" in problem["what"], f"a metric that fails is told: {problem}")
wait_until_back()

killed = start_ab()
wait_until_managed()
killed.kill()
killed.communicate()
lib.wait_for(lambda: not lib.target_of(touch.pid), 10, "killed it leaves no mode behind")

ends = start_ab()
lib.wait_for(lambda: lib.target_of(touch.pid).get("mode") == "track-only", 30, "it watches")
touch.end()
problem = json.loads(ends.communicate(timeout=60)[1])
lib.check(ends.returncode == problem["exit_code"] == 1 and "has ended" in problem["what"],
          f"it ends with the process, and says so: {problem}")
lib.end_hmkd(daemon)
lib.unload_module()
