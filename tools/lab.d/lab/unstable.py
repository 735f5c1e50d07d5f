# SPDX-License-Identifier: MIT
"""The toolchain that unstable's kernel headers ask for: a chroot of unstable in the cache.

Those headers name a compiler that stable does not have, and their tools need unstable's C library.
The chroot holds just the compiler, make and those libraries; the cache is mounted into it at its
own path, and /proc (objtool reads it), in a mount namespace that ends with the build.
"""
import os
import subprocess
from pathlib import Path
from typing import List

from . import cache
from .apt import ARCHIVE_KEYRING, Apt, acquire_settings, archive_uri, private
from .errors import LabError
from .kernels import kernel
from .progress import step

SUITE = "sid"

_INSIDE = """
mount --make-rprivate / 2>/dev/null
mount -t proc proc "$1/proc" && mkdir -p "$1$2" && mount --bind "$2" "$1$2" || exit 125
root=$1; shift 2
exec chroot "$root" "$@"
"""


def wrap(command: List[str]) -> List[str]:
    """`command` as it has to be started to run inside the chroot; both trees lie in the cache."""
    return ["unshare", "--mount", "--propagation", "unchanged", "sh", "-c", _INSIDE, "sh",
            str(chroot()), str(cache.root()), *command]


def chroot() -> Path:
    """The chroot for the newest kernel, built when missing."""
    if os.geteuid() != 0:
        raise LabError("building for the newest kernel needs a chroot; run as root")
    release = kernel("newest").release
    folder = cache.root() / "unstable" / release
    with cache.locked(folder):
        if not folder.is_dir():
            packages = _packages(private(SUITE), release)
            with cache.filled(folder) as partial, step("preparing unstable's compiler in a chroot"):
                _bootstrap(partial, packages)
    return folder


def _packages(apt: Apt, release: str) -> List[str]:
    """make, and what headers and kbuild depend on, apart from the kernel's own packages."""
    found = ["make"]
    for package in (f"linux-headers-{release}", *apt.dependencies(f"linux-headers-{release}")):
        if package.startswith(("linux-headers-", "linux-kbuild-", "linux-compiler-")):
            found += [name for name in apt.dependencies(package) if not name.startswith("linux-") and name not in found]
    return found


def _bootstrap(folder: Path, packages: List[str]) -> None:
    source = f"deb [signed-by={ARCHIVE_KEYRING}] {archive_uri()} {SUITE} main"
    settings = folder.parent / f"{folder.name}.apt.conf"
    settings.write_text(acquire_settings(), encoding="utf-8")
    command = ["mmdebstrap", "--mode=root", "--variant=essential", "--quiet", f"--include={','.join(packages)}",
               f"--aptopt={settings}", "--dpkgopt=path-exclude=/usr/share/doc/*",
               "--dpkgopt=path-exclude=/usr/share/man/*", SUITE, str(folder), source]
    try:
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    except OSError:
        raise LabError("mmdebstrap is missing; run tools/setup") from None
    settings.unlink()
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if line.startswith(("E:", "Err"))] or ["no message"]
        raise LabError(f"unstable's compiler cannot be set up: {lines[0]}")
