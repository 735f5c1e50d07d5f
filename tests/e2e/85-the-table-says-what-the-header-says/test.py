#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 180
"""Pages of a private file mapping that were never written are not taken for anonymous memory, however hot; a cost of a scan
that is given by SET is in force in the next interval and stays; shared memory is told as such."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
print(lib.run(lib.helper("table")).stdout, flush=True)
lib.unload_module()
