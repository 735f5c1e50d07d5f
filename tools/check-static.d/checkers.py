# SPDX-License-Identifier: MIT
"""The checkers by name."""
import kernel
import user

#: Name, function, packages. The longest first, so that the others run beside it.
CHECKERS = {
    "clang-tidy": (user.clang_tidy, ("clang-tidy",)),
    "gcc": (kernel.gcc, ("make", "gcc", "sparse")),
    "sparse": (kernel.sparse, ("make", "gcc", "sparse")),
    "clang": (kernel.clang, ("make", "gcc", "sparse", "clang")),
    "cppcheck": (user.cppcheck, ("cppcheck",)),
    "coccinelle": (kernel.coccinelle, ("coccinelle",)),
    "checkpatch": (kernel.checkpatch, ("perl",)),
    "shellcheck": (user.shellcheck, ("shellcheck",)),
}
