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
    return flags.parse_args()


def main() -> int:
    """0 or the exit code of what went wrong."""
    args = parse()
    packages = build.found(args.out) if args.reuse else build.build(ROOT, args.out, args.jobs)
    for package in packages:
        print(package)
    if args.prove:
        prove.prove(ROOT, packages)
    if args.live:
        live.live(ROOT, packages, MACHINE)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as problem:
        print(f"tools/package: {problem}", file=sys.stderr)
        sys.exit(problem.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
