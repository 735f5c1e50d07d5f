# SPDX-License-Identifier: MIT
"""Checkers of user space: cppcheck, shellcheck."""
from hashlib import sha256
from pathlib import Path
from typing import List

from lab import cache

from tree import CPP, Tree, findings, lines_of

NOT_SO = Path(__file__).parent / "cppcheck.txt"


def cppcheck(tree: Tree) -> List[str]:
    """Warnings, performance, portability, over C++ and C of user space: it does not read the kernel's C well."""
    folders = [tree.root / name for name in CPP if (tree.root / name).is_dir()]
    build = cache.root() / "static" / f"cppcheck-{sha256(str(tree.root).encode()).hexdigest()[:12]}"  # it keeps paths
    build.mkdir(parents=True, exist_ok=True)
    lines = lines_of(["cppcheck", "--quiet", "--enable=warning,performance,portability", "--inline-suppr", f"-j{tree.jobs}",
                      "--std=c++20", "--template={file}:{line}: {severity}: {message} [{id}]", f"--cppcheck-build-dir={build}",
                      "--library=googletest", f"--suppressions-list={NOT_SO}", f"-i{tree.root / 'tests/static'}", f"-I{tree.root / 'include'}", f"-I{tree.root / 'uapi'}", *folders])
    return findings(lines, tree.root, r": (error|warning|performance|portability): ")


def shellcheck(tree: Tree) -> List[str]:
    """Every script of a shell, known by its first line."""
    scripts = [file for file in tree.files() if _is_shell(file)]
    return findings(lines_of(["shellcheck", "-x", "--format=gcc", *scripts]), tree.root, ": (error|warning|note): ") if scripts else []


def _is_shell(file: Path) -> bool:
    with open(file, "rb") as opened:
        first = opened.readline(64)
    return first.startswith(b"#!") and first.split()[-1].split(b"/")[-1] in (b"sh", b"bash", b"dash")
