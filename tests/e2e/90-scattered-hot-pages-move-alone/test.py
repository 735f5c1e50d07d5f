#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.1 6.12
# timeout: 240
# clock: host instructions
"""One page in eight is hot, scattered by chance over pieces of 2 MiB that are alike as a whole, and later others
are. Read page by page, each hot page and no other is told as hot and moves alone when its class is named; so do the
cold ones back; every write is kept."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
for way in ("own", "vma"):
    print(lib.run(lib.helper("scattered"), way).stdout)
lib.unload_module()
