#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The same requests to move_pages(2) and to move_memory_regions(), without and with the module: same
answers, but where the kernel of this series is known to answer worse."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

CONTRACT = lib.helper("contract")

print(lib.run(CONTRACT, "kernel").stdout)
print(lib.run(CONTRACT, "library").stdout)
lib.load_module()
print(lib.run(CONTRACT, "module").stdout)
lib.unload_module()
