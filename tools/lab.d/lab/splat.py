# SPDX-License-Identifier: MIT
"""Finds what a healthy kernel never prints. One hit makes a test fail, whatever its exit status."""
import itertools
import re
from typing import Iterable, List, Sequence

# Bits 22 to 31 of a CPU's flags are always 0.
IMPOSSIBLE_FLAGS = r"EFLAGS: (?!00[0-3])[0-9a-f]{8}\b"

SPLAT = re.compile(
    r"\bWARNING: |\bBUG: |kernel BUG at|\bOops\b|\bKASAN: |\bKCSAN: |\bKFENCE: |\bUBSAN: |\bKMSAN: |"
    r"Bad page |Bad rss-counter|unable to handle|general protection fault|Kernel panic|"
    r"possible (circular|recursive) locking|lockdep|inconsistent lock state|suspicious RCU usage|"
    r"(rcu|RCU).*(stall|self-detected)|hung task|blocked for more than \d+ seconds|soft lockup|hard LOCKUP|"
    r"sleeping function called|scheduling while atomic|page allocation failure|Call Trace:|"
    r"refcount_t: |list_(add|del) corruption|stack segment|double fault|invalid opcode|unreferenced object|"
    r"suspected memory leak|possible (irq|deadlock)|bad unlock balance|held lock freed|Invalid wait context|"
    r"\w+: [0-9a-f]{4} \[#\d+\]|" + IMPOSSIBLE_FLAGS + r"|page_table_check|bad pmd|bad pte|Corrupted|ODEBUG:|Voluntary context switch within RCU")

# Known, harmless, and printed by an untouched kernel in this machine as well.
NOISE = re.compile(
    r"lockdep is turned off|RCU lockdep checking is enabled|ODEBUG: selftest passed|"
    r"loading out-of-tree module taints|module verification failed|"
    r"rcu: .*(CONFIG_|cpu_stall|Hierarchical|delay)|rcu_cpu_stall_timeout|RCU Tasks|"
    r"Spectre|Speculative|MDS|retbleed|TAA|no PTI|x86/bugs")


# What the kernel says of an allocation that fails because a test made it fail, between these two lines of the test.
INJECTED = re.compile(r"page allocation failure|Call Trace:|\] +(\? )?\w+\+0x[0-9a-f]+/0x")
BEGIN, END = "hmk-lab: failures are injected", "hmk-lab: failures are no longer injected"


NO_DEFECT = "no defect of what is tested"

# What no machine can do, with what QEMU has done then: a breakpoint nobody has set is the first byte of code that the kernel is just
# patching; bits 22 to 31 of a CPU's flags are always 0, and QEMU before 9.1 takes an operand for flags where the memory access of an
# ALU instruction faults.
OF_QEMU = (
    (re.compile(r"\bint3: [0-9a-f]{4} \[#\d+\]"), "QEMU ran code that the kernel was patching on another CPU"),
    (re.compile(IMPOSSIBLE_FLAGS), "no CPU has such flags, QEMU took an operand for them"),
)


# A report of KCSAN has a stack below each such line, the access first, and ends with a double line.
RACE, RACE_END, ACCESS = "KCSAN: data-race", re.compile(r"={60}$"), re.compile(r"\b(read|write) .* by (task|interrupt) .*:$")
MODULE = re.compile(r"\+0x\w+/0x\w+ \[\w+\]")
LIBRARY = re.compile(r" _*(mem|str|h?list|rb|find|bitmap|xa|sort|copy)\w*\+0x")


def _is_of_a_module(lines: Sequence[str]) -> bool:
    """Whether in the report that begins here an access is of a module's function, or made for it as memcpy() does.

    The kernel's own code races in many places, and below whoever calls it, be it a system call or a module.
    """
    report = list(itertools.takewhile(lambda line: not RACE_END.search(line), lines))
    stacks = (report[at + 1:] for at, line in enumerate(report) if ACCESS.search(line))
    who = (next((frame for frame in stack if not LIBRARY.search(frame)), "") for stack in stacks)
    return any(map(MODULE.search, who))


def splats(log: Iterable[str]) -> List[str]:
    """The lines of a kernel log that report a defect."""
    found, injecting, lines = [], False, list(log)
    for at, line in enumerate(lines):
        if BEGIN in line or END in line:
            injecting = BEGIN in line
        elif RACE in line and not _is_of_a_module(lines[at:]):
            continue
        elif SPLAT.search(line) and not NOISE.search(line) and not (injecting and INJECTED.search(line)):
            found.append(line)
    return found


# What a kernel says that gets no time from its host; nothing is broken by it.
LATE = re.compile(r"(rcu|RCU).*(stall|self-detected)|hung task|blocked for more than \d+ seconds|soft lockup|Call Trace:")


def _of_qemu(found: Sequence[str]) -> str:
    """The line that no machine would have printed, with its cause; nothing where there is none."""
    return next((f"{line.strip()} ({cause}; {NO_DEFECT})" for pattern, cause in OF_QEMU for line in found
                 if pattern.search(line)), "")


def broken(found: Sequence[str]) -> bool:
    """Whether splats() say more than that time was short, or that QEMU erred."""
    return not _of_qemu(found) and not all(map(LATE.search, found))


def telling(found: Sequence[str]) -> str:
    """Of splats() the one that says what happened, with the cause where it is known to lie outside."""
    return _of_qemu(found) or found[0].strip()
