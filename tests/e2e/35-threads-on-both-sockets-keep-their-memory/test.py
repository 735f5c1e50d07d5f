#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
# clock: instructions
"""A process with a thread on each of two sockets, each with memory of its own there: the DRAM of both is one tier, and
no page of it changes its node."""
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SIZE_MIB, HOT_MIB, INTERVALS = 160, 64, 10

lib.load_module()
load = lib.Threads(SIZE_MIB, HOT_MIB, "0:0", "1:1")
before = load.nodes()
lib.check(before == {0: {0: load.looked_at}, 1: {1: load.looked_at}}, f"each thread's memory is on its socket: {before}")
daemon = lib.start_hmkd(f"mode: manage\ninterval: 500ms\noverhead: 5%\npromote_limit: 32MiB\nattach: [{load.pid}]\n")


def intervals() -> int:
    time.sleep(1)  # looking costs the guest's clock
    return lib.ask_hmkd("stats")["targets"][0]["intervals"]


lib.wait_for(lambda: intervals() >= INTERVALS, 120, f"{INTERVALS} intervals")
stats, status = lib.ask_hmkd("stats")["targets"][0], lib.ask_hmkd("status")["targets"][0]
print(status["tiers"], stats["pairs"], flush=True)
lib.check(load.nodes() == before, f"no page has left its socket: {load.nodes()}")
lib.check(stats["promoted_bytes"] == stats["demoted_bytes"] == 0, "nothing was moved")
lib.check(status["home_nodes"] == [0, 1], "it is at home on both sockets")
lib.check([tier["nodes"] for tier in status["tiers"]] == [[0, 1], [2, 3]], "the DRAM of both is one tier")
lib.end_hmkd(daemon)
load.end()
lib.unload_module()
