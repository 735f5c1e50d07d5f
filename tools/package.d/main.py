# SPDX-License-Identifier: MIT
"""tools/package: build the Debian packages, check them, and on request prove them in a bare system."""
import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab.errors import LabError  # noqa: E402

import build  # noqa: E402
import live  # noqa: E402
import prove  # noqa: E402

MACHINE = ROOT / "configs/lab/four-tier.yaml"


def parse() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/package", description=__doc__)
    flags.add_argument("--out", type=Path, default=ROOT / "build/packages", metavar="DIR", help="where the packages go (build/packages)")
    flags.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="compile so many files at a time")
    flags.add_argument("--prove", action="store_true", help="install, upgrade and purge them in a bare Debian 12")
    flags.add_argument("--live", action="store_true", help="the same in a Debian 12 that boots from a disk of its own under QEMU, with systemd: "
                       "installation, reboot, upgrade with a program managed, newer kernel, purge; about an hour")
    flags.add_argument("--reuse", action="store_true", help="with --prove or --live: take the packages that are in DIR")
    flags.add_argument("--keep", type=Path, metavar="DIR", help="with --live: keep the disk after each stage there, 3 GiB each")
    flags.add_argument("--from", dest="first", choices=live.STAGES, default="system",
                       help="with --live and --keep: begin with this stage, on the disk that is kept of the one before")
    flags.add_argument("--transcript", type=Path, metavar="FILE", help="with --live: write what a user types, up to the report, and sees")
    args = flags.parse_args()
    if not args.live and (args.keep or args.transcript or args.first != "system"):
        flags.error("--keep, --from and --transcript are about --live; add it")
    if args.prove and args.first != "system":
        flags.error("--from takes up --live on a disk that is kept; --prove needs the packages: leave out one of the two")
    return args


def main() -> int:
    """0 or the exit code of what went wrong."""
    args = parse()
    if args.first != "system":
        live.live(ROOT, [], MACHINE, args.keep, args.first, args.transcript)
        return 0
    packages = build.found(args.out) if args.reuse else build.build(ROOT, args.out, args.jobs)
    for package in packages:
        print(package)
    if args.prove:
        prove.prove(ROOT, packages)
    if args.live:
        live.live(ROOT, packages, MACHINE, args.keep, args.first, args.transcript)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as problem:
        print(f"tools/package: {problem}", file=sys.stderr)
        sys.exit(problem.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
