# SPDX-License-Identifier: MIT
"""Start a program under weighted interleave, as numactl does from 2.0.19 on, which Debian 12 has not:

    python3 -B interleaved.py 0,1,2 COMMAND ARGS...      # over these nodes
"""
import ctypes
import os
import sys

SET_MEMPOLICY, MPOL_WEIGHTED_INTERLEAVE = 238, 6  # of x86-64; of linux/mempolicy.h
MOST_NODES = 64

mask = ctypes.c_ulong(sum(1 << int(node) for node in sys.argv[1].split(",")))
libc = ctypes.CDLL(None, use_errno=True)
if libc.syscall(SET_MEMPOLICY, MPOL_WEIGHTED_INTERLEAVE, ctypes.byref(mask), MOST_NODES + 1):
    sys.exit(f"weighted interleave over nodes {sys.argv[1]}: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[2], sys.argv[2:])
