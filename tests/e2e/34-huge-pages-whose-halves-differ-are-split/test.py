#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# clock: instructions
"""Of two areas of huge pages one is read in the lower half of each page only. With the option the pages of that
area are split, its halves become regions of their own, hot and cold, and move apart; the other's stay
huge pages. Without it, and while another process shares them, no page is examined. The contents hold."""
import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict, List

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HUGE, HALF, PAGE = 2 << 20, 1 << 20, 4096
THP = 1 << 22  # of /proc/kpageflags
HOT_Q8, COLD_Q8 = 4 << 8, 0  # at least 16 accesses a second to an entry, less than one
INTERVALS = 40  # at most, until all is examined: by ones, twos, fours
CAT = lib.build("tests/programs/hmk-tablecat")
SETTINGS = Path("/sys/kernel/mm/transparent_hugepage")


class Program:
    """halves, and where its areas are."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([lib.helper("halves")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1)
        self.pid = self.process.pid
        self.half, self.whole, self.length = (int(word) for word in self.process.stdout.readline().split())

    def tell(self, letter: str) -> int:
        self.process.stdin.write(letter + "\n")
        return int(self.process.stdout.readline())

    def huge_bytes(self, start: int) -> int:
        """AnonHugePages of the area."""
        text = Path(f"/proc/{self.pid}/smaps").read_text(encoding="ascii")
        area = text[text.index(f"{start:x}-{start + self.length:x} "):]
        return int(re.search(r"^AnonHugePages: +(\d+) kB", area, re.M).group(1)) * 1024

    def pages_of_thp(self, start: int) -> int:
        """How many of the area's pages belong to a huge page, however it is mapped."""
        number = self.length // PAGE
        with open(f"/proc/{self.pid}/pagemap", "rb", buffering=0) as pagemap, \
                open("/proc/kpageflags", "rb", buffering=0) as flags:
            pagemap.seek(start // PAGE * 8)
            frames = memoryview(pagemap.read(number * 8)).cast("Q")

            def of(frame: int) -> int:
                flags.seek((frame & (1 << 55) - 1) * 8)
                return int.from_bytes(flags.read(8), "little")
            return sum(of(frame) & THP > 0 for frame in frames)


class Watch:
    """hmk-tablecat on it, interval by interval."""

    def __init__(self, pid: int, *options: str) -> None:
        self.process = subprocess.Popen([CAT, "--pid", str(pid), "--interval", "500ms", "--budget-bp", "5000", *options],
                                        stdout=subprocess.PIPE, text=True)

    def next(self) -> dict:
        row = json.loads(self.process.stdout.readline())
        print(f"interval {row['seq']}: {row['nr_regions']} regions, examined {row['huge_examined']}, split "
              f"{row['huge_split']}, left {row['huge_left']}, {row['profile_ns'] / row['budget_ns']:.2f} of its budget",
              flush=True)
        return row

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(20)


def vmstat(name: str) -> int:
    return int(re.search(rf"^{name} (\d+)$", Path("/proc/vmstat").read_text(encoding="ascii"), re.M).group(1))


def hot_bytes(row: dict, start: int, end: int) -> int:
    """Of the range, in regions that lie in it as a whole."""
    return sum(r["length"] for r in row["records"] if start <= r["start"] and r["start"] + r["length"] <= end
               and r["rate_q8"] >= HOT_Q8)


def halves_apart(program: Program, row: dict) -> bool:
    """Each lower half is regions that are hot, each upper half is regions that are not."""
    starts = range(program.half, program.half + program.length, HUGE)
    cold = [r for r in row["records"] for s in starts if s + HALF <= r["start"] and r["start"] + r["length"] <= s + HUGE
            and r["rate_q8"] < COLD_Q8]
    return (all(hot_bytes(row, s, s + HALF) == HALF for s in starts)
            and sum(r["length"] for r in cold) == program.length // 2)


def left_alone(program: Program, *options: str) -> None:
    """Some intervals after which every page is as it was."""
    watch = Watch(program.pid, *options)
    row = [watch.next() for _ in range(5)][-1]
    watch.end()
    lib.check(hot_bytes(row, program.half, program.half + program.length) == program.length, "the whole area looks hot")
    lib.check(row["huge_examined"] == 0, "nothing was examined")
    for start in (program.half, program.whole):
        lib.check(program.huge_bytes(start) == program.length, "and all is mapped huge")


def split(program: Program) -> Dict[str, int]:
    """With the option, until the halves are known. The counters."""
    before = vmstat("thp_split_page")
    watch = Watch(program.pid, "--split-huge")
    for _ in range(INTERVALS):
        row = watch.next()
        if halves_apart(program, row) and row["huge_examined"] == 2 * program.length // HUGE:
            break
    watch.end()
    lib.check(halves_apart(program, row), "the halves are regions, hot and cold")
    lib.check(vmstat("thp_split_page") - before == row["huge_split"], "the kernel counts as many splits")
    return row


def move_upper_halves(program: Program, node: int) -> None:
    """And nothing else."""
    library = ctypes.CDLL(lib.build("include/libhmk.so"), use_errno=True)
    starts = [start + page * PAGE for start in range(program.half, program.half + program.length, HUGE)
              for page in range(HUGE // PAGE)]
    upper = [at for at in starts if at % HUGE >= HALF]

    def call(pages: List[int], nodes: object) -> List[int]:
        status = (ctypes.c_int * len(pages))()
        done = library.move_memory_regions(program.pid, ctypes.c_ulong(len(pages)),
                                           (ctypes.c_void_p * len(pages))(*pages), nodes, status, 2)
        lib.check(done == 0, f"{len(pages)} pages are {'moved' if nodes else 'found'}")
        return list(status)
    call(upper, (ctypes.c_int * len(upper))(*[node] * len(upper)))
    lib.check([at for at, where in zip(starts, call(starts, None)) if where == node] == upper, "the halves lie apart")


for setting, value in (("enabled", "madvise"), ("khugepaged/scan_sleep_millisecs", "3600000")):
    (SETTINGS / setting).write_text(value, encoding="ascii")
BOOKS = lib.Books()
lib.load_module()
PROGRAM = Program()
left_alone(PROGRAM)
PROGRAM.tell("f")
left_alone(PROGRAM, "--split-huge")
PROGRAM.tell("r")
SEEN = split(PROGRAM)
lib.check(SEEN["huge_split"] == PROGRAM.length // HUGE, "the pages of one area are split")
lib.check(PROGRAM.huge_bytes(PROGRAM.half) == 0 and PROGRAM.pages_of_thp(PROGRAM.half) == 0, "all of them")
lib.check(PROGRAM.pages_of_thp(PROGRAM.whole) == PROGRAM.length // PAGE, "those of the other are huge pages")
lib.check(PROGRAM.huge_bytes(PROGRAM.whole) == PROGRAM.length - SEEN["huge_left"] * HUGE, "not all mapped as such")
lib.check(SEEN["huge_examined"] == SEEN["huge_split"] + SEEN["huge_left"], "nothing else was examined")
move_upper_halves(PROGRAM, 1)
lib.intact(PROGRAM.tell("c") == 0, "every word is right")
lib.unload_module()
lib.load_module(symbols=0)
REFUSED = subprocess.run([CAT, "--pid", str(PROGRAM.pid), "--split-huge"], stderr=subprocess.PIPE, text=True, check=False)
lib.check("Operation not supported" in REFUSED.stderr, f"without the kernel's functions: {REFUSED.stderr.strip()}")
PROGRAM.process.kill()
PROGRAM.process.wait()
lib.unload_module()
BOOKS.balanced()
