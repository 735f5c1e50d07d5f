# SPDX-License-Identifier: MIT
"""Checkers of user space: clang-tidy, cppcheck, shellcheck."""
import json
import os
import shlex
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Dict, List

from lab import cache
from lab.build import run_preset

from tree import Tree, findings, lines_of

DATABASE = "build/tidy/compile_commands.json"
NOT_SO = Path(__file__).parent / "cppcheck.txt"
CPP = ("daemon", "include", "libhmk", "tools", "tests")


def clang_tidy(tree: Tree) -> List[str]:
    """What .clang-tidy lists. A file that was clean is looked at again when it or a header of ours changes."""
    if (tree.root / "CMakePresets.json").exists():
        run_preset(tree.root, cache.root() / "static", "tidy")
    database = tree.root / DATABASE
    ours = set(tree.files(".cpp", ".c", below=CPP))
    entries = [entry for entry in json.loads(database.read_text(encoding="utf-8")) if Path(entry["file"]) in ours]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return [line for lines in pool.map(lambda entry: _tidy(tree, entry), entries) for line in lines]


def _tidy(tree: Tree, entry: Dict[str, str]) -> List[str]:
    clean = cache.root() / "static" / "clean" / _content(tree, entry)
    if clean.exists():
        return []
    lines = lines_of(["clang-tidy", "--quiet", "-p", tree.root / DATABASE, f"--config-file={tree.root / '.clang-tidy'}",
                      "--extra-arg=-Wno-unknown-warning-option", entry["file"]], cwd=entry["directory"])
    found = findings(lines, tree.root)
    if not found:
        clean.parent.mkdir(parents=True, exist_ok=True)
        clean.touch()
    return found


def _content(tree: Tree, entry: Dict[str, str]) -> str:
    """What the verdict depends on: the command, the checks, the file and every header of the project in it."""
    words = shlex.split(entry["command"])
    words = words[words.index("ccache") + 1:] if "ccache" in words else words
    plain = [word for word in words[:-1] if word not in ("-c", "-o") and not word.endswith(".o")]
    rule = " ".join(lines_of([*plain, "-MM", entry["file"]], cwd=entry["directory"])).replace("\\", " ")
    named = [Path(os.path.normpath(Path(entry["directory"]) / word)) for word in rule.split()[1:]]
    texts = [file.read_bytes() for file in [*named, tree.root / ".clang-tidy"] if file.is_file()]
    return sha256(b"\0".join([" ".join(plain).encode(), *texts])).hexdigest()


def cppcheck(tree: Tree) -> List[str]:
    """Warnings, performance, portability, over C++ and C of user space: it does not read the kernel's C well."""
    folders = [tree.root / name for name in CPP if (tree.root / name).is_dir()]
    build = cache.root() / "static" / f"cppcheck-{sha256(str(tree.root).encode()).hexdigest()[:12]}"  # it keeps paths
    build.mkdir(parents=True, exist_ok=True)
    lines = lines_of(["cppcheck", "--quiet", "--enable=warning,performance,portability", "--inline-suppr", "-j2",
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
