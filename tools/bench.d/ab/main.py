# SPDX-License-Identifier: MIT
"""tools/bench ab: how often `hmkctl ab` is right about a program whose gain is known.

hmkctl, hmkd's control socket and its policy are the real ones; the program and its memory are played: its figure changes by the
given gain as soon as its hot memory lies in tier 1, and is as noisy as --noise says, half of it for longer than a reading. Time is
short: intervals of 20 ms, blocks of 120 ms. Fails where fewer than 9 of 10 runs of a kind find what there is, or mode or memory were not put back.
"""
import argparse
import json
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d")]

from lab import LabError  # noqa: E402
from lab.build import user_space  # noqa: E402

PID = 4711  # the one that with_fake_hmkd plays
LIMIT = 120  # seconds a run may take; 24 blocks take about 8
MOST_MANAGED = 2  # blocks before the guard has stopped a clear loss


@dataclass(frozen=True)
class Kind:
    """Programs of one gain, and what is to be found about nine of ten."""

    name: str
    effect: float
    right: str  # a verdict, with - in front: any other
    flags: tuple = ()


KINDS = (Kind("gain of 10 %", 0.10, "gain"), Kind("loss of 5 %", -0.05, "loss"), Kind("no difference", 0.0, "-gain"),
         Kind("loss of 25 % under --guard 5%", -0.25, "guard", ("--guard", "5%")))  # PostgreSQL's: 1.33 times as long


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/bench ab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--runs", type=int, default=10, metavar="N", help="of each kind (default: 10)")
    flags.add_argument("--noise", type=float, default=0.03, metavar="SHARE", help="standard deviation of a reading (default: 0.03)")
    flags.add_argument("--seed", type=int, default=1, metavar="N", help="of the first run (default: 1)")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the findings there")
    args = flags.parse_args(argv)
    if args.runs < 1:
        flags.error(f"--runs {args.runs}: at least one is needed")
    if not 0 <= args.noise < 1:
        flags.error(f"--noise {args.noise}: give a share from 0 to 1, such as 0.03")
    if args.json and not args.json.resolve().parent.is_dir():
        flags.error(f"--json {args.json}: there is no folder {args.json.parent}; create it first")
    return args


def run(build: Path, kind: Kind, noise: float, seed: int) -> Dict[str, Any]:
    """One comparison, as hmkctl tells it, with `mode` and `displaced_bytes` as they are afterwards."""
    hmkctl = f"'{build}/tools/hmkctl/hmkctl' --socket @SOCKET@ --json"
    words = " ".join(kind.flags)
    script = (f"{hmkctl} ab {PID} --metric 'cat @ROOT@/figure' --block 120ms --settle 160ms --seed {seed} {words} && "
              f"{hmkctl} gain {PID}")
    done = subprocess.run([str(build / "tests/cli/with_fake_hmkd"), "--lives", str(kind.effect), str(noise), str(seed), "sh", "-c", script],
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
    if done.returncode:
        raise LabError(f"hmkctl ab, {kind.name}, seed {seed}: code {done.returncode}: {done.stderr.strip()}")
    found, end = json.JSONDecoder().raw_decode(done.stdout)
    after = json.loads(done.stdout[end:])["targets"][0]
    return {**found["comparison"], "kind": kind.name, "blocks": found["blocks"], "mode": after["mode"],
            "displaced_bytes": after["displaced_bytes"]}


def is_right(kind: Kind, row: Dict[str, Any]) -> bool:
    """What was found, and for the guard: soon."""
    if kind.right.startswith("-"):
        return row["verdict"] != kind.right[1:]
    managed = sum(block["mode"] == "managed" for block in row["blocks"])
    return row["verdict"] == kind.right and (kind.right != "guard" or managed <= MOST_MANAGED)


def is_put_back(row: Dict[str, Any]) -> bool:
    return row["mode"] == "track-only" and row["displaced_bytes"] == 0


def summary(kind: Kind, rows: List[Dict[str, Any]]) -> str:
    found = ", ".join(f"{count} {verdict}" for verdict, count in sorted(Counter(row["verdict"] for row in rows).items()))
    right = sum(is_right(kind, row) for row in rows)
    covered = [row["low_percent"] <= 100 * kind.effect <= row["high_percent"] for row in rows if row["low_percent"] is not None]
    blocks = sum(len(row["blocks"]) for row in rows) / len(rows)
    return (f"{kind.name}: {right} of {len(rows)} right ({found}), {blocks:.1f} blocks" +
            (f", interval holds the truth in {sum(covered)} of {len(covered)}" if covered else ""))


def passes(kind: Kind, rows: List[Dict[str, Any]]) -> bool:
    return all(map(is_put_back, rows)) and 10 * sum(is_right(kind, row) for row in rows) >= 9 * len(rows)


def main(argv: Optional[List[str]] = None) -> int:
    args = parse(argv)
    rows: List[Dict[str, Any]] = []
    is_good = True
    try:
        out = ROOT / "build/ab"
        out.mkdir(parents=True, exist_ok=True)
        build = user_space(ROOT, out, ["hmkctl", "with_fake_hmkd"])
        for kind in KINDS:
            mine = [run(build, kind, args.noise, args.seed + number) for number in range(args.runs)]
            is_good = passes(kind, mine) and is_good
            print(("ok      " if passes(kind, mine) else "FAILED  ") + summary(kind, mine), flush=True)
            rows += mine
    except (LabError, subprocess.TimeoutExpired) as problem:
        print(f"tools/bench ab: {problem}", file=sys.stderr)
        return 1
    print(f"mode and memory put back: {sum(map(is_put_back, rows))} of {len(rows)}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
