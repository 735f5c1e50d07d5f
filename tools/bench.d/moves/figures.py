# SPDX-License-Identifier: MIT
"""What a move costs the program that owns the pages: rows, goals, and the comparison of test T-7."""
from typing import Any, Dict, Iterable, List, Optional, Tuple

from lab.outcome import Mark

Row = Dict[str, Any]
OURS, CALL = "hm-keeper", "move_pages"  # ours as hmkd asks for it; "hm-keeper-call" is one synchronous request, for comparison
APPLICATION_CPU, MOVER_CPU = 0, 2
PAPER_PERCENT = {0.0: 40.0, 0.5: 23.0, 1.0: -0.5}  # Fig 8.14: throughput against move_pages(), T1 to T2, 1 GB

# Of the module's moves, 0 of others': pages never pre-copied; time to write-protect, pre-copy beside the program, and unmapped.
PARTS = ("sync_percent", "prepare_ms", "copy_ms", "commit_ms")

# Figure, write share (None: all), at most so many times that of move_pages(2).
GOALS = [("longest_us", None, 0.1), ("sum_us", 0.0, 0.5), ("sum_us", 1.0, 1.05), ("instructions_per_page", None, 1.2)]


def row(method: str, page_size: str, write_share: float, seen: Row, mark: Mark) -> Row:
    """One run of hmk-stall. Instructions are everybody's but the application's own, from the start of the move
    until each page has been accessed once after it."""
    spent = mark.instructions([APPLICATION_CPU], ("kernel",)) + mark.instructions([MOVER_CPU])
    return {"method": method, "page_size": page_size, "write_share": write_share,
            **{key: seen[key] for key in ("longest_us", "p99_us", "sum_us")},
            "instructions_per_page": round(spent / max(1, seen["pages"]), 1),
            "recopied_percent": seen["recopied_percent"],
            **{key: seen[key] for key in ("waits", "pages", "move_ms", "accesses", "idle_per_ms", *PARTS)}}


def pairs(rows: Iterable[Row]) -> List[tuple]:
    """Ours and move_pages(2)'s of the same pages and writes."""
    of = {(r["method"], r["page_size"], r["write_share"]): r for r in rows}
    return [(r, of[CALL, size, share]) for (method, size, share), r in of.items()
            if method == OURS and (CALL, size, share) in of]


def ratio(ours: float, other: float) -> Optional[float]:
    """None where there is nothing to compare with."""
    return ours / other if other else None


def goals(rows: Iterable[Row]) -> List[Tuple[str, float, str, float, float, bool]]:
    """(page size, write share, figure, ratio, limit, met) of every goal that these rows tell something about."""
    found = []
    for ours, call in pairs(rows):
        for figure, share, limit in GOALS:
            seen = ratio(ours[figure], call[figure])
            if share in (None, ours["write_share"]) and seen is not None:
                found.append((ours["page_size"], ours["write_share"], figure, seen, limit, seen <= limit))
    return found


def meets_goals(rows: Iterable[Row]) -> bool:
    """All of them that these rows tell something about."""
    return all(met for *_, met in goals(rows))


def throughput_percent(ours: Row, call: Row) -> float:
    """Accesses done more than with move_pages(2) in the same time, which is the longer of the two moves; whoever is
    done earlier goes on undisturbed."""
    window = max(ours["move_ms"], call["move_ms"])

    def done(one: Row) -> float:
        return one["accesses"] + (window - one["move_ms"]) * one["idle_per_ms"]
    return 100.0 * (done(ours) / done(call) - 1.0)


def text(rows: List[Row]) -> str:
    """Table, goals, T-7."""
    lines = ["method          page  writes  longest us   p99 us       sum us  instructions/page  copied again %   move ms     pages"]
    lines += [f"{r['method']:15} {r['page_size']:4} {r['write_share']:7} {r['longest_us']:11,.0f} {r['p99_us']:8,.0f} "
              f"{r['sum_us']:12,.0f} {r['instructions_per_page']:18,.0f} {r['recopied_percent']:15.1f} "
              f"{r['move_ms']:9,.0f} {r['pages']:9,}" for r in rows]
    lines += ["", "against move_pages(2) on the same pages, goal in brackets"]
    lines += [f"  {size:3} writes {share:3}  {figure:22} {seen:6.3f} ({limit})  {'met' if met else 'MISSED'}"
              for size, share, figure, seen, limit, met in goals(rows)]
    lines += ["", "application's accesses during the move against move_pages(2) (T-7), beside the paper's throughput (Fig "
              "8.14).", "Here all memory is equally fast and the CPUs take turns: what is compared is who stands in the way, not",
              "the speed of any hardware."]
    lines += [f"  {ours['page_size']:3} writes {ours['write_share']:3}  {throughput_percent(ours, call):+7.1f} %   paper "
              f"{PAPER_PERCENT[ours['write_share']]:+.1f} %" for ours, call in pairs(rows)]
    return "\n".join(lines)
