#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 180
"""Targets that exit, exec or are killed while they are profiled and moved, and movers that are killed:
the session says so, nothing is leaked, the target runs on, and the module unloads."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
lib.run(lib.helper("lifecycle"), "warm-up")
before = lib.free_pages()
print(lib.run(lib.helper("lifecycle"), "all").stdout)
lib.wait_for(lambda: abs(lib.free_pages() - before) < 4096, 10, f"free pages back at {before}")
lib.unload_module()
