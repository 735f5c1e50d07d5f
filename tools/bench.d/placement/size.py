# SPDX-License-Identifier: MIT
"""tools/bench size: is the tier-1 share that hmkctl plan size foretells, from one recording, what hmkd reaches with so much of tier 1?

Each program runs once with all of tier 1 and is recorded, then with tier 1 capped to a few sizes (hmkd's key `caps`).
"""
import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError  # noqa: E402
from lab.build import user_space  # noqa: E402
import cells  # noqa: E402
import keep  # noqa: E402
import main as placement  # noqa: E402
import simulated  # noqa: E402
from systems.hm_keeper import RECORDING  # noqa: E402

MIB = 1 << 20
PROGRAMS = {"redis-latest": "redis-server", "train": "hmk-load-train"}  # by workload, what hmkd calls them
SIZES = (64, 160, 320)  # MiB
WINDOW = 40.0           # until tier 1 is down to the cap and holds the best of it
POINTS = 7.0            # that the two shares may be apart
Row = Dict[str, Any]


def wanted(name: str, window: float) -> List[cells.Cell]:
    """The recorded run, then one for each size."""
    tuned = cells.settings("hm-keeper")[""]
    more = {"recorded": {"record": "yes"}, **{f"{mib}MiB": {"caps": f"[{PROGRAMS[name]}/1={mib}MiB]"} for mib in SIZES}}
    return [cells.Cell(name, "hm-keeper", variant, simulated.KERNEL, "4K", 1, window, {**tuned, **knobs}) for variant, knobs in more.items()]


def foretold(hmkctl: Path, recording: Path, sizes: Sequence[int]) -> Dict[int, float]:
    """Tier 1's share in percent by its bytes. Raises LabError."""
    done = subprocess.run([hmkctl, "--json", "plan", "size", recording, "--sizes", ",".join(map(str, sizes))], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise LabError(f"hmkctl plan size {recording}: {done.stderr.strip()}")
    return {row["bytes"]: max(row["stays"]["served_percent"], row["moves"]["served_percent"]) for row in json.loads(done.stdout)["sizes"]}


def rows(name: str, told: Dict[int, float], seen: Dict[int, float]) -> List[Row]:
    return [{"workload": name, "bytes": size, "foretold_percent": told[size], "seen_percent": seen[size],
             "apart": abs(told[size] - seen[size])} for size in sorted(seen)]


def wrong(found: Sequence[Row]) -> List[str]:
    """A line for each share that is too far off, and for each pair of sizes of one program that is told the wrong way round."""
    lines = [f"{row['workload']}, {row['bytes'] // MIB} MiB: {row['apart']:.1f} points apart, at most {POINTS:g}"
             for row in found if row["apart"] > POINTS]
    for less, more in zip(found, found[1:]):
        if less["workload"] == more["workload"] and not less["foretold_percent"] <= more["foretold_percent"]:
            lines.append(f"{less['workload']}: {more['bytes'] // MIB} MiB are told to serve less than {less['bytes'] // MIB} MiB")
    return lines


def text(found: Sequence[Row]) -> str:
    lines = [f"{'workload':16} {'tier 1':>10} {'foretold':>10} {'seen':>10} {'apart':>8}"]
    return "\n".join([*lines, *(f"{row['workload']:16} {row['bytes'] // MIB:6} MiB {row['foretold_percent']:9.1f}% {row['seen_percent']:9.1f}% "
                                f"{row['apart']:8.1f}" for row in found)])


def told_and_seen(group: Sequence[cells.Cell], store: keep.Store, hmkctl: Path) -> Tuple[Dict[int, float], Dict[int, float]]:
    recorded, *capped = group
    seen = {mib * MIB: 100 * store.read(cell)["figures"]["tier_share"][0] for mib, cell in zip(SIZES, capped)}
    return foretold(hmkctl, store.logs(recorded) / RECORDING, sorted(seen)), seen


def main() -> int:
    """0: every share lies within 7 points and no order is wrong; 1: not so, or a guest failed. Raises LabError."""
    args = simulated.parse(argparse.ArgumentParser(prog="tools/bench size", description=__doc__))
    names = placement.chosen(args.workload, list(PROGRAMS), list(PROGRAMS), "workload")
    groups = [wanted(name, args.window or WINDOW) for name in names]
    store = keep.Store(args.out / args.machine.stem)
    simulated.run([cell for group in groups for cell in group], args, store)
    hmkctl = user_space(ROOT, store.folder, ["hmkctl"]) / "tools/hmkctl/hmkctl"
    found = [row for name, group in zip(names, groups) for row in rows(name, *told_and_seen(group, store, hmkctl))]
    return simulated.report("size", found, text(found), wrong(found), args.json)


if __name__ == "__main__":
    simulated.end_with(main, "bench")
