# SPDX-License-Identifier: MIT
"""What each test's verdict depends on: files of the tree by their path's beginning, and from that a key and what a change touches."""
import functools
import os
import re
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Dict, Iterable, List, Tuple

from lab.errors import UsageError

Prefixes = Tuple[str, ...]

MODULE: Prefixes = ("Kbuild", "kmod/", "include/", "uapi/")
SUITE: Prefixes = ("tools/lab.d/", "tools/test", "tools/setup")
# All of CMake's: which program of them a test runs is not asked.
PROGRAMS: Prefixes = ("CMake", "include/", "uapi/", "kmod/core/", "daemon/", "tools/CMakeLists.txt", "tools/hmkctl/", "tools/load/",
                      "tools/sim", "tools/plan", "tools/bench.d/", "tests/programs/", "tests/support/", "tests/CMakeLists.txt", "systemd/",
                      "packaging/")
UNITS: Prefixes = (*PROGRAMS, "configs/", "tests/unit/", "tests/property/", "tests/abi/", "tests/daemon/", "tests/cli/", "tests/fuzz/",
                   "tests/load/", "tests/sim/", *SUITE)
INSIDE: Prefixes = ("tests/e2e/lib.py", "tests/e2e/putback.py")   # what every guest runs
GUEST: Prefixes = (*MODULE, *PROGRAMS, *SUITE, "configs/", *INSIDE, "tools/guest/")
BARE_GUEST: Prefixes = (*SUITE, "configs/lab/", *INSIDE)   # neither our module nor our programs
ROW: Prefixes = (*GUEST, "tools/torture", "tests/fuzz/")
LAB: Prefixes = (*SUITE, "tools/", "tests/lab/", "tests/e2e/", "configs/lab/", "docs/torture.jsonl")
BENCH: Prefixes = (*SUITE, "tools/", "tests/bench/", "configs/lab/")
STATIC: Prefixes = ("tools/check-static", "tests/static/", "tools/lab.d/", ".clang-tidy")
PACKAGING: Prefixes = (*MODULE, *PROGRAMS, "configs/", "packaging/", "SECURITY.md", "tests/packaging/", "tools/package", "tools/setup",
                        "tools/lab.d/suite/python_tests.py")
CHECKED: Prefixes = ("Kbuild", "kmod/", "include/", "uapi/", "daemon/", "tools/", "tests/", "packaging/", ".ci/", "CMake", ".clang-tidy")
#: What no test reads.
UNTESTED: Prefixes = ("docs/", "LICENSES/", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "tests/README.md", ".gitignore",
                      ".clang-format", ".editorconfig", "packaging/README.md", "kmod/README.md", "tools/lab.d/README.md")
KNOWN: Prefixes = (*GUEST, *UNITS, *ROW, *LAB, *BENCH, *STATIC, *PACKAGING, *CHECKED, *UNTESTED)


def own(folder: Path) -> Prefixes:
    """The folder of an end-to-end test, and those whose sources its programs include."""
    texts = (source.read_text(encoding="utf-8") for source in folder.glob("*.c"))
    others = {name for text in texts for name in re.findall(r'^#include "\.\./(\d\d-[^/]+)/', text, re.M)}
    return tuple(f"tests/e2e/{name}/" for name in (folder.name, *sorted(others)))


def touched(prefixes: Iterable[str], changed: Iterable[str]) -> bool:
    """Whether one of the `changed` paths counts for what depends on `prefixes`.

    >>> touched(("kmod/", "Kbuild"), ["kmod/move.c"]), touched(("kmod/",), ["docs/a.md"])
    (True, False)
    """
    starts = tuple(prefixes)
    return any(path.startswith(starts) and path not in UNTESTED for path in changed)


def unknown(changed: Iterable[str]) -> List[str]:
    """Paths nobody has said anything about: a change there may touch everything."""
    return [path for path in changed if not path.startswith(KNOWN)]


def changed_since(root: Path, base: str) -> List[str]:
    """Paths that differ between the work tree and the commit where it left `base`, new ones as well. Raises UsageError."""
    since = _git(root, "merge-base", base, "HEAD").strip()
    return sorted({*_git(root, "diff", "--name-only", "--no-renames", "-z", since).split("\0"),
                   *_git(root, "ls-files", "-o", "--exclude-standard", "-z").split("\0")} - {""})


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise UsageError(f"git {' '.join(words)}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}; "
                         "--changed needs a checkout of git and a commit that is in it")
    return done.stdout


class Contents:
    """Every file of the tree by path, with a hash of what is in it; what git ignores is not of the tree."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @functools.cached_property
    def _hashes(self) -> Dict[str, str]:
        return {path: _hash(self._root / path) for path in self._paths()}

    def _paths(self) -> List[str]:
        try:
            listed = _git(self._root, "ls-files", "-c", "-o", "--exclude-standard", "-z").split("\0")
        except UsageError:  # no checkout: an unpacked archive
            listed = [os.path.relpath(os.path.join(folder, name), self._root) for folder, _, names in os.walk(self._root)
                      for name in names if "/build" not in folder and "__pycache__" not in folder]
        return sorted(path for path in set(listed) if path and (self._root / path).is_file())

    def key(self, prefixes: Iterable[str], *more: str) -> str:
        """A hash over all files that begin so, their names, and `more`."""
        starts = tuple(prefixes)
        parts = [f"{path} {content}" for path, content in self._hashes.items() if path.startswith(starts) and path not in UNTESTED]
        return sha256("\n".join([*parts, *more]).encode()).hexdigest()


def _hash(file: Path) -> str:
    return sha256(b"%o %s" % (file.stat().st_mode & 0o111, file.read_bytes())).hexdigest()
