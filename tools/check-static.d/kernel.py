# SPDX-License-Identifier: MIT
"""Checkers of the module: the kernel's build with warnings, sparse, clang, our own semantic patches, checkpatch."""
import functools
import re
import shlex
import subprocess
import threading
from pathlib import Path
from typing import List

from lab import cache
from lab.apt import Apt
from lab.errors import LabError
from lab.kernels import kernel
from lab.module import build_module
from lab.progress import step

from tree import Tree, findings, lines_of

RULES = Path(__file__).parent
SOURCE = "linux-source-6.1"  # the only package with checkpatch.pl
# What kbuild asks of gcc alone would stop clang; what it needs to read the sources is kept.
KEPT = re.compile(r"-(I|D|U|nostdinc|std=|W(all|extra|vla|missing-prototypes|missing-declarations|unused.*|no-.*)$)")
CLANG = ("clang", "-fsyntax-only", "--target=x86_64-linux-gnu", "-mcmodel=kernel", "-mno-sse", "-fshort-wchar",
         "-fno-strict-aliasing", "-Wno-unknown-warning-option", "-Wno-gnu")
#: Rules of checkpatch that do not fit a file (or any: ""), and why.
NOT_FOR = {
    "": ("BIT_MACRO",           # user space reads uapi/ and include/, and has no BIT()
         "IS_ENABLED_CONFIG",   # the switch of a test build is no option of the kernel
         "CONSTANT_COMPARISON",  # KERNEL_VERSION() is taken for a variable
         "CAMELCASE"),          # _Static_assert
    "kmod/trace.h": ("OPEN_ENDED_LINE", "PARENTHESIS_ALIGNMENT"),  # the layout every TRACE_EVENT has
    "kmod/compat/mm.h": ("LINUX_VERSION_CODE",),  # where no declaration tells the kernels apart
    "kmod/compat/symbols.": (
        "LINE_SPACING", "COMPLEX_MACRO", "MULTISTATEMENT_MACRO_USE_DO_WHILE", "TRAILING_SEMICOLON", "MACRO_ARG_REUSE",
                             "SPACING"),  # lists of symbols that become declarations
    "kmod/move_own.c": ("UNNECESSARY_PARENTHESES",),  # hmk_call(function)(argument)
    "kmod/walk.": ("UNCOMMENTED_DEFINITION",),  # pointers to the kernel's locks
    "kmod/attach.c": ("MACRO_ARG_REUSE",),  # the macro's argument is the name of a member
}
_lock = threading.Lock()


@functools.lru_cache(maxsize=None)
def _build(root: Path, series: str, jobs: int) -> Path:
    """Folder of the module as the lab builds it, with W=1: gcc's words are in build.log, sparse's in sparse.log."""
    folder = build_module(series, root=root, whole=True).parent
    log = folder / "sparse.log"
    with cache.locked(folder):
        if not log.exists() or log.stat().st_mtime_ns < (folder / ".built").stat().st_mtime_ns:
            with step(f"reading hmk.ko for {kernel(series).release} with sparse"):
                lines = lines_of(["make", "-k", "-C", kernel(series).headers, f"M={folder}", "W=1", "C=2", "CHECK=sparse",
                                  "KCFLAGS=", f"-j{jobs}", "modules"])
            if not any("  CHECK " in line for line in lines):
                raise LabError(f"sparse has read nothing of hmk.ko for {kernel(series).release}: {lines[-1:]}")
            log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def _said(tree: Tree, log: str) -> List[str]:
    found: List[str] = []
    for series in tree.kernels:
        with _lock:  # several checkers, one build
            folder = _build(tree.root, series, tree.jobs)
        lines = (folder / log).read_text(encoding="utf-8").splitlines()
        found += [f"{line} [{series}]" for line in findings(lines, folder)]
    return found


def gcc(tree: Tree) -> List[str]:
    """The kernel's own build with W=1."""
    return _said(tree, "build.log")


def sparse(tree: Tree) -> List[str]:
    """Address spaces, lock contexts, byte order."""
    return _said(tree, "sparse.log")


def clang(tree: Tree) -> List[str]:
    """The same sources with the same configuration, read by the other compiler."""
    found: List[str] = []
    for series in tree.kernels:
        with _lock:
            folder = _build(tree.root, series, tree.jobs)
        for saved in sorted(folder.rglob(".*.o.cmd")):
            words = shlex.split(saved.read_text(encoding="utf-8").splitlines()[0].split(":=", 1)[1].split(" ; ")[0])
            if words and words[-1].endswith(".c") and not words[-1].endswith(".mod.c"):
                lines = lines_of([*CLANG, *_kept(words[1:-1]), words[-1]], cwd=kernel(series).headers)
                found += [f"{line} [{series}]" for line in findings(lines, folder)]
    return found


def _kept(words: List[str]) -> List[str]:
    pairs = zip(words, words[1:] + [""])
    kept = [[word, following] if word in ("-include", "-isystem") else [word] for word, following in pairs
            if word in ("-include", "-isystem") or KEPT.match(word)]
    return [word for group in kept for word in group]


def coccinelle(tree: Tree) -> List[str]:
    """Locks given back on every way out, every get with its put, no sleeping allocation under a spinlock."""
    sources = tree.files(".c", below=("kmod",))
    found: List[str] = []
    for rule in sorted(RULES.glob("*.cocci")):
        done = subprocess.run(["spatch", "--very-quiet", "--no-show-diff", "-D", "report", "--sp-file", str(rule),
                               *map(str, sources)], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise LabError(f"{rule.name}: {done.stderr.strip().splitlines()[-1:]}")
        found += findings(done.stdout.splitlines(), tree.root, "")
    return found


def checkpatch(tree: Tree) -> List[str]:
    """The kernel's style, strictly."""
    script = _checkpatch()
    sources = tree.files(".c", ".h", below=("kmod", "uapi", "include/hmk/core"))
    lines = lines_of([script, "--no-tree", "--strict", "--terse", "--show-types", "--no-summary", "--max-line-length=100",
                      "-f", *sources], cwd=script.parent)
    return [line for line in findings(lines, tree.root, r"(WARNING|ERROR|CHECK):")
            if not any(line.startswith(file) and f":{rule}:" in line for file, rules in NOT_FOR.items() for rule in rules)]


def _checkpatch() -> Path:
    version = Apt().candidate(SOURCE)
    if version is None:
        raise LabError(f"{SOURCE} is not in any suite apt lists; run apt-get update or check the sources")
    folder = cache.root() / "static" / f"checkpatch-{version}"
    with cache.locked(folder):
        if not folder.is_dir():
            with cache.filled(folder) as partial:
                _unpack(partial)
    return folder / "checkpatch.pl"


def _unpack(folder: Path) -> None:
    """Three files of the package's 130 MB."""
    Apt().download([SOURCE], folder)
    deb = next(folder.glob("*.deb"))
    wanted = [f"*/scripts/{name}" for name in ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")]
    with step(f"unpacking checkpatch.pl of {SOURCE}"):
        subprocess.run(["dpkg", "-x", str(deb), str(folder)], check=True)
        subprocess.run(["tar", "-xf", str(folder / "usr/src" / f"{SOURCE}.tar.xz"), "-C", str(folder), "--wildcards",
                        "--strip-components=2", *wanted], check=True)
    subprocess.run(["rm", "-r", str(folder / "usr"), str(deb)], check=True)
