#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
# clock: instructions
# alone: yes
"""A budget of more than half of an interval is for several threads: none helps the session's own up to 50 %. Page by page
they tell what one thread tells: each page that is hot, and no other; hot and cold move as they are told."""
import sys
from pathlib import Path
from typing import Tuple

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

TRACE = Path("/sys/kernel/tracing")
SHMEM = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")
EVENTS = [TRACE / f"events/workqueue/workqueue_{what}/enable" for what in ("queue_work", "execute_start")]


def helpers(budget_bp: int) -> Tuple[int, int]:
    """How many times a thread was asked to help, and did, while all was told and moved right with this budget."""
    (TRACE / "trace").write_text("", encoding="ascii")
    print(lib.run(lib.helper("scattered"), "own", budget_bp).stdout)
    trace = (TRACE / "trace").read_text(encoding="utf-8")
    return trace.count("function=sweep_help"), trace.count("function sweep_help")


SHMEM.write_text("always", encoding="ascii")
lib.load_module()
if not EVENTS[0].exists():
    lib.run("mount", "-t", "tracefs", "tracefs", TRACE)
for event in EVENTS:
    event.write_text("1", encoding="ascii")
helped = 0
for budget_bp in (5000, 5001, 80000):
    asked, did = helpers(budget_bp)
    helped += did
    lib.check(bool(asked) == (budget_bp > 5000), f"{asked} times a thread was asked to help with a budget of {budget_bp / 100} %")
lib.check(helped > 0, f"{helped} times one did")  # all is read before it begins: it need not
for event in EVENTS:
    event.write_text("0", encoding="ascii")
lib.unload_module()
