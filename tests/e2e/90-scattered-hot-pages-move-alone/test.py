#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.1 6.12
# timeout: 300
# clock: host instructions
"""One page in eight is hot, scattered by chance over pieces of 2 MiB that are alike as a whole, and later others
are. Read page by page, each hot page and no other is told as hot and moves alone when its class is named; so do the
cold ones back; every write is kept; also where the budget pays for some of them in an interval, and they take turns. A folio
of 64 KiB moves as one, with its hottest page. hmkd does so by itself: what is hot comes to the fast node and stays
there, what is cold stays where it is."""
import subprocess
import sys
import time
from pathlib import Path
from typing import List

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW = 0, 1
STAYS = 10  # intervals in which nothing may leave again


def where() -> List[int]:
    """How many are hot, of them on the fast node; how many are cold, of them there; whether a write was lost."""
    program.stdin.write("\n")
    return [int(word) for word in program.stdout.readline().split()]


def arrived() -> List[int]:
    """The same once every hot page is on the fast node. Looking costs the guest's clock."""
    time.sleep(1)
    found = where()
    print(found, flush=True)
    return found if found[1] == found[0] else []


def are_told() -> bool:
    """Whether a few pages have most of the accesses."""
    time.sleep(1)
    hot = sum(tier["hot_bytes"] for tier in lib.target_of(pid).get("tiers", []))
    return 0 < hot < 16 << 20


def ended() -> int:
    """Intervals of hmkd's session. Looking costs the guest's clock."""
    time.sleep(1)
    return int(lib.ask_hmkd("stats")["targets"][0]["intervals"])


THP = Path("/sys/kernel/mm/transparent_hugepage")
(THP / "shmem_enabled").write_text("always", encoding="ascii")
lib.load_module()
for way in ("own", "vma", "turns"):
    print(lib.run(lib.helper("scattered"), way).stdout)
if (THP / "hugepages-64kB").exists():  # from 6.8 on
    for kind, enabled in (("64kB", "always"), ("2048kB", "never")):
        (THP / f"hugepages-{kind}/enabled").write_text(enabled, encoding="ascii")
    print(lib.run(lib.helper("scattered"), "folios").stdout)
    for kind, enabled in (("64kB", "never"), ("2048kB", "inherit")):
        (THP / f"hugepages-{kind}/enabled").write_text(enabled, encoding="ascii")

program = subprocess.Popen([lib.helper("scattered"), "watch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
pid = int(program.stdout.readline())
daemon = lib.start_hmkd(f"mode: track-only\ninterval: 1s\noverhead: 20%\ntiers: [{FAST}, {SLOW}]\nattach: [{pid}]\n")
lib.wait_for(are_told, 60, "the hot set is told page by page: before, regions are alike and would move as a whole")
lib.ask_hmkd("set", "mode", "manage")
lib.wait_for(arrived, 90, "every hot page is on the fast node")
began = ended()
lib.wait_for(lambda: ended() >= began + STAYS, 60, f"{STAYS} more intervals")
hot, fast_hot, cold, fast_cold, wrong = where()
lib.check(fast_hot == hot, f"{fast_hot} of {hot} hot pages are still there")
lib.check(fast_cold * 50 <= cold, f"{fast_cold} of {cold} cold pages moved as well")
lib.check(not wrong, "every write was kept")
print(lib.ask_hmkd("stats")["targets"][0])
lib.end_hmkd(daemon)
program.stdin.close()
lib.check(program.wait(30) == 0, "the program ends")
lib.unload_module()
