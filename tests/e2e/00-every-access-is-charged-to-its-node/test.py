#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# kernels: 6.1 6.12
# timeout: 300
# count: yes
# pages: yes
# clock: host instructions
# qemu: system backports
# module: no
"""A program bound to each node in turn: the plugin charges at least 99.9 % of its accesses to that
node, as many as there are lines, to the vCPU, mode and kind they belong to, also after a move."""
import os
import sys

sys.path.insert(0, sys.path[0] + "/..")
sys.path.insert(0, os.environ["HMK_LAB_ROOT"] + "/tools/lab.d")
import lib  # noqa: E402
from lab import pages  # noqa: E402

LINES = (48 << 20) // 64
PAGES = (48 << 20) // 4096
CASES = [(cpu, node, None) for node in range(4) for cpu in (0, 1)] + [(0, 0, 3), (0, 3, 1)]


def expect(row: dict, cpu: int, node: int, mode: str, kind: str, what: str) -> None:
    """Nearly all misses of the phase lie where they must, and their number is the number of lines."""
    counted = lib.misses(row, cpu, mode)
    right = lib.misses(row, cpu, mode, kind)[node]
    lib.check(counted[node] >= 0.999 * sum(counted), f"{what}: {counted} are in node {node}")
    lib.check(0.99 * LINES <= right <= 1.01 * LINES, f"{what}: {right} {kind} misses for {LINES} lines")


def expect_pages(row: dict, cpu: int, first: int, what: str) -> None:
    """Every page of the buffer was missed once a line, and no miss of CPU 0 is missing from the pages."""
    counts = pages.read(lib.RESULTS / f"pages-{row['seq']}.bin")
    of_buffer = [counts.get(page, 0) for page in range(first, first + PAGES)]
    right = sum(63 <= count <= 66 for count in of_buffer) if cpu == 0 else of_buffer.count(0)
    lib.check(right >= 0.99 * PAGES, f"{what}: {right} of {PAGES} pages have as many misses as lines, none on CPU 1")
    lib.check(sum(counts.values()) == sum(lib.misses(row, 0)), f"{what}: the pages' misses add up to CPU 0's")


for cpu, node, to in CASES:
    before = len(lib.marks()) if (lib.RESULTS / "marks.jsonl").exists() else 0
    arguments = [node] if to is None else [node, to]
    done = lib.run("taskset", "-c", cpu, lib.helper("touch"), *arguments)
    rows = lib.marks()[before:]
    lib.check([row["mark"] for row in rows] == [14, 2, 3], f"marks 14, 2, 3 were seen on CPU {cpu}")
    final = node if to is None else to
    label = f"CPU {cpu}, node {node}" + ("" if to is None else f" moved to {to}")
    expect(rows[0], cpu, final, "user", "read", f"{label}, user reads")
    expect_pages(rows[0], cpu, int(done.stdout), label)
    expect(rows[1], cpu, final, "user", "write", f"{label}, user writes")
    in_kernel = lib.misses(rows[2], cpu, "kernel", "write")[final]
    lib.check(0.99 * LINES <= in_kernel <= 1.05 * LINES, f"{label}: {in_kernel} writes by the kernel")
    lib.check(sum(lib.misses(rows[2], cpu)) < 0.001 * LINES, f"{label}: copies by the kernel are not the user's")

lib.mark(0)
lib.mark(15)
lib.run("taskset", "-c", 0, lib.helper("touch"), 0)
stopped, resumed = [row for row in lib.marks() if row["mark"] == 15][-1], lib.marks()[-1]
lib.check(sum(lib.misses(stopped, 1)) < LINES, "few misses lie between marks 0 and 15 with nothing between them")
lib.check(resumed["mark"] == 3 and sum(lib.misses(resumed, 0, "kernel", "write")) > 0.99 * LINES,
          "mark 0 starts the counting again")
lib.mark(15)
lib.run("taskset", "-c", 0, lib.helper("touch"), 0, env={**os.environ, "TOUCH_WITHOUT_MARKS": "1"})
lib.mark(1)
stopped, after = lib.marks()[-2:]
counted = sum(lib.misses(after, 0)) - sum(lib.misses(stopped, 0))
lib.check([stopped["mark"], after["mark"]] == [15, 1] and counted < 0.001 * LINES,
          f"nothing is counted between mark 15 and the next mark 0, but {counted} under way as it came")
