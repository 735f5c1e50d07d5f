# SPDX-License-Identifier: MIT
"""tools/lab try: what tiering would do for a program, unmodified, on a machine of any tiers."""
import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import List, Optional

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError, load_machine  # noqa: E402
from lab.errors import UsageError  # noqa: E402
from lab.kernels import GATES  # noqa: E402
from lab.machine import available_memory  # noqa: E402
import build  # noqa: E402
import cells  # noqa: E402
import keep  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402
import stage  # noqa: E402
import table  # noqa: E402

SYSTEMS = ("first-touch", "hm-keeper")


def parse(argv: Optional[List[str]] = None) -> argparse.Namespace:
    """Flags and command line, its program with its whole path. Raises UsageError."""
    flags = argparse.ArgumentParser(prog="tools/lab try", description=__doc__)
    flags.add_argument("--machine", type=Path, default=ROOT / "configs/lab/bench-four-tier.yaml", metavar="FILE")
    flags.add_argument("--kernel", choices=GATES, default="6.12")
    flags.add_argument("--pages", choices=("4K", "THP"), default="4K")
    flags.add_argument("--window", type=float, default=20.0, metavar="SECONDS", help="measured, of the guest's clock")
    flags.add_argument("--settle", type=float, default=8.0, metavar="SECONDS", help="what the program needs to fill its memory, "
                       "which is not measured")
    flags.add_argument("--out", type=Path, default=ROOT / "build/try", metavar="DIR")
    flags.add_argument("command", nargs=argparse.REMAINDER, metavar="-- CMD ...")
    args = flags.parse_args(argv)
    args.command = args.command[1:] if args.command[:1] == ["--"] else args.command
    if not args.command:
        raise UsageError("no command given; write it after --")
    program = shutil.which(args.command[0])
    if not program:
        raise UsageError(f"{args.command[0]}: no such program on this machine; the guest runs what is installed here")
    args.command[0] = os.path.abspath(program)
    return args


def main() -> int:
    """0: both runs gave a result; 1: not; 2: usage."""
    try:
        args = parse()
        machine = load_machine(args.machine, available_memory())
        wanted = [cells.Cell(Path(args.command[0]).name, system, "", args.kernel, args.pages, 1, args.window,
                             cells.variants(system)[""], tuple(args.command), args.settle) for system in SYSTEMS]
        store = keep.Store(args.out)
        tools = build.prepare(ROOT, store.folder, wanted)
        if machine.assumed:
            print(f"try: {args.machine}: prices not given and assumed: {'; '.join(machine.assumed)}", file=sys.stderr)
        watch = runner.Progress(len(wanted), 1)
        for cell in wanted:
            runner.one(cell, machine, tools, store, watch)
    except (LabError, stage.CellFailed) as error:
        print(f"try: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 1)
    print(report.text(table.rows([store.read(cell) for cell in wanted])))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
