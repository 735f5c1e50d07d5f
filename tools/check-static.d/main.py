# SPDX-License-Identifier: MIT
"""tools/check-static: every checker over the tree, a line for each; exit 1 if one found something."""
import argparse
import json
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Dict, List

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(Path(__file__).parent)]

from lab.apt import install_missing  # noqa: E402
from lab.errors import LabError  # noqa: E402
from lab.kernels import GATES, SERIES  # noqa: E402
from checkers import CHECKERS, look  # noqa: E402
from tree import Tree  # noqa: E402


def names(text: str) -> List[str]:
    """Of --only."""
    chosen = text.split(",")
    for name in chosen:
        if name not in CHECKERS:
            raise argparse.ArgumentTypeError(f"unknown checker '{name}'; use of {', '.join(CHECKERS)}")
    return chosen


def parse() -> argparse.Namespace:
    flags = argparse.ArgumentParser(prog="tools/check-static", description=__doc__)
    flags.add_argument("--list", action="store_true", help="print the names of the checkers")
    flags.add_argument("--only", metavar="NAME,...", type=names, default=list(CHECKERS), help="these checkers")
    flags.add_argument("--kernel", choices=SERIES, help="headers the module is read with (default: both gates)")
    flags.add_argument("--root", type=Path, default=ROOT, metavar="DIR", help="another tree than this one")
    flags.add_argument("--json", type=Path, metavar="FILE", help="a list of objects: checker, findings, seconds")
    return flags.parse_args()


def report(row: Dict[str, Any]) -> None:
    found = row["findings"]
    print(f"{'found' if found else 'clean':6} {row['seconds']:6.1f} s  {row['checker']}"
          f"{f': {len(found)} findings' if found else ''}", flush=True)
    for line in found:
        print(f"        | {line}", flush=True)


def run(chosen: List[str], tree: Tree) -> List[Dict[str, Any]]:
    rows = []
    with ThreadPoolExecutor(2) as pool:
        for done in as_completed([pool.submit(look, name, tree) for name in CHECKERS if name in chosen]):
            rows.append(done.result())
            report(rows[-1])
    return rows


def main() -> int:
    args = parse()
    if args.list:
        print("\n".join(CHECKERS))
        return 0
    install_missing(dict.fromkeys(package for name in args.only for package in CHECKERS[name][1]), "tools/check-static")
    rows = run(args.only, Tree(args.root.resolve(), (args.kernel,) if args.kernel else GATES))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 1 if any(row["findings"] for row in rows) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as problem:
        print(f"tools/check-static: {problem}", file=sys.stderr)
        sys.exit(problem.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
