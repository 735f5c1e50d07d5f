#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 180
# clock: instructions
"""Areas whose leaves are accessed once, 30 and 1000 times a second are told within a factor of four after six intervals of a
second, and a hot set is told from cold memory that is accessed several times a second as well after twelve, in base and in huge
pages."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
for pages in ("base", "huge"):
    told = lib.run(lib.helper("rates"), pages, check_status=False)
    print(told.stdout)
    lib.check(told.returncode == 0, f"rates of {pages} pages are told")
lib.unload_module()
