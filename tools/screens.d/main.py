# SPDX-License-Identifier: MIT
"""tools/screens: build, boot, let inside.py capture terminals, draw them."""
import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(HERE)]

from lab import Guest, LabError, load_machine  # noqa: E402
from lab.build import user_space  # noqa: E402
from lab.kernels import SERIES  # noqa: E402
from lab.module import build_module  # noqa: E402
from lab.outcome import PASS  # noqa: E402
import terminal  # noqa: E402


def parse() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/screens", description="Pictures of hmkctl on a terminal, from a guest.")
    flags.add_argument("--kernel", choices=SERIES, default="6.12", help="kernel series of the guest (default: 6.12)")
    flags.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "docs/screens",
                       help="folder for the pictures (default: docs/screens of the checkout)")
    return flags.parse_args()


def capture(kernel: str, logs: Path) -> None:
    """Leaves NAME.ansi files in `logs`."""
    build = user_space(ROOT, logs, ("hmkd", "hmkctl", "hmk-load-kv"))
    settings = {"build": str(build), "module": str(build_module(kernel))}
    with Guest(load_machine(ROOT / "configs/lab/four-tier.yaml"), kernel, timeout=600, results=logs) as guest:
        outcome = guest.run(["/usr/bin/python3", "-B", str(HERE / "inside.py"), json.dumps(settings)], on_line=print)
    if outcome.kind != PASS:
        raise LabError(f"{outcome.reason}; run tools/lab check, then try again")


def main() -> int:
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="hmk-screens.") as logs:
        capture(args.kernel, Path(logs))
        for text in sorted(Path(logs).glob("*.ansi")):
            picture = args.out / f"{text.stem}.svg"
            terminal.write_private(picture, terminal.to_svg(text.read_text(encoding="utf-8")))
            print(picture)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except LabError as problem:
        print(f"tools/screens: {problem}", file=sys.stderr)
        sys.exit(problem.exit_code)
