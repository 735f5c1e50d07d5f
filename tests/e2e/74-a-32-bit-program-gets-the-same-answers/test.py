#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a program asks by the system calls of 32-bit programs it is answered as by those of 64 bits, and its pages move."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

lib.load_module()
said = lib.run(lib.helper("compat"), check_status=False)
print(said.stdout, flush=True)
lib.check(said.returncode == 0 and "29 of 29" in said.stdout, "both entries answer alike")
for answer, value in ((6, 0), (10, 0), (11, 0), (12, 0), (13, 16), (14, 16), (15, 0), (17, 0), (18, 16), (22, 0), (23, -22), (24, 0), (28, 65536)):
    lib.check(f"answer {answer} is {value}," in said.stdout, f"answer {answer} is that of a session that works")
lib.unload_module()
