#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# suite: 6.12
# timeout: 300
# clock: instructions
"""Sixteen processes that access one pool of shared memory, none of them its hot part often: with `shared: yes` that part rises
all the same, since one of them stands for all, and only that one moves: nothing is moved up by one and down by another."""
import re
import subprocess
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, MIB = 1, 2, 1 << 20
PROCESSES, POOL_MIB, HOT_MIB, RATE = 16, 256, 64, 400000
FAST_MIB = 128
OWN_MIB = 1   # of one process: stack, heap, written pages of libraries
AT_REST = 6   # intervals


def rows() -> dict:
    """By PID."""
    return {row["pid"]: row for row in lib.ask_hmkd("stats")["targets"]}


def moved(row: dict) -> int:
    """Bytes so far."""
    return int(row["promoted_bytes"] + row["demoted_bytes"])


def hot_share() -> float:
    """The part of the hot pages that is in the fast tier."""
    nodes = lib.nodes_of(program.pid, pool + (POOL_MIB - HOT_MIB) * MIB, HOT_MIB * MIB // 4096)
    return nodes.count(FAST) / len(nodes)


lib.load_module()
program = subprocess.Popen(["numactl", f"--preferred={SLOW}", lib.helper("backends"), str(PROCESSES), str(POOL_MIB), str(HOT_MIB), str(RATE)],
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
pool = int(program.stdout.readline().split()[1])
lib.check(hot_share() == 0, "the pool begins in the slow tier")
daemon = lib.start_hmkd(f"mode: manage\ninterval: 2s\noverhead: 5%\npromote_limit: 16MiB\nreserve: 4MiB\nshared: yes\ntiers: [{FAST}, {SLOW}]\n"
                        "attach: [comm=backends]\nattach_poll: 1s\n")
lib.wait_for(lambda: len(rows()) == PROCESSES + 1, 60, "all are managed")
lib.wait_for(lambda: hot_share() >= 0.9, 120, "nine tenths of the hot part are in the fast tier")
before = rows()
end = max(row["intervals"] for row in before.values()) + AT_REST
lib.wait_for(lambda: max(row["intervals"] for row in rows().values()) >= end, 60, f"{AT_REST} more intervals")
after = rows()
by_pid = sorted(((moved(row) / MIB, pid) for pid, row in after.items()), reverse=True)
print(f"MiB moved, and by whom: {by_pid}", flush=True)
print(f"at rest: {sum(moved(row) - moved(before[pid]) for pid, row in after.items()) / MIB:.1f} MiB in {AT_REST} intervals", flush=True)
lib.check(hot_share() >= 0.9, f"{hot_share():.3f} of the hot part stay there")
lib.check(by_pid[1][0] <= OWN_MIB, f"one process moves the pool: of all others none has moved more than {by_pid[1][0]:.2f} MiB, its own memory")
lib.check(by_pid[0][0] <= FAST_MIB + 2 * HOT_MIB, f"{by_pid[0][0]:.0f} MiB moved: the fast tier is filled once, the hot part exchanged once")
lib.end_hmkd(daemon)
program.stdin.close()
lost = int(re.match(r"lost (\d+)", program.stdout.readline()).group(1))
lib.intact(lost == 0, f"of all counts {lost} were lost")
lib.check(program.wait() == 0, "the program ends with 0")
lib.unload_module()
