#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# kernels: 6.1 6.12
# timeout: 120
# count: yes
# module: no
"""A program bound to each node in turn: the plugin charges at least 99.9 % of its accesses to that
node, as many as there are lines, to the vCPU, mode and kind they belong to, also after a move."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

LINES = (48 << 20) // 64
CASES = [(cpu, node, None) for node in range(4) for cpu in (0, 1)] + [(0, 0, 3), (0, 3, 1)]


def expect(row: dict, cpu: int, node: int, mode: str, kind: str, what: str) -> None:
    """Nearly all misses of the phase lie where they must, and their number is the number of lines."""
    counted = lib.misses(row, cpu, mode)
    right = lib.misses(row, cpu, mode, kind)[node]
    lib.check(counted[node] >= 0.999 * sum(counted), f"{what}: {counted} are in node {node}")
    lib.check(0.99 * LINES <= right <= 1.01 * LINES, f"{what}: {right} {kind} misses for {LINES} lines")


for cpu, node, to in CASES:
    before = len(lib.marks()) if (lib.RESULTS / "marks.jsonl").exists() else 0
    arguments = [node] if to is None else [node, to]
    lib.run("taskset", "-c", cpu, lib.helper("touch"), *arguments)
    rows = lib.marks()[before:]
    lib.check([row["mark"] for row in rows] == [1, 2, 3], f"marks 1, 2, 3 were seen on CPU {cpu}")
    final = node if to is None else to
    label = f"CPU {cpu}, node {node}" + ("" if to is None else f" moved to {to}")
    expect(rows[0], cpu, final, "user", "read", f"{label}, user reads")
    expect(rows[1], cpu, final, "user", "write", f"{label}, user writes")
    in_kernel = lib.misses(rows[2], cpu, "kernel", "write")[final]
    lib.check(0.99 * LINES <= in_kernel <= 1.05 * LINES, f"{label}: {in_kernel} writes by the kernel")
    lib.check(sum(lib.misses(rows[2], cpu)) < 0.001 * LINES, f"{label}: copies by the kernel are not the user's")
