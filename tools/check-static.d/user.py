# SPDX-License-Identifier: MIT
"""Checkers of user space: clang-tidy, cppcheck, shellcheck."""
import json
import os
import shlex
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Dict, List, Optional

from lab import cache
from lab.build import run_preset

from tree import Tree, findings, lines_of

DATABASE = "build/tidy/compile_commands.json"
NOT_SO = Path(__file__).parent / "cppcheck.txt"
CPP = ("daemon", "include", "libhmk", "tools", "tests")


def clang_tidy(tree: Tree) -> List[str]:
    """What .clang-tidy lists. A file that was clean is looked at again when it or a header of ours changes.

    The files changed last come first: where time is short, a defect is likeliest there.
    """
    if (tree.root / "CMakePresets.json").exists():
        (cache.root() / "static").mkdir(parents=True, exist_ok=True)
        run_preset(tree.root, cache.root() / "static", "tidy")
    database = tree.root / DATABASE
    ours = set(tree.files(".cpp", ".c", below=CPP))
    entries = [entry for entry in json.loads(database.read_text(encoding="utf-8")) if Path(entry["file"]) in ours]
    ages = _ages(tree.root)
    entries.sort(key=lambda entry: _age(ages, Path(entry["file"]).relative_to(tree.root)))
    end = time.monotonic() + tree.seconds
    with ThreadPoolExecutor(tree.jobs) as pool:
        found = list(pool.map(lambda entry: _tidy(tree, entry, end), entries))
    left = sum(lines is None for lines in found)
    if left:
        tree.notes.append(f"{left} of {len(entries)} files are left for the next run: {tree.seconds:.0f} s are up")
    return [line for lines in found for line in lines or []]


def _ages(root: Path) -> Dict[str, int]:
    """Paths by how long ago they changed: 0 for what is not committed, then commit by commit."""
    ages: Dict[str, int] = {}
    for command in (["diff", "HEAD", "--name-only"], ["log", "--format=", "--name-only"]):
        for path in lines_of(["git", "-C", root, *command]):
            ages.setdefault(path, len(ages))
    return ages


def _age(ages: Dict[str, int], file: Path) -> int:
    """Of a file or the header beside it; new ones are the youngest."""
    return min(ages.get(str(name), -1) for name in (file, file.with_suffix(".hpp")) if name == file or str(name) in ages)


def _tidy(tree: Tree, entry: Dict[str, str], end: float) -> Optional[List[str]]:
    """None: not looked at, there is no time left."""
    clean = cache.root() / "static" / "clean" / _content(tree, entry)
    if clean.exists():
        return []
    if time.monotonic() > end:
        return None
    lines = lines_of(["clang-tidy", "--quiet", "-p", tree.root / DATABASE, f"--config-file={tree.root / '.clang-tidy'}",
                      "--extra-arg=-Wno-unknown-warning-option", entry["file"]], cwd=entry["directory"])
    found = findings(lines, tree.root)
    broken = next((line for line in lines if line.endswith("[clang-diagnostic-error]")), None)
    if broken and not found:  # in a header that is not ours
        found = [f"{Path(entry['file']).relative_to(tree.root)}:1: error: clang cannot compile it, so nothing was checked: {broken}"]
    if not found:
        clean.parent.mkdir(parents=True, exist_ok=True)
        clean.touch()
    return found


def _content(tree: Tree, entry: Dict[str, str]) -> str:
    """What the verdict depends on: the command, the checks, the file, every header of the project in it, and how it is told here.

    Not where the tree lies: a clean clone takes what another found clean.
    """
    words = shlex.split(entry["command"])
    words = words[words.index("ccache") + 1:] if "ccache" in words else words
    plain = [word for word in words[:-1] if word not in ("-c", "-o") and not word.endswith(".o")]
    rule = " ".join(lines_of([*plain, "-MM", entry["file"]], cwd=entry["directory"])).replace("\\", " ")
    named = [Path(os.path.normpath(Path(entry["directory"]) / word)) for word in rule.split()[1:]]
    texts = [file.read_bytes() for file in [*named, tree.root / ".clang-tidy", Path(__file__)] if file.is_file()]
    return sha256(b"\0".join([" ".join(plain).replace(f"{tree.root}/", "").encode(), *texts])).hexdigest()


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
