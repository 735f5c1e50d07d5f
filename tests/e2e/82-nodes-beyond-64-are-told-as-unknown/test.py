#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
# cmdline: numa=fake=80
"""On a machine with 80 nodes pages of nodes 64 and up are counted and profiled, and their node is told as unknown; they move
there and back; nothing is written beside an array; hmkd manages a process of which a part lies there."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.check(lib.node_free_bytes(79) > 0, "there are 80 nodes")
lib.load_module()
print(lib.run(lib.helper("nodes")).stdout, flush=True)

load = lib.start_gups("--size", "32MiB", "--hot", "10%", under=("numactl", "--interleave=2,70"))
daemon = lib.start_hmkd(f"mode: manage\ninterval: 400ms\noverhead: 10%\nattach: [{load.pid}]\n")
lib.wait_for(lambda: lib.ask_hmkd("stats")["targets"][0]["intervals"] >= 10, 90, "10 intervals")
nodes = [node for tier in lib.ask_hmkd("tiers")["tiers"] for node in tier["nodes"]]
lib.check({63, 64, 79} <= set(nodes), f"{len(nodes)} nodes are in tiers, 64 and up among them")
lib.ask_hmkd("regions")
lib.end_hmkd(daemon)
lib.end_load(load)
lib.unload_module()
