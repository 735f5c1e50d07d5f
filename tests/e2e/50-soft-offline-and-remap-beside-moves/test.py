#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 200
# alone: yes
"""Pages that are taken offline or poisoned, and a place that is unmapped and mapped again, while they move, in base pages
and huge pages: every page keeps its content but the poisoned one, and the log stays clean."""
import json
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
for kind, count in (("base", 100), ("huge", 100)):
    done = lib.run("taskset", "-c", "0,1", lib.helper("race"), kind, count)
    print(kind, done.stdout, flush=True)
    seen = json.loads(done.stdout.splitlines()[-1])
    lib.check(seen["moved"] > 500, f"{kind}: {seen['moved']} pages were moved")
    lib.check(seen["poisoned"] > 0, f"{kind}: {seen['poisoned']} pages were poisoned")
    lib.check(seen["offline"] > 0, f"{kind}: {seen['offline']} pages went offline")
lib.unload_module()
