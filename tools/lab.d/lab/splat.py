# SPDX-License-Identifier: MIT
"""Finds what a healthy kernel never prints. One hit makes a test fail, whatever its exit status."""
import re
from typing import Iterable, List

SPLAT = re.compile(
    r"\bWARNING: |\bBUG: |kernel BUG at|\bOops\b|\bKASAN: |\bKCSAN: |\bKFENCE: |\bUBSAN: |\bKMSAN: |"
    r"Bad page |Bad rss-counter|unable to handle|general protection fault|Kernel panic|"
    r"possible (circular|recursive) locking|lockdep|inconsistent lock state|suspicious RCU usage|"
    r"(rcu|RCU).*(stall|self-detected)|hung task|blocked for more than \d+ seconds|soft lockup|hard LOCKUP|"
    r"sleeping function called|scheduling while atomic|page allocation failure|Call Trace:|"
    r"refcount_t: |list_(add|del) corruption|stack segment|double fault|invalid opcode|unreferenced object|"
    r"suspected memory leak|possible (irq|deadlock)|bad unlock balance|held lock freed|Invalid wait context|"
    r"page_table_check|bad pmd|bad pte|Corrupted|ODEBUG:|Voluntary context switch within RCU")

# Known, harmless, and printed by an untouched kernel in this machine as well.
NOISE = re.compile(
    r"lockdep is turned off|RCU lockdep checking is enabled|ODEBUG: selftest passed|"
    r"loading out-of-tree module taints|module verification failed|"
    r"rcu: .*(CONFIG_|cpu_stall|Hierarchical|delay|stall_timeout)|RCU Tasks|"
    r"Spectre|Speculative|MDS|retbleed|TAA|no PTI|x86/bugs")


# What the kernel says of an allocation that fails because a test made it fail, between these two lines of the test.
INJECTED = re.compile(r"page allocation failure|Call Trace:|\] +(\? )?\w+\+0x[0-9a-f]+/0x")
BEGIN, END = "hmk-lab: failures are injected", "hmk-lab: failures are no longer injected"


def splats(lines: Iterable[str]) -> List[str]:
    """The lines of a kernel log that report a defect."""
    found, injecting = [], False
    for line in lines:
        if BEGIN in line or END in line:
            injecting = BEGIN in line
        elif SPLAT.search(line) and not NOISE.search(line) and not (injecting and INJECTED.search(line)):
            found.append(line)
    return found
