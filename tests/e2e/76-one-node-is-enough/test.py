#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 200
"""On a machine with one node hmkd manages a process as on any other: it sees what is hot, and moves nothing; the library
answers as move_pages(2); hmkctl doctor says that there is nothing to tier."""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

GUPS, HMKD, HMKCTL = (lib.build(p) for p in ("tools/load/hmk-load-gups", "daemon/hmkd", "tools/hmkctl/hmkctl"))
CONTROL, CONFIG = "/run/hmk.sock", "/run/hmkd.yaml"


def ask(*words):
    return json.loads(lib.run(HMKCTL, "--socket", CONTROL, "--json", *words).stdout)


lib.load_module()
load = subprocess.Popen([GUPS, "--size", "128MiB", "--hot", "10%"], stdout=subprocess.PIPE, text=True)
lib.wait_for(lambda: '"ready"' in load.stdout.readline(), 60, "the load has filled its memory")
Path(CONFIG).write_text(f"mode: manage\ninterval: 400ms\noverhead: 10%\nattach: [{load.pid}]\n", encoding="ascii")
daemon = subprocess.Popen([HMKD, "--config", CONFIG, "--socket", CONTROL])
lib.wait_for(lambda: os.path.exists(CONTROL), 30, "hmkd serves")
lib.wait_for(lambda: ask("stats")["targets"][0]["intervals"] >= 20, 60, "20 intervals")
stats = ask("stats")["targets"][0]
lib.check([tier["node"] for tier in ask("tiers")["tiers"]] == [0], "there is one tier")
lib.check(stats["promoted_bytes"] == stats["demoted_bytes"] == 0, "nothing is moved")
lib.check(max(region["whi"] for region in ask("regions")["targets"][0]["regions"]) > 0, "what is hot is seen")
doctor = lib.run(HMKCTL, "--socket", CONTROL, "doctor", check_status=False).stdout
lib.check("there is nothing to tier" in doctor, "hmkctl doctor says so")
daemon.send_signal(signal.SIGTERM)
lib.check(daemon.wait(60) == 0, "hmkd ends by itself on SIGTERM")
lib.end_load(load)
print(lib.run(lib.helper("where")).stdout, flush=True)
lib.unload_module()
