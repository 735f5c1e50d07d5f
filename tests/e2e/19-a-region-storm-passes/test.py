#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 180
# clock: instructions
"""Thirty thousand areas of one page, which no merge can join, and samples for a few of them at a time: all are visited in
turn, tau1 rises to its limit and comes back when the areas are gone, and the budget is kept (T-4, HK-15, A-6, A-7)."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
print(lib.run(lib.helper("storm")).stdout)
lib.unload_module()
