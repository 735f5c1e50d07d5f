# SPDX-License-Identifier: MIT
"""tools/bench moves: how long a program is kept from its pages while they move, and what that costs."""
import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import Guest, LabError, load_machine  # noqa: E402
from lab.build import user_space  # noqa: E402
from lab.errors import UsageError  # noqa: E402
from lab.module import build_module  # noqa: E402
from lab.outcome import PASS  # noqa: E402
from lab.progress import say  # noqa: E402
import figures  # noqa: E402

MACHINE = ROOT / "configs/lab/moves.yaml"
CHUNKS = tuple(f"move_pages/{pages}" for pages in (32, 128, 512))  # as callers who care for waits name them
METHODS = ("hm-keeper", "hm-keeper-call", "move_pages", *CHUNKS, "numa-balancing")
PAGES = {"4K": "4KiB", "2M": "thp"}
SHARES = {"0": 0.0, "0.5": 0.5, "1": 1.0}
HELPERS_TO_CPU_2 = "echo 4 > /sys/devices/virtual/workqueue/cpumask"
SECONDS = 3600.0  # of a guest's life; a cell of 1 GiB takes about a minute


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/bench moves", description=__doc__, epilog="Times are the guest's, whose "
                                    "clock counts instructions; see tools/bench.d/README.md.")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the list there")
    flags.add_argument("--size", default="1GiB", help="of the memory that moves (default: 1GiB, which is the most)")
    for name, known in (("method", METHODS), ("page-size", tuple(PAGES)), ("write-share", tuple(SHARES))):
        flags.add_argument(f"--{name}", default=",".join(known), metavar="NAME,...",
                           help=f"of {', '.join(known)} (default: all)")
    args = flags.parse_args(argv)
    for name, known in (("method", METHODS), ("page_size", tuple(PAGES)), ("write_share", tuple(SHARES))):
        chosen = getattr(args, name).split(",")
        for word in chosen:
            if word not in known:
                flags.error(f"--{name.replace('_', '-')} {word}: not known; name some of {', '.join(known)}")
        setattr(args, name, chosen)
    if args.json and not args.json.resolve().parent.is_dir():
        flags.error(f"--json {args.json}: there is no folder {args.json.parent}; create it first")
    return args


def cell(guest: Guest, program: Path, size: str, method: str, pages: str, share: str) -> Dict[str, Any]:
    """One run in the guest. Raises LabError."""
    name, _, chunk = method.partition("/")
    outcome = guest.run([str(program), "--method", name, *(["--chunk", chunk] if chunk else []), "--size", size,
                         "--pages", PAGES[pages], "--write-percent", str(round(100 * SHARES[share]))])
    if outcome.kind != PASS:
        raise LabError(f"{method}, pages of {pages}, write share {share}: {outcome.reason}: {' '.join(outcome.output[-2:])}")
    return figures.row(method, pages, SHARES[share], json.loads(outcome.output[-1]), outcome.marks[-1])


def run(args: argparse.Namespace, out: Path) -> List[Dict[str, Any]]:
    """All cells one after the other, a guest for each page size."""
    build, module = user_space(ROOT, out, ["hmk-stall"]), build_module("6.12")
    rows = []
    for pages in args.page_size:
        with Guest(load_machine(MACHINE), "6.12", timeout=SECONDS, count=True, clock="instructions",
                   pin={1}) as guest:
            if guest.load_module(module).kind != PASS or guest.run(["sh", "-c", HELPERS_TO_CPU_2]).kind != PASS:
                raise LabError("hmk.ko does not load, or its helpers cannot be bound")
            for method in args.method:
                for share in args.write_share:
                    rows.append(cell(guest, build / "tools/bench.d/hmk-stall", args.size, method, pages, share))
                    say(" ".join(f"{key}={rows[-1][key]}" for key in list(rows[-1])[:8]))
    return rows


def main() -> int:
    """0: every cell has a result and every goal is met; 1: not so; 2: usage."""
    args = parse()
    try:
        with tempfile.TemporaryDirectory(prefix="hmk-bench.") as out:
            rows = run(args, Path(out))
    except UsageError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except LabError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    print(figures.text(rows))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0 if figures.meets_goals(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
