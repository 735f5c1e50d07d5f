# SPDX-License-Identifier: MIT
"""Checkers of Python: pyflakes, and mypy over each program with the folders it imports from."""
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Dict, List, Tuple

from lab import cache
from lab.errors import LabError

from tree import Tree, findings, lines_of

#: Folders whose files are one program (no two of one name), and where else it imports from.
PROGRAMS: Dict[str, Tuple[str, ...]] = {
    "tools": ("tools/lab.d",),  # programs of one file
    "tools/lab.d": ("tools/torture.d", "tools/check-static.d"),
    "tools/check-static.d": ("tools/lab.d",),
    "tools/torture.d": ("tools/lab.d", "tests/e2e"),
    "tools/bench.d/placement": ("tools/lab.d", "tools"),
    "tools/bench.d/moves": ("tools/lab.d",),
    "tools/bench.d/ab": ("tools/lab.d",),
    "tools/bench.d/calibrate": ("tools/bench.d/placement", "tools/lab.d", "tools"),
    "tools/bench.d/paper": ("tools/bench.d/placement", "tools/lab.d", "tools"),
    "tools/screens.d": ("tools/lab.d", "tools/demo.d", "tools"),
    "tools/demo.d": ("tools/lab.d", "tools"),
    "tools/guest": ("tools",),
    "tools/package.d": ("tools/lab.d",),
    "packaging/man": (),
    "packaging/kubernetes": (),
    "tests/lab": ("tools/lab.d", "tests/e2e", "tools/torture.d", "tools/bench.d/placement", "tools/screens.d", "tools"),
    "tests/bench": ("tools/lab.d", "tools/bench.d/placement", "tools/bench.d/calibrate", "tools/bench.d/paper", "tools"),
    "tests/static": ("tools/lab.d", "tools/check-static.d"),
    "tests/cli": (),
    "tests/load": (),
    "tests/packaging": ("packaging/man", "tools/package.d", "tools/lab.d"),
    "tests/e2e": ("tools", "tools/lab.d"),
}
#: That None has no such attribute fails a test, as it should; elsewhere it has to be asked for.
LAX = ("--no-strict-optional",)


def sources(tree: Tree) -> List[Path]:
    """Every file of Python, known by its name or its first line."""
    return [file for file in tree.files() if file.suffix == ".py" or (not file.suffix and _is_script(file))]


def _is_script(file: Path) -> bool:
    with open(file, "rb") as opened:
        return re.match(rb"#!.*/python3", opened.readline(64)) is not None


def pyflakes(tree: Tree) -> List[str]:
    """Names that are unused, undefined or defined twice."""
    lines = lines_of(["/usr/bin/python3", "-m", "pyflakes", *sources(tree)])
    return findings(lines, tree.root, "")


def mypy(tree: Tree) -> List[str]:
    """Types, in functions without annotations as well."""
    programs: Dict[str, List[Path]] = {}
    lost = []
    for file in sources(tree):
        name = _program(str(file.relative_to(tree.root)))
        programs.setdefault(name, []).append(file)
        if not name:
            lost.append(f"{file.relative_to(tree.root)}:1: error: in no folder of PROGRAMS in tools/check-static.d/python.py")
    clean = cache.root() / "static/clean" / _content(tree)
    if clean.exists():
        return lost
    found = [line for name, files in programs.items() if name for line in _typed(tree, name, files)]
    if not found:
        clean.parent.mkdir(parents=True, exist_ok=True)
        clean.touch()
    return list(dict.fromkeys(lost + found))


def _program(path: str) -> str:
    """The innermost folder of PROGRAMS that holds the file; of `tools` only what lies directly in it.

    >>> _program("tools/lab.d/lab/apt.py"), _program("tools/lab"), _program("tools/new.d/main.py")
    ('tools/lab.d', 'tools', '')
    """
    known = [name for name in PROGRAMS if path.startswith(f"{name}/") and (name != "tools" or path.count("/") == 1)]
    return max(known, key=len, default="")


def _content(tree: Tree) -> str:
    texts = [b"%s\0%s" % (str(file).encode(), file.read_bytes()) for file in sources(tree)]
    return sha256(b"\0".join(["\n".join(map(str, sys.version_info)).encode(), *texts])).hexdigest()


def _typed(tree: Tree, name: str, files: List[Path]) -> List[str]:
    lax = name.startswith("tests/")
    with TemporaryDirectory() as scratch:
        real = dict(_apart(tree.root / name, files, Path(scratch)))
        path = ":".join(str(tree.root / folder) for folder in (name, *PROGRAMS[name]))
        lines = _run(["mypy", "--config-file=", "--check-untyped-defs", "--no-error-summary", "--scripts-are-modules",
                      f"--cache-dir={cache.root() / 'static/mypy' / ('lax' if lax else 'strict')}", *(LAX if lax else ()), *real], path, tree.root)
    ours = {str(file.relative_to(tree.root)) for file in files}  # what it imports is looked at as a program of its own
    return [line for line in findings([_renamed(line, real) for line in lines], tree.root, r": error: ")
            if line.partition(":")[0] in ours]


def _apart(folder: Path, files: List[Path], scratch: Path) -> List[Tuple[str, Path]]:
    """What mypy is told to read for each file: those of one name, as the tests of e2e, get one each, and so do scripts."""
    named = []
    for file in files:
        twice = not file.suffix or sum(other.name == file.name and other.parent != folder for other in files) > 1 and file.name != "__init__.py"
        link = scratch / ("_".join(re.sub(r"\W", "_", part) for part in file.relative_to(folder).with_suffix("").parts) + "_.py")
        if twice:
            link.symlink_to(file)
        named.append((str(link if twice else file), file))
    return named


def _run(command: List[str], path: str, root: Path) -> List[str]:
    """mypy ends with 1 where it found something; with more, it did not look."""
    done = subprocess.run(["env", f"MYPYPATH={path}", *command], check=False, cwd=root, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode > 1:
        raise LabError(f"mypy: {done.stdout.strip().splitlines()[-1:]}")
    return done.stdout.splitlines()


def _renamed(line: str, real: Dict[str, Path]) -> str:
    file, colon, rest = line.partition(":")
    return f"{real.get(file, file)}{colon}{rest}"
