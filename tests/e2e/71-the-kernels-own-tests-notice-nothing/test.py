#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# kernels: 6.1 6.12
# suite: none
# selftests: yes
# timeout: 600
# seconds: 1200
"""The kernel's own tests of migration, copy on write, madvise, mremap, userfaultfd, KSM, soft-dirty bits, locked and secret
memory, as many as begin in time, give the same result when each process of theirs is profiled and moved to and fro. A case
that comes out otherwise then must also do so when it is move_pages(2) that moves: some say where a page is, or how often it
faults, and of some chance decides (a page that is held while ksmd looks stays unmerged). A program of which nothing was moved
shows nothing and is not counted, nor is one that has not been compared when the test has to end."""
import os
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryFile

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

TESTS = Path(os.environ["HMK_SELFTESTS"])
LIMIT = 240    # seconds of one program
AFTER = 600    # seconds left to the test when it begins no more programs: the timeout above
SPARE = 60     # of these, to unload the module and look at its books
CONTROLS = 20  # runs beside move_pages(2) to see a case differ: what chance does to both is missed in 1.8 % at most, p (1 - p)^20
TRIES = 6      # runs of one that gave up, or was over before anything of it had moved
TIME_IS_UP = 124
# They read a page's state in two ways and give up when it has changed between: says nothing of the page.
LOOKED_TWICE = "Bail out! read and ioctl return unmatched results"
# They look once whether ksmd has merged pages, and it leaves one alone that a move holds at that moment: 2 of 36 runs of -Z beside hmk,
# none of 12 beside move_pages(2). Such a case differs when it does so in most of TRIES more runs.
MERGED_BY_CHANCE = ("ksm_tests -M -p 10", "ksm_tests -Z -p 10 -z 0")
# Without ksm_tests -N, which wants two pages to stay on two nodes, and khugepaged, which does not compile. The last one drops the
# page cache before each case, which takes minutes.
PROGRAMS = (
    "cow", "mkdirty", "madv_populate", "mremap_test", "mremap_dontunmap", "uffd-unit-tests", "uffd-stress anon 20 4",
    "uffd-stress shmem 20 4", "ksm_functional_tests", "ksm_tests -M -p 10", "ksm_tests -U", "ksm_tests -Z -p 10 -z 0",
    "soft-dirty", "pagemap_ioctl", "mlock2-tests", "mlock-random-test", "memfd_secret", "mrelease_test",
    "transhuge-stress -d 4", "map_populate", "map_fixed_noreplace", "gup_longterm", "mseal_test", "mdwe_test", "droppable",
    "protection_keys_64", "migration", "split_huge_page_test")


class NoTimeLeft(Exception):
    """A run that began now could outlast the test."""


class Run:
    """What a program said: its exit status, the verdict of each case that has one, what was moved meanwhile."""

    def __init__(self, program, mover):
        if time.monotonic() + LIMIT > end + AFTER - SPARE:
            raise NoTimeLeft
        name, *arguments = program.split()
        with TemporaryFile() as output:  # a pipe would be waited for until the last who has it open has ended
            done = subprocess.run([lib.helper("beside"), mover, str(LIMIT), str(TESTS / name), *arguments], check=False,
                                  stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd="/tmp")
            output.seek(0)
            self.said = output.read().decode(errors="replace")
        self.ended, self.status = done.returncode != TIME_IS_UP, f"ends with {done.returncode}"
        cases = re.findall(r"^[# ]*((?:not )?ok) (\d+)", self.said, re.M)
        self.cases = {int(number): verdict for verdict, number in cases}
        told = re.search(r"profiled \d+, moved (\d+)", self.said)
        self.moved, self.told = (int(told.group(1)), told.group(0)) if told else (0, "no word of what was moved")

    def unlike(self, other):
        """The first case with another verdict, "status" when there is none, None when all is the same.

        Where `other` has not ended, how far it came is a matter of time: the cases both have reached are compared.
        """
        reached = {**self.cases, **other.cases} if other.ended else self.cases.keys() & other.cases.keys()
        first = [case for case in sorted(reached) if self.cases.get(case) != other.cases.get(case)]
        return first[0] if first else None if not other.ended or self.status == other.status else "status"


def run_beside(program, mover):
    """Anew where the mover came between two looks at one page, or came too late."""
    for _ in range(TRIES):
        run = Run(program, mover)
        if not run.ended or LOOKED_TWICE not in run.said and run.moved > 0:
            break
    return run


def fails_alike(control, beside, alone, case):
    """Whether the control shows this case as it came out beside hmk: where it fails sooner, it has shown nothing of it."""
    return control.unlike(alone) == case or case in control.cases and control.cases[case] == beside.cases.get(case)


def is_the_kernels_own(program, beside, alone, case):
    """Whether it also comes out so when move_pages(2) moves."""
    return any(fails_alike(run_beside(program, "move_pages"), beside, alone, case) for _ in range(CONTROLS))


def compare(program):
    """One of "same", "differs", "not counted", and what is to be said of it."""
    alone, beside = Run(program, "nobody"), run_beside(program, "hmk")
    case = beside.unlike(alone)
    what = f"{program}: {alone.status}, {list(alone.cases.values()).count('ok')} of {len(alone.cases)} cases ok, {beside.told}"
    if case is None and not alone.ended:
        return "not counted", f"{what}: alone it takes more than {LIMIT} s; the cases both reached are the same"
    if case is None and beside.moved == 0:
        return "not counted", f"{what}: nothing of it was moved in {TRIES} runs"
    if case is None:
        return "same", what
    try:
        if is_the_kernels_own(program, beside, alone, case):
            return "same", f"{what}; case {case} fails as beside move_pages(2)"
        why = "and does not beside move_pages(2)"
        if program in MERGED_BY_CHANCE:
            again = sum(run_beside(program, "hmk").unlike(alone) == case for _ in range(TRIES))
            if again <= TRIES // 2:
                return "same", f"{what}; case {case} differed by chance, and in {again} of {TRIES} more runs"
            why += f", and in {again} of {TRIES} more runs"
    except NoTimeLeft:
        why = "and no time is left to see whether it does beside move_pages(2)"
    return "differs", f"{what}; case {case} differs, {why}\n" + "\n".join(beside.said.splitlines()[-30:])


Path("/proc/sys/kernel/randomize_va_space").write_text("0", encoding="ascii")  # mremap_test draws addresses that may be taken
Path("/proc/sys/vm/overcommit_memory").write_text("1", encoding="ascii")       # and maps 2 GiB of which it touches little
lib.load_module()
verdicts: Counter = Counter()
end = time.monotonic() + int(os.environ["HMK_SECONDS"])
for program in PROGRAMS:
    if time.monotonic() > end:
        break
    if not (TESTS / program.split()[0]).exists():
        print(f"{program}: does not compile here", flush=True)
        continue
    try:
        verdict, why = compare(program)
    except NoTimeLeft:
        verdict, why = "not counted", f"{program}: no time left to tell"
    print(f"{ {'same': 'ok', 'differs': 'NOT OK'}.get(verdict, verdict)}: {why}", flush=True)
    verdicts[verdict] += 1
same, wrong = verdicts["same"], verdicts["differs"]
lib.figures(count=same, lost=wrong)
lib.check(same + wrong > 0, f"{same + wrong} programs were compared, {verdicts['not counted']} could not be")
lib.check(wrong == 0, f"{same} programs notice nothing that move_pages(2) does not do, {wrong} do")
lib.unload_module()
