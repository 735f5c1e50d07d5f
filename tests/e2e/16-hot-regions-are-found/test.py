#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 120
# clock: instructions
"""A program with a known hot part: its regions and no others become hot within a few intervals, in
base and in huge pages; what is unmapped leaves the table, what is mapped enters it; the cost stays
within the budget."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
lib.trace_module()
for pages in ("base", "huge"):
    print(lib.run(lib.helper("profile"), pages).stdout)
lib.check(len(lib.traced("hmk_merge")) > 0, "merges are traced")
lib.unload_module()
