# SPDX-License-Identifier: MIT
"""The experiments on moves: HK-72 and 84, what is on the critical path (HK-53), and asynchronous copy alone (HK-68). Pure."""
import importlib.util
from statistics import median
from typing import Any, Callable, Dict, List, Optional, Sequence

from experiment import Experiment, Line, Results, ahead, claim, gain
from lab.prices import COPY_MBPS, SMALL, move_seconds
from measures import faster
from profiling import GUPS
from needed import ROOT, Calls, guest

REGION = 2 << 20
_spec = importlib.util.spec_from_file_location("moves_figures", ROOT / "tools/bench.d/moves/figures.py")  # placement has one, too
assert _spec and _spec.loader
figures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(figures)

OURS = "hm-keeper-call"  # one request for the region: tickets, as hmkd sends them, are cut at random by the bench
ONE = ("moves", "--size", "2MiB", "--method", f"{OURS},move_pages", "--write-share", "0,1")
ONE_REGION = Calls("one-region", "bench", "hmk-stall", (ONE, ONE, ONE), 4.0)
MOVES = Calls("moves", "bench", "hmk-stall", (("moves", "--size", "256MiB", "--method", "hm-keeper,move_pages", "--page-size", "4K"),), 3.0)
SYNC_ONLY = guest("gups-stable", "hm-keeper/sync-only")
COPIED = 0.4  # of a move_pages(2), in the paper
PAGES = {"4K": "in 4 KiB pages", "2M": "as one page"}
SHARES = {0.0: "read only", 0.5: "half of it written", 1.0: "written only"}


def _row(rows: Sequence[Dict[str, Any]], method: str, pages: str, writes: float) -> Dict[str, Any]:
    return next(row for row in rows if (row["method"], row["page_size"], row["write_share"]) == (method, pages, writes))


def critical(row: Dict[str, Any]) -> float:
    """Milliseconds in which a program can wait for the pages: all of a move_pages(2), ours but for the copy beside the program."""
    return row["prepare_ms"] + row["commit_ms"] if row["method"] == OURS else row["move_ms"]


def shorter(told: Optional[Sequence[Any]], pages: str, writes: float, by: Callable[[Dict[str, Any]], float] = critical) -> Optional[float]:
    """How many times move_pages(2)'s figure is ours; median of the calls."""
    if not told:
        return None
    return median(by(_row(rows, "move_pages", pages, writes)) / by(_row(rows, OURS, pages, writes)) for rows in told)


def waited(row: Dict[str, Any]) -> float:
    """Microseconds in which a program that is always somewhere in the region stood still."""
    return row["sum_us"]


TWICE = ("a program that writes all of the region without a pause has every page of it copied again, each chunk unmapped for that by itself, "
         "where `move_pages(2)` copies once; the paper's program writes in order, most of the region after it has moved")


def one_region(results: Results) -> List[Line]:
    told = results.get(ONE_REGION)
    copied = REGION / (COPY_MBPS * 1e6)
    share = 100 * copied / move_seconds(REGION, SMALL, COPY_MBPS)
    lines = [claim("of move_pages(2), 2 MiB in 4 KiB pages, the copy is (published prices)", "40 %", f"{share:.0f} %", 20 <= share <= 80)]
    for by, what, paper in ((critical, "critical path, move_pages(2)'s over ours", ("4.37 times", "4.37 times")),
                            (waited, "waits of a program at work in it, move_pages(2)'s over ours", ("more than 1", "about 1"))):
        for pages, called in PAGES.items():
            for writes, told_by_paper in zip((0.0, 1.0), paper):
                times = shorter(told, pages, writes, by)
                lines.append(claim(f"2 MiB {called}, {SHARES[writes]}: {what}", told_by_paper, None if times is None else f"{times:.{0 if times >= 10 else 2}f} times",
                                   times is not None and times > (0.9 if told_by_paper == "about 1" else 1), TWICE if writes else ""))
    return lines


def off_path(results: Results) -> List[Line]:
    told = results.get(ONE_REGION)
    lines = []
    for pages, called in PAGES.items():
        rows = [_row(one, OURS, pages, 0.0) for one in told] if told else []
        parts = [median(row[name] for row in rows) for name in ("prepare_ms", "copy_ms", "commit_ms")] if rows else []
        lines.append(claim(f"2 MiB {called}, read only: write-protect, copy beside the program, commit", "copy and allocation are off it: 40 % of a move_pages(2)",
                           " / ".join(f"{1000 * part:.0f} us" for part in parts) + f"; {100 * parts[1] / sum(parts):.0f} % is off the path"
                           if parts else None, bool(parts) and parts[1] >= COPIED * sum(parts)))
    return lines


def asynchronous(results: Results) -> List[Line]:
    told = results.get(MOVES)
    lines = []
    for writes, called in SHARES.items():
        row = _row(told[0], "hm-keeper", "4K", writes) if told else {}
        left = row["recopied_percent"] + row["sync_percent"] if row else None
        lines.append(claim(f"of 256 MiB moved while in use, {called}: would be refused", "-", None if left is None else f"{left:.1f} %", None))
    run = results.get(GUPS["hm-keeper"])
    counters = run["figures"]["counters"] if run else {}
    left = 100 * (counters["copied_twice_bytes"] + counters["copied_unmapped_bytes"]) / counters["moved_bytes"] if counters else None
    lines.append(claim("of what hmkd moves of GUPS, all of it written: would be refused", "-", None if left is None else f"{left:.1f} %", None))
    lines.append(ahead("GUPS in the guest, both ways of copying over synchronous copy alone", "asynchronous is the default",
                       faster(run, results.get(SYNC_ONLY))))
    return lines


TURNS = ("the guest's CPUs take turns, so a program that works beside a move makes it longer by what it works, and what was kept from working works on "
         "when its shorter move is over")


def throughput(results: Results) -> List[Line]:
    told = results.get(MOVES)
    lines = []
    for writes, called in SHARES.items():
        pair = [_row(told[0], method, "4K", writes) for method in ("hm-keeper", "move_pages")] if told else []
        ours = figures.throughput_percent(*pair) if pair else None
        lines += [gain(f"accesses in the time of the longer move, {called}, over move_pages(2)", figures.PAPER_PERCENT[writes], ours, TURNS),
                  claim(f"accesses while it moves, {called}, ours and move_pages(2)'s", "-",
                        " and ".join(f"{one['accesses'] / 1e6:.2f} million in {one['move_ms'] / 1e3:.2f} s" for one in pair) or None, None)]
    return lines


CLOCK = "6.12, the guest's clock, which counts instructions; all its memory is equally fast"
EXPERIMENTS = (
    Experiment("HK-53", "Fig 8.4", "What of a move is on the critical path", f"{CLOCK}. From slow to fast. Median of three.",
               (ONE_REGION,), off_path),
    Experiment("HK-68", "", "Asynchronous copy alone", "The module has no such switch: a move that a write catches falls back to the synchronous copy. What would "
               "be refused instead is what it copied again or never copied ahead.", (MOVES, GUPS["hm-keeper"], SYNC_ONLY), asynchronous),
    Experiment("HK-72", "Fig 8.4", "One region of 2 MiB", f"{CLOCK}. From slow to fast. Median of three.", (ONE_REGION,), one_region),
    Experiment("HK-84", "Fig 8.14", "A program at work in memory that moves", f"256 MiB for 1 GB, random words for a sequence; {CLOCK}.", (MOVES,), throughput,
               "Nimble (+36, +4, -6 %): a patch of a kernel that is gone."),
)
