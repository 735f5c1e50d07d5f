#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 120
# seconds: 30
"""Concurrent writers and a reader while their memory visits all four nodes: no write is
lost, and every kind of page is common: those that stayed clean, those that were copied again, and those that
were not copied ahead because their neighbours had been written."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

SECONDS = int(os.environ["HMK_SECONDS"])

lib.load_module()
before = lib.free_pages()
done = lib.run(lib.build("tests/programs/hmk-integrity"), "--size", "32MiB", "--for", f"{SECONDS}s")
print(done.stdout)
seen = json.loads(done.stdout.splitlines()[-1])
moved = seen["clean"] + seen["recopied"] + seen["sync"]
lib.check(seen["corrupt"] == 0, "no page is corrupt")
lib.check(moved >= 500 * SECONDS, f"{moved} pages were moved")
lib.check(seen["clean"] >= 0.1 * moved, f"{seen['clean']} of them stayed clean")
lib.check(seen["recopied"] >= 0.03 * moved, f"{seen['recopied']} of them were written and copied again")
lib.check(seen["sync"] >= 0.03 * moved, f"{seen['sync']} were not copied ahead")
lib.check(seen["off_target"] <= 0.001 * moved, f"{seen['off_target']} were not where they were sent")
lib.unload_module()
lib.check(abs(lib.free_pages() - before) < 4096, f"free pages {before} came back: {lib.free_pages()}")
