#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 300
"""128 TiB of which next to nothing is there, and 65,000 VMAs of one page: intervals end, pages are found and move."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
for space in ("sparse", "many"):
    print(lib.run(lib.helper("strange"), space).stdout, flush=True)
lib.unload_module()
