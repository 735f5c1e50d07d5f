#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every malformed request gets the errno of the header's table and leaves the session as it was; a
user without the right to trace the target learns nothing."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
print(lib.run(lib.helper("refuse")).stdout)
lib.unload_module()
