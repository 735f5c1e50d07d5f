# SPDX-License-Identifier: MIT
"""The checkers by name."""
import time
from typing import Any, Dict

from lab.errors import LabError

import kernel
import python
import tidy
import user
from tree import Tree

#: Name, function, packages. The longest first, so that the others run beside it.
CHECKERS = {
    "clang-tidy": (tidy.clang_tidy, ("clang-tidy", "libclang-dev", "llvm-dev")),
    "gcc": (kernel.gcc, ("make", "gcc", "sparse")),
    "sparse": (kernel.sparse, ("make", "gcc", "sparse")),
    "clang": (kernel.clang, ("make", "gcc", "sparse", "clang")),
    "cppcheck": (user.cppcheck, ("cppcheck",)),
    "coccinelle": (kernel.coccinelle, ("coccinelle", "libpython3-dev")),  # its rules in Python load libpython3.N.so
    "checkpatch": (kernel.checkpatch, ("perl",)),
    "mypy": (python.mypy, ("mypy", "python3-typeshed")),  # typeshed has the types of yaml
    "pyflakes": (python.pyflakes, ("python3-pyflakes",)),
    "shellcheck": (user.shellcheck, ("shellcheck",)),
}


def look(name: str, tree: Tree) -> Dict[str, Any]:
    """One checker's findings; that it cannot run is one of them."""
    began = time.monotonic()
    try:
        found = CHECKERS[name][0](tree)
    except (LabError, OSError) as error:
        found = [f"{name} could not run: {error}"]
    return {"checker": name, "findings": found, "seconds": round(time.monotonic() - began, 1)}
