# SPDX-License-Identifier: MIT
"""tools/check-static over the tree, a result for each checker."""
import sys
import time
from pathlib import Path
from typing import List

sys.path.append(str(Path(__file__).resolve().parents[2] / "check-static.d"))

from checkers import CHECKERS, look  # noqa: E402
from lab.kernels import GATES  # noqa: E402
from suite.case import FAILED, PASSED, Result  # noqa: E402
from tree import Tree  # noqa: E402

SHOWN = 40


def names() -> List[str]:
    return list(CHECKERS)


def packages() -> List[str]:
    return list(dict.fromkeys(package for _, needed in CHECKERS.values() for package in needed))


def title(checker: str) -> str:
    return f"check-static/{checker}"


def run(root: Path, checker: str, seconds: float) -> Result:
    """One checker, on one CPU: others are at work beside it. A slow one may leave files for another run."""
    began = time.monotonic()
    tree = Tree(root, GATES, jobs=1, seconds=seconds)
    found, took = look(checker, tree)["findings"], time.monotonic() - began
    if not found:
        return Result(title(checker), PASSED, took, "; ".join(tree.notes))
    return Result(title(checker), FAILED, took, f"{len(found)} findings", tuple(found[:SHOWN]))
