# SPDX-License-Identifier: MIT
"""The rows: what is done to the module, how often on which kernel, and by which test."""
from dataclasses import dataclass, field
from typing import Dict, Tuple

GATES, DEBUG, KCSAN, NEWEST = ("6.1", "6.12"), "6.1-debug", "6.1-kcsan", "newest"
USER = "user space"  # no kernel: a fuzzer of a parser
# And what its rows are asked through: move_memory_regions() and the table's reader.
MODULE = ("Kbuild", "kmod", "uapi", "include/hmk/core", "include/hmk/lib/move.c", "include/hmk/move.h", "include/hmk/table_reader.h")


@dataclass(frozen=True)
class Row:
    """`test` is the number of a folder below tests/e2e, or a target below tests/fuzz.

    A run without figures of its own is counted by the lines of output that match `counted`. Of what `least` names, each is
    wanted so often by itself: a sum says nothing of its parts. `seconds` is the length of
    one run of the full figures (of as many as it takes), `quick` that of the one with --quick; 0 for a test that has
    no length. Whoever has none is done after one run. `about`: what is tortured; once that has changed a run says nothing of what ships.
    """

    name: str
    test: str
    wanted: Dict[str, int]
    seconds: int = 0
    quick: int = 0
    counted: str = r"^ok: "
    unit: str = "checks"
    env: Dict[str, str] = field(default_factory=dict, hash=False)
    least: Dict[str, int] = field(default_factory=dict, hash=False)
    about: Tuple[str, ...] = MODULE


def on(gates: int, debug: int = 0, kcsan: int = 0) -> Dict[str, int]:
    """So often on each kernel Debian ships, on the one with all checks, and on the one that finds data races (slower by 5)."""
    wanted = {**{kernel: gates for kernel in GATES}, DEBUG: debug, KCSAN: kcsan}
    return {kernel: count for kernel, count in wanted.items() if count}


# What must hold on the newest series beyond loading: scans, moves and integrity.
NEWEST_ROWS = (
    ("moved pages keep every write", "10", 30, 10, "checks"), ("every path keeps every write", "12", 0, 0, "checks"),
    ("hot regions are found", "16", 0, 0, "checks"), ("page moves with version counters", "18", 40, 20, "pages"),
    ("lifecycle fuzz", "31", 30, 10, "checks"),
)

# Each fuzzer, what it reads, and all that it is compiled of, as tests/lab/test_torture.py checks.
FUZZED = (
    ("config", "configuration", ("daemon/attach/rules.cpp", "daemon/attach/rules.hpp", "daemon/config", "daemon/topology/tier_spec.hpp",
                                 "daemon/util", "uapi")),
    ("control", "control protocol", ("daemon/control/peer.hpp", "daemon/control/protocol.cpp", "daemon/control/protocol.hpp", "daemon/util")),
    ("hints", "hints of programs", ("daemon/hints/hint_table.cpp", "daemon/hints/hint_table.hpp", "daemon/util", "include/hmk/hints_abi.h")),
    ("recording", "recording", ("daemon/record", "daemon/util")),
    ("plan", "plan", ("daemon/record", "daemon/util")),
    ("table", "table", ("include/hmk/table_reader.h", "uapi")),
)

ROWS = (
    Row("page moves with version counters", "18", on(10**7, 10**6, 10**5), seconds=300, quick=20, unit="pages"),
    Row("input and output", "77", on(2 * 10**5), seconds=600, quick=20, unit="reads and writes",
        least={"reads": 10**5, "writes": 10**5, "held": 10**3}),
    Row("hostile calls", "61", on(10**6, 10**6, 10**6), seconds=180, quick=15, unit="calls"),
    Row("target killed mid-move", "63", on(10**3, 10**2, 10**2), seconds=120, quick=10, unit="kills"),
    Row("daemon killed mid-move", "20", on(100, 100, 10), seconds=300, quick=5, unit="kills"),
    Row("load, use, unload", "64", on(10**3, 10**3, 100), seconds=120, quick=10, unit="cycles"),
    Row("fail-nth sweep", "62", {DEBUG: 1}, unit="injections"),
    Row("contract table", "15", on(1, 1)),
    Row("rights", "60", on(1, 1, 1)),
    Row("page kinds", "17", on(1, 1)),
    *(Row(f"newest: {what}", test, {NEWEST: 1}, seconds=seconds, quick=quick, unit=unit)
      for what, test, seconds, quick, unit in NEWEST_ROWS),
    Row("the kernel's own mm tests", "71", on(25), seconds=1200, quick=15, unit="programs"),
    Row("trinity, at the device and beside it", "72", on(1), seconds=120, quick=10, unit="calls"),
    Row("soak: intervals of 50 ms, targets come and go", "65", on(10**4), seconds=600, quick=15, unit="intervals"),
    *(Row(f"fuzz of the {what}", target, {USER: 600}, seconds=120, quick=10, unit="seconds", about=about) for target, what, about in FUZZED),
)
