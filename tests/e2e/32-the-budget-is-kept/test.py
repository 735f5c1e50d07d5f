#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 600
# clock: instructions
"""The CPU time of profiling stays within its budget in every interval after the second, at 0.5, 1, 2, 5
and 10 %, and three sessions of different weight keep one budget together. The guest's clock counts
instructions and it has one CPU, so that nobody's time is charged to the profiler but its own."""
import json
import subprocess
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

INTERVALS, INTERVAL_NS = 8, 500_000_000
ENOUGH_BP = 100  # a budget with which an interval need not be longer than asked for
SETTLED = 2  # the first learns what a scan costs, the second judges the first regions


def load():
    """A process that uses its pages at random, half of them more, and pauses in between: the clock jumps then, which a busy one makes wait."""
    return lib.start_gups("--size", "128MiB", "--hot", "50%", "--rate", 60000)


def watch(program, budget_bp, weight=100, intervals=INTERVALS):
    """hmk-tablecat on it, under way."""
    return subprocess.Popen([lib.build("tests/programs/hmk-tablecat"), "--pid", str(program.pid), "--interval", f"{INTERVAL_NS // 1_000_000}ms",
                             "--intervals", str(intervals), "--budget-bp", str(budget_bp), "--weight", str(weight),
                             "--brief"], stdout=subprocess.PIPE, text=True)


def rows(cat):
    """Its intervals, once it has ended."""
    text = cat.communicate(timeout=120)[0]
    lib.check(cat.returncode == 0, "hmk-tablecat ends with 0")
    return [json.loads(line) for line in text.splitlines()]


def show(row):
    """One line for the log."""
    print(f"interval {row['seq']}: {length_ns(row) / 1e6:.0f} ms, {row['profile_ns'] / row['budget_ns']:.2f} of its budget of "
          f"{row['budget_ns'] / 1e6:.2f} ms, {row['nr_regions']} regions, {row['nr_samples']} samples at "
          f"{row['scan_cost_ns']} ns", flush=True)


def length_ns(row):
    return row["end_ns"] - row["start_ns"]


def is_share(row, share):
    """Of the interval, whatever its length: where little is left beside judging the regions, it is longer than asked for."""
    return abs(row["budget_ns"] / length_ns(row) / share - 1) < 0.05


def each_budget_is_kept(program):
    """One session, five budgets."""
    for budget_bp in (50, 100, 200, 500, 1000):
        seen = rows(watch(program, budget_bp))
        for row in seen:
            show(row)
        settled = seen[SETTLED:]
        lib.check(all(row["profile_ns"] <= row["budget_ns"] and is_share(row, budget_bp / 10000) for row in settled),
                  f"{budget_bp / 100} % is kept in {len(settled)} intervals")
        lib.check(all(row["nr_samples"] > 0 for row in settled), "while pages are watched")
        lib.check(budget_bp < ENOUGH_BP or all(length_ns(row) < 1.1 * INTERVAL_NS for row in settled), "in intervals as asked for")


def sessions_share_it(programs):
    """Weights 100, 100 and 200 of one budget of 4 %; afterwards one session has it all again."""
    cats = [watch(program, 400, weight) for program, weight in zip(programs, (100, 100, 200))]
    together = [rows(cat) for cat in cats]
    since, until = max(seen[0]["start_ns"] for seen in together), min(seen[-1]["start_ns"] for seen in together)
    for seen, share in zip(together, (0.25, 0.25, 0.5)):
        beside = [row for row in seen[SETTLED:] if since <= row["start_ns"] < until]
        lib.check(len(beside) > 2, f"{len(beside)} intervals beside the others")
        for row in beside:
            show(row)
            lib.check(is_share(row, 0.04 * share), f"{share} of the budget")
            lib.check(0 < row["profile_ns"] <= row["budget_ns"], "and no more")
    alone = rows(watch(programs[0], 400, intervals=2))
    lib.check(is_share(alone[-1], 0.04), "a session that is alone has all of it")


lib.load_module()
LOADS = [load()]
each_budget_is_kept(LOADS[0])
LOADS += [load() for _ in range(2)]
sessions_share_it(LOADS)
for each in LOADS:
    lib.end_load(each)
lib.unload_module()
