#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# kernels: 6.1 6.12
# suite: none
# selftests: yes
# timeout: 600
# seconds: 1200
"""The kernel's own tests of migration, copy on write, madvise, mremap, userfaultfd, KSM, soft-dirty bits, locked and secret
memory, as many as begin in time, give the same result when each process of theirs is profiled and moved to and fro. A case
that fails then must also fail when it is move_pages(2) that moves: some say where a page is, or how often it faults. A
program of which nothing was moved shows nothing and is not counted."""
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

TESTS = Path(os.environ["HMK_SELFTESTS"])
LIMIT = 240    # seconds of one program
CONTROLS = 6   # runs beside move_pages(2) to see a case fail, which chance decides there as here
TRIES = 6      # runs of one that gave up, or was over before anything of it had moved
NOT_ENDED = "does not end"
# They read a page's state in two ways and give up when it has changed between: says nothing of the page.
LOOKED_TWICE = "Bail out! read and ioctl return unmatched results"
# Without ksm_tests -N, which wants two pages to stay on two nodes, and khugepaged, which does not compile.
PROGRAMS = (
    "cow", "mkdirty", "madv_populate", "mremap_test", "mremap_dontunmap", "uffd-unit-tests", "uffd-stress anon 20 4",
    "uffd-stress shmem 20 4", "ksm_functional_tests", "ksm_tests -M -p 10", "ksm_tests -U", "ksm_tests -Z -p 10 -z 0",
    "soft-dirty", "pagemap_ioctl", "mlock2-tests", "mlock-random-test", "memfd_secret", "mrelease_test", "split_huge_page_test",
    "transhuge-stress -d 4", "map_populate", "map_fixed_noreplace", "gup_longterm", "mseal_test", "mdwe_test", "droppable",
    "protection_keys_64", "migration")


class Run:
    """What a program said: its exit status, the verdict of each case that has one, what was moved meanwhile."""

    def __init__(self, program, mover=None):
        name, *arguments = program.split()
        beside = [lib.helper("beside"), mover] if mover else []
        try:
            done = subprocess.run([*beside, str(TESTS / name), *arguments], check=False, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, errors="replace", timeout=LIMIT, cwd="/tmp")
            self.status, self.said = f"ends with {done.returncode}", done.stdout
        except subprocess.TimeoutExpired as late:
            self.status, self.said = NOT_ENDED, (late.stdout or b"").decode(errors="replace")
        cases = re.findall(r"^[# ]*((?:not )?ok) (\d+)", self.said, re.M)
        self.cases = {int(number): verdict for verdict, number in cases}
        told = re.search(r"profiled \d+, moved (\d+)", self.said)
        self.moved, self.told = (int(told.group(1)), told.group(0)) if told else (0, "no word of what was moved")

    def unlike(self, other):
        """The first case with another verdict, "status" when there is none, None when all is the same.

        Where `other` has not ended, how far it came is a matter of time: the cases both have reached are compared.
        """
        ended = other.status != NOT_ENDED
        reached = {**self.cases, **other.cases} if ended else self.cases.keys() & other.cases.keys()
        first = [case for case in sorted(reached) if self.cases.get(case) != other.cases.get(case)]
        return first[0] if first else None if not ended or self.status == other.status else "status"


def run_beside(program, mover):
    """Anew where the mover came between two looks at one page, or came too late."""
    for _ in range(TRIES):
        run = Run(program, mover)
        if run.status == NOT_ENDED or LOOKED_TWICE not in run.said and run.moved > 0:
            break
    return run


def fails_alike(control, beside, alone, case):
    """Whether the control shows this case as it came out beside hmk: where it fails sooner, it has shown nothing of it."""
    return control.unlike(alone) == case or case in control.cases and control.cases[case] == beside.cases.get(case)


def is_the_kernels_own(program, beside, alone, case):
    """Whether it also comes out so when move_pages(2) moves."""
    return any(fails_alike(run_beside(program, "move_pages"), beside, alone, case) for _ in range(CONTROLS))


Path("/proc/sys/kernel/randomize_va_space").write_text("0", encoding="ascii")  # mremap_test draws addresses that may be taken
Path("/proc/sys/vm/overcommit_memory").write_text("1", encoding="ascii")       # and maps 2 GiB of which it touches little
lib.load_module()
wrong = same = unmoved = 0
end = time.monotonic() + int(os.environ["HMK_SECONDS"])
for program in PROGRAMS:
    if time.monotonic() > end:
        break
    if not (TESTS / program.split()[0]).exists():
        print(f"{program}: does not compile here", flush=True)
        continue
    alone = Run(program)
    beside = run_beside(program, "hmk")
    case = beside.unlike(alone)
    what = f"{program}: {alone.status}, {list(alone.cases.values()).count('ok')} of {len(alone.cases)} cases ok, {beside.told}"
    if case is None and alone.status == NOT_ENDED:
        print(f"{what}: not counted; the cases both reached are the same", flush=True)
    elif case is None and beside.moved == 0:
        print(f"{what}: not counted; nothing of it was moved in {TRIES} runs", flush=True)
        unmoved += 1
    elif case is None:
        print(f"ok: {what}", flush=True)
        same += 1
    elif is_the_kernels_own(program, beside, alone, case):
        print(f"ok: {what}; case {case} fails as beside move_pages(2)", flush=True)
        same += 1
    else:
        print(f"NOT OK: {what}; case {case} differs, and does not beside move_pages(2)", flush=True)
        print("\n".join(beside.said.splitlines()[-30:]), flush=True)
        wrong += 1
lib.figures(count=same, lost=wrong)
lib.check(same + wrong > 0, f"{same + wrong} programs were moved, {unmoved} could not be")
lib.check(wrong == 0, f"{same} programs notice nothing that move_pages(2) does not do, {wrong} do")
lib.unload_module()
