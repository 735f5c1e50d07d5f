# SPDX-License-Identifier: MIT
"""tools/demo: build, boot, measure before and after, judge."""
import argparse
import json
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(Path(__file__).resolve().parent)]

from lab import LabError  # noqa: E402
from lab.build import user_space  # noqa: E402
from lab.kernels import SERIES  # noqa: E402
from lab.module import build_module  # noqa: E402
import picture  # noqa: E402
import stage  # noqa: E402
import verdict  # noqa: E402
from plan import Plan  # noqa: E402


def parse() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/demo", description="An unmodified redis-server, tiered on a "
                                    "four-tier machine in a guest: before and after, measured and checked.")
    flags.add_argument("--kernel", choices=SERIES, default="6.12", help="kernel series of the guest (default: 6.12)")
    flags.add_argument("--json", metavar="FILE", type=Path, help="also write the results there")
    flags.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "build/demo",
                       help="folder for the picture and the logs (default: build/demo of the checkout)")
    flags.add_argument("--updates", choices=("in-place", "set"), default="in-place",
                       help="how the load updates: SETRANGE, which keeps a value where it is (default), or SET, after "
                       "which the allocator scatters hot values over the heap")
    args = flags.parse_args()
    if args.json and not args.json.resolve().parent.is_dir():
        flags.error(f"--json {args.json}: there is no folder {args.json.parent}; create it first")
    return args


def main() -> int:
    """0 only if everything promised holds; 1 if not; 2 for usage."""
    began = time.monotonic()
    args = parse()
    plan = Plan(in_place=args.updates == "in-place")
    args.out.mkdir(parents=True, exist_ok=True)
    build = user_space(ROOT, args.out, ("hmkd", "hmkctl", "hmk-load-kv"))
    module = build_module(args.kernel)
    show = stage.run(ROOT, args.kernel, build, module, plan, args.out)
    result = verdict.judge(show)
    picture.draw(show, args.out / "shares.svg")
    (args.out / "intervals.jsonl").write_text("".join(json.dumps(row) + "\n" for row in show.rows))
    verdict.report(show, result, args.out)
    if args.json:
        args.json.write_text(json.dumps(result.fields, indent=2) + "\n")
    print(f"\n{'PASS' if result.holds else 'FAIL'} in {time.monotonic() - began:.0f} s")
    return 0 if result.holds else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (LabError, stage.StageError) as problem:
        print(f"tools/demo: {problem}", file=sys.stderr)
        sys.exit(getattr(problem, "exit_code", 1))
    except OSError as problem:
        print(f"tools/demo: {problem.filename}: {problem.strerror}", file=sys.stderr)
        sys.exit(1)
