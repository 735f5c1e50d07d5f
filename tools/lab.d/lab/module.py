# SPDX-License-Identifier: MIT
"""Builds hmk.ko for a kernel of the lab, outside the tree, only when a source changed."""
import filecmp
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Iterable, List, Set

from . import cache, unstable
from .errors import LabError
from .kernels import Kernel, kernel
from .progress import say, step

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ("Kbuild", "kmod", "include", "uapi")
BUILT = (".o", ".ko", ".cmd", ".mod", ".mod.c")


def build_module(series: str, defines: Iterable[str] = (), root: Path = ROOT, whole: bool = False) -> Path:
    """Path of hmk.ko for the newest kernel of `series`.

    `defines` (NAME or NAME=VALUE) make a variant, in a folder of its own: a test-only switch can
    never slip into the module that everything else loads. `whole`: build.log says what the compiler has to say of all
    sources, not only of those that changed last.
    """
    target = kernel(series)
    flags = sorted(defines)
    key = sha256("\n".join([str(root), *flags]).encode()).hexdigest()[:12]
    folder = cache.root() / "module" / f"{target.release}-{key}"
    with cache.locked(folder):
        finished, partly = folder / ".built", folder / ".partly"
        if not mirror(root, folder) and finished.exists() and not (whole and partly.exists()):
            return folder / "hmk.ko"
        finished.unlink(missing_ok=True)
        partly.unlink(missing_ok=True)
        for old in folder.rglob("*.o"):
            if not whole:
                partly.touch()
                break
            old.unlink()
        with step(f"building hmk.ko for {target.release}{' with ' + ' '.join(flags) if flags else ''}"):
            make(target, folder, flags)
        finished.touch()
    return folder / "hmk.ko"


def mirror(root: Path, folder: Path) -> bool:
    """Copy changed sources, remove what is gone, keep what the build made. True if anything changed."""
    wanted: Set[Path] = set()
    changed = False
    for name in SOURCES:
        source = root / name
        if not source.exists():
            raise LabError(f"{source} is missing; the module is built from {', '.join(SOURCES)}")
        files = [source] if source.is_file() else [p for p in source.rglob("*") if p.is_file()]
        wanted.update(p.relative_to(root) for p in files if not p.name.endswith(BUILT))
    for relative in wanted:
        copy = folder / relative
        if not copy.exists() or not filecmp.cmp(root / relative, copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / relative, copy)  # a fresh time stamp, so that make sees the change
            changed = True
    for name in SOURCES[1:]:
        for old in (folder / name).rglob("*"):
            known = old.relative_to(folder) in wanted or old.name.endswith(BUILT) or old.is_dir()
            if not known:
                old.unlink()
                changed = True
    return changed


def make(target: Kernel, folder: Path, flags: List[str]) -> None:
    """Run the kernel's build; its whole output goes to build.log, its first error into the message."""
    command = ["make", "-C", str(target.headers), f"M={folder}", "W=1", f"-j{os.cpu_count() or 1}",
               f"KCFLAGS={' '.join(f'-D{flag}' for flag in flags)}", "modules"]
    if target.series == "newest":
        command = unstable.wrap(command)
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, LC_ALL="C"))
    (folder / "build.log").write_text(done.stdout, encoding="utf-8")
    warnings = done.stdout.count("warning: ")
    if warnings:
        say(f"hmk.ko for {target.release}: {warnings} compiler warnings, see {folder}/build.log")
    if done.returncode:
        lines = done.stdout.splitlines()
        found = [line for line in lines if "error" in line.lower() or "undefined" in line] or lines[-1:] or ["?"]
        raise LabError(f"hmk.ko for {target.release} does not build: {found[0].strip()}; see {folder}/build.log")
