# SPDX-License-Identifier: MIT
"""The packages from an export of the checkout: packaging/debian becomes debian/, dpkg-buildpackage builds, lintian checks."""
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import List

from lab.errors import LabError, UsageError
from lab.progress import step

#: What an error of a build looks like; the first one is the cause.
_CAUSE = re.compile(r"error[: ]|CMake Error|Unmet build dependencies|No space left|unmet build|fatal:", re.IGNORECASE)


def build(root: Path, out: Path, jobs: int) -> List[Path]:
    """The packages, in `out`. Raises LabError."""
    if jobs < 1:
        raise UsageError(f"--jobs: {jobs} is below 1; give the number of files to compile at a time")
    work = root / "build/package-work"      # always there, so that a compiler's cache knows the paths
    try:
        out.mkdir(parents=True, exist_ok=True)
        tree = export(root, work)
    except OSError as problem:
        raise LabError(f"{problem.filename or out}: {problem.strerror}; name another folder with --out or make room") from problem
    options = f"nocheck noautodbgsym parallel={jobs}"
    _run("building the packages", ["dpkg-buildpackage", "-us", "-uc", "-b"], tree, work / "build.log", DEB_BUILD_OPTIONS=options)
    built = sorted(work.glob("*.deb"))
    _lintian(work)
    for old in found(out, may_be_none=True):
        old.unlink()
    packages = [Path(shutil.copy(package, out)) for package in built]
    shutil.rmtree(tree)
    return packages


def found(out: Path, may_be_none: bool = False) -> List[Path]:
    """Our packages in a folder. Raises UsageError."""
    names = ("hmkd_*.deb", "hmk-dkms_*.deb", "libhmk0_*.deb", "libhmk-dev_*.deb")
    packages = [file for name in names for file in sorted(out.glob(name))]
    if len(packages) != len(names) and not may_be_none:
        raise UsageError(f"{out}: holds {len(packages)} packages of {len(names)}; build them with tools/package --out {out}")
    return packages


def export(root: Path, work: Path) -> Path:
    """What git knows or would know of the checkout, as it is now, with debian/ where dpkg looks for it."""
    tree = work / "hm-keeper"
    shutil.rmtree(work, ignore_errors=True)
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-c", "-o", "--exclude-standard", "-z"], check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if listed.returncode:
        raise LabError(f"{root}: {listed.stderr.strip()}; packages are made from a checkout of git")
    for name in filter(None, listed.stdout.split("\0")):
        if (root / name).is_file() and not name.startswith(("docs/", "tests/")):
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, tree / name)
    shutil.copytree(tree / "packaging/debian", tree / "debian")
    return tree


def _lintian(work: Path) -> None:
    changes = next(work.glob("*.changes"))
    with step("lintian"):
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", "--info", str(changes)], check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    tags = [line for line in done.stdout.splitlines() if re.match(r"[EW]: ", line)]
    print("\n".join(tags) if tags else "lintian: no error, no warning")
    if done.returncode:
        errors = [line for line in tags if line.startswith("E: ")] or done.stdout.strip().splitlines()[-1:]
        raise LabError(f"lintian: {len(errors)} errors, the first: {errors[0] if errors else 'no message'}")


def _run(what: str, command: List[str], folder: Path, log: Path, **environment: str) -> None:
    with open(log, "w", encoding="utf-8") as out, step(what):
        done = subprocess.run(command, check=False, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                              env={**os.environ, **environment})
    if done.returncode:
        lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()] or ["no message"]
        raise LabError(f"{what} failed: {next((line for line in lines if _CAUSE.search(line)), lines[-1])}; see {log}")
