#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 200
"""On a machine with one node hmkd manages a process as on any other: it sees what is hot, and moves nothing; the library
answers as move_pages(2); hmkctl doctor says that there is nothing to tier."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
load = lib.start_gups("--size", "128MiB", "--hot", "10%")
daemon = lib.start_hmkd(f"mode: manage\ninterval: 400ms\noverhead: 10%\nattach: [{load.pid}]\n")
lib.wait_for(lambda: lib.ask_hmkd("stats")["targets"][0]["intervals"] >= 20, 60, "20 intervals")
stats = lib.ask_hmkd("stats")["targets"][0]
lib.check([tier["nodes"] for tier in lib.ask_hmkd("tiers")["tiers"]] == [[0]], "there is one tier")
lib.check(stats["promoted_bytes"] == stats["demoted_bytes"] == 0, "nothing is moved")
lib.check(max(region["whi"] for region in lib.ask_hmkd("regions")["targets"][0]["regions"]) > 0, "what is hot is seen")
doctor = lib.run(lib.build("tools/hmkctl/hmkctl"), "--socket", lib.CONTROL, "doctor", check_status=False).stdout
lib.check("there is nothing to tier" in doctor, "hmkctl doctor says so")
lib.end_hmkd(daemon)
lib.end_load(load)
print(lib.run(lib.helper("where")).stdout, flush=True)
lib.unload_module()
