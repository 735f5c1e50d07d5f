#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 180
"""Targets that exit, exec or are killed while they are profiled and moved, and movers that are killed:
the session says so, nothing is leaked, the target runs on, and the module unloads."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
lib.trace_module()
lib.run(lib.helper("lifecycle"), "warm-up")
lib.check("cookie=7 ranges=1 err=0" in lib.traced("hmk_ticket")[0], "the ticket is traced")
lib.check("seq=1 " in lib.traced("hmk_interval")[0], "the end of an interval is traced")
before = lib.free_pages()
print(lib.run(lib.helper("lifecycle"), "all").stdout)
lib.wait_for(lambda: abs(lib.free_pages() - before) < 4096, 10, f"free pages back at {before}")
lib.unload_module()
