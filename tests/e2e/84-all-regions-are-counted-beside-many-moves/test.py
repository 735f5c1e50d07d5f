#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 240
"""More ranges move in each interval than the module notes down one by one: memory that is not moved is still counted."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
print(lib.run(lib.helper("counted")).stdout, flush=True)
lib.unload_module()
