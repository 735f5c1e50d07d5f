#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# module: no
# One kernel in a plain run, for its time; the other by --kernel 6.1.
# suite: 6.12
# timeout: 200
"""Without hmk.ko hmkd says so and goes on: by DAMON where the kernel has it, by soft-dirty bits
elsewhere, it finds the hot part of a process in slow memory and moves it with move_pages(2)."""
import json
import os
import re
import signal
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HMKCTL, CONTROL, LOG = lib.build("tools/hmkctl/hmkctl"), lib.CONTROL, Path("/run/hmkd.log")
KDAMONDS = Path("/sys/kernel/mm/damon/admin/kdamonds")
SIZE, HOT_FROM, HOT_TO = 32 << 20, 8 << 20, 16 << 20
SLOW = 2


def ask(verb: str, *words: object) -> dict:
    return json.loads(lib.run(HMKCTL, "--socket", CONTROL, "--json", verb, *words).stdout)["targets"][0]


lib.check(not os.path.exists("/dev/hmk"), "there is no module")
has_damon = KDAMONDS.exists()
touch = lib.Touch(SLOW)
area, start = touch.map(SIZE >> 12)
hot = start + HOT_FROM
lib.check(set(lib.nodes_of(touch.pid, hot, HOT_TO - HOT_FROM >> 12)) == {SLOW}, "the hot part begins in slow memory")
touch.tell(f"loop {'read' if has_damon else 'write'} {area} {HOT_FROM >> 12} {HOT_TO >> 12} 1")

daemon = lib.start_hmkd("mode: manage\ninterval: 1s\nreserve: 8MiB\npromote_limit: 4MiB\n", LOG, ("--pid", touch.pid))
lib.check("degraded reason=\"/dev/hmk does not exist" in LOG.read_text(encoding="utf-8"), "it says what is missing")
status = ask("status")
lib.check(status["backend"] == ("damon" if has_damon else "soft-dirty") + " move_pages", f"and what it uses: {status['backend']}")
lib.check(status["mode"] == "manage", "and manages")
fast = {node for tier in status["tiers"][:2] for node in tier["nodes"]}


def share_in_fast() -> float:
    nodes = lib.nodes_of(touch.pid, hot, HOT_TO - HOT_FROM >> 12)
    return sum(node in fast for node in nodes) / len(nodes)


lib.wait_for(lambda: share_in_fast() >= 0.9, 120, "nine tenths of the hot part are in a fast tier")
stats = ask("stats")
lib.check(stats["promoted_bytes"] >= 0.9 * (HOT_TO - HOT_FROM), f"as stats say: {stats['promoted_bytes']} bytes")
cold = lib.nodes_of(touch.pid, hot + HOT_TO - HOT_FROM, SIZE - HOT_TO >> 12)
print(f"of the hot part {share_in_fast():.1%} in fast memory, of the cold {sum(n in fast for n in cold) / len(cold):.1%}; profiling "
      f"took {stats['profiling_percent']:.2f} % of {stats['wall_ns'] / 1e9:.0f} s")
moved = next(page for page, node in enumerate(lib.nodes_of(touch.pid, hot, HOT_TO - HOT_FROM >> 12)) if node in fast)
why = ask("why", hex(hot + (moved << 12)))
lib.check(any(d["moved_bytes"] > 0 for d in why["decisions"]), "why knows the move")
print(lib.run(HMKCTL, "--socket", CONTROL, "top", "--once").stdout)
print(lib.run(HMKCTL, "--socket", CONTROL, "doctor", check_status=False).stdout)

daemon.send_signal(signal.SIGTERM)
lib.check(daemon.wait(30) == 0, "hmkd ends well")
log = LOG.read_text(encoding="utf-8")
print(log)
lib.check(len(re.findall(r" (?:warning|error) ", log)) == 1, "it has warned once")
lib.check(all("on" not in state.read_text(encoding="ascii") for state in KDAMONDS.glob("*/state")), "no kdamond is left")
lib.check(touch.process.poll() is None, "the process has noticed nothing")
touch.end()
