# SPDX-License-Identifier: MIT
"""tools/bench calibrate: what the model makes of comparisons, beside what others measured on real machines."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement"), str(Path(__file__).resolve().parent)]

from lab import LabError  # noqa: E402
from lab.errors import UsageError  # noqa: E402
import keep  # noqa: E402
import main as placement  # noqa: E402
import ours  # noqa: E402
import page  # noqa: E402
import verdict  # noqa: E402
import world  # noqa: E402

MACHINE = ROOT / "configs/lab/two-tier.yaml"  # all that is published is of one fast and one slow tier
MOVES = ("moves", "--size", "256MiB", "--method", "hm-keeper,move_pages", "--page-size", "4K", "--write-share", "1")


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    """Raises UsageError for a folder that is not there."""
    flags = argparse.ArgumentParser(prog="tools/bench calibrate", description=__doc__, epilog="Exit code 1 when a run is missing, a "
                                    "figure points the other way, or has another size and no reason in calibrate/world.py.")
    flags.add_argument("--machine", type=Path, default=MACHINE, metavar="FILE")
    flags.add_argument("--density", type=int, default=1, metavar="N", help="as of tools/bench placement (default: 1)")
    flags.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="guests at a time")
    flags.add_argument("--out", type=Path, default=ROOT / "build/calibrate", metavar="DIR",
                       help="one file per finished run; what is there is not run again (default: build/calibrate)")
    flags.add_argument("--again", action="store_true", help="run what is there once more")
    flags.add_argument("--stored", action="store_true", help="show what is there, run nothing")
    flags.add_argument("--list", action="store_true", help="print the runs and end")
    flags.add_argument("--json", type=Path, metavar="FILE", help="write the list there")
    flags.add_argument("--report", type=Path, metavar="FILE", help="write the Markdown page there")
    args = flags.parse_args(argv)
    if args.jobs < 1:
        raise UsageError(f"--jobs {args.jobs}: must be at least 1")
    if args.density not in placement.DENSITIES:
        raise UsageError(f"--density {args.density}: cannot be had; take one of {', '.join(map(str, placement.DENSITIES))}")
    for flag in (args.json, args.report):
        if flag and not flag.resolve().parent.is_dir():
            raise UsageError(f"{flag}: there is no folder {flag.parent}; create it first")
    return args


def moves(args: argparse.Namespace) -> List[Dict[str, Any]]:
    """Rows of tools/bench moves, run if they are not there. Raises LabError."""
    file = args.out / "moves.json"
    if not args.stored and (args.again or not file.exists()):
        with tempfile.TemporaryDirectory() as scratch:
            partial = Path(scratch) / "moves.json"
            # Its goals are its own: here only its rows count.
            subprocess.run([str(ROOT / "tools/bench"), *MOVES, "--json", str(partial)], check=False, stdout=subprocess.DEVNULL)
            if not partial.exists():
                raise LabError("tools/bench moves gave no result; its reason is above")
            file.write_text(partial.read_text(encoding="utf-8"), encoding="utf-8")
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def main() -> int:
    """0: all signs, and sizes within twice or explained; 1: not so; 2: usage."""
    try:
        args = parse()
        wanted = ours.plan(args.density)
        if args.list:
            print("\n".join(cell.key for cell in wanted.values()))
            return 0
        store = keep.Store(args.out / args.machine.stem)
        failed = [] if args.stored else placement.run_all(args, list(wanted.values()), store)
        runs = {key: store.read(cell) for key, cell in wanted.items() if store.has(cell)}
        rows = verdict.verdicts(world.FIGURES, ours.of(runs, moves(args)))
    except LabError as error:
        print(f"bench: {error}", file=sys.stderr)
        return error.exit_code
    commits = sorted({run["commit"] for run in runs.values()})
    print(page.text(rows))
    if args.json:
        args.json.write_text(json.dumps(page.objects(rows), indent=1) + "\n", encoding="utf-8")
    if args.report:
        args.report.write_text(page.markdown(rows, commits, args.density, ours.facts(runs)), encoding="utf-8")
    for reason in failed:
        print(f"bench: failed: {reason}", file=sys.stderr)
    return 0 if all(row.passes for row in rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
