# SPDX-License-Identifier: MIT
"""Kernels by series: `6.1`, `6.12`, `newest`, `6.1-debug` or `6.1-kcsan` become an image and headers in the cache."""
import functools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Iterable, List, Optional, Tuple

from . import cache
from .apt import Apt, private
from .debug import FRAGMENTS, debug_kernel
from .errors import LabError, UsageError
from .progress import step

DEBUG, KCSAN = "6.1-debug", "6.1-kcsan"  # built here, see debug.py; never a gate
SERIES = ("6.1", "6.12", "newest", DEBUG, KCSAN)
GATES = ("6.1", "6.12")

# linux-image-6.1.0-N-amd64, linux-image-6.12.N+deb12-amd64; not linux-image-6.12-amd64 (a meta
# package) and not the cloud, rt, dbg and unsigned flavours, which carry a further word.
_IMAGE = re.compile(r"^linux-image-((\d+\.\d+)\.\d[0-9a-z.+~]*(?:-\d[0-9a-z.+~]*)?-amd64)$")
_PARTS = re.compile(r"^linux-((headers|kbuild|compiler|modules|binary|image)-|base-\d)")


@dataclass(frozen=True)
class Kernel:
    """One unpacked kernel: where its image, its modules and its headers are."""

    series: str
    release: str
    folder: Path

    @property
    def image(self) -> Path:
        newer = self.modules / "vmlinuz"
        return newer if newer.exists() else self.folder / "boot" / f"vmlinuz-{self.release}"

    @property
    def modules(self) -> Path:
        for base in ("usr/lib/modules", "lib/modules"):
            if (self.folder / base / self.release / "kernel").is_dir():
                return self.folder / base / self.release
        raise LabError(f"{self.folder} holds no modules; delete it and run again")

    @property
    def slowness(self) -> float:
        """How many times longer than in a plain kernel things may take; limits are multiplied by it."""
        return 5.0 if self.series in FRAGMENTS else 1.0

    @property
    def headers(self) -> Path:
        return self.folder / "usr/src" / f"linux-headers-{self.release}"


def is_cached(series: str) -> bool:
    """Whether a kernel that is built here is there, looked up without building it."""
    return any((cache.root() / "kernels" / series).glob("[0-9a-f]*/boot"))


def pick(names: Iterable[str], series: str) -> Optional[str]:
    """The newest plain amd64 image package of a series among package `names`, or None.

    >>> pick(["linux-image-6.1.0-9-amd64", "linux-image-6.1.0-10-amd64"], "6.1")
    'linux-image-6.1.0-10-amd64'
    """
    ranked = ranked_names(names, series)
    return ranked[0] if ranked else None


def ranked_names(names: Iterable[str], series: str) -> List[str]:
    """All plain amd64 image packages of a series, newest first."""
    found = []
    for name in names:
        match = _IMAGE.match(name)
        if match and series in ("newest", match.group(2)):
            found.append((release_key(match.group(1)), name))
    return [name for _, name in sorted(found, reverse=True)]


def release_key(release: str) -> Tuple[Tuple[int, ...], str]:
    """Orders releases by their numbers, so that -10 comes after -9 and a ~rc before its release."""
    numbers = tuple(int(n) for n in re.findall(r"\d+", release.replace("~", ".-1.").replace("amd64", "")))
    return numbers, release


@functools.lru_cache(maxsize=None)  # apt takes most of a second to look up a name
def kernel(series: str) -> Kernel:
    """The newest kernel of a series, downloaded and unpacked unless the cache has it."""
    if series not in SERIES:
        raise UsageError(f"--kernel: unknown series '{series}'; use one of {', '.join(SERIES)}")
    base = cache.root() / "kernels" / series
    with cache.locked(base):
        if series in FRAGMENTS:
            return Kernel(series, *debug_kernel(series, base))
        apt, package = _find(series)
        if package is None:
            found = _newest_unpacked(base)
            if found is None:
                raise LabError(f"no linux-image of series {series} in any suite apt can reach; check the network")
            return Kernel(series, found, base / found)
        release = package[len("linux-image-"):]
        if not (base / release).is_dir():
            _unpack(apt, package, release, base / release)
        return Kernel(series, release, base / release)


def _find(series: str) -> Tuple[Apt, Optional[str]]:
    """Where to get the series from: the machine's own suites first, then backports or unstable."""
    if series == "newest":
        suites = [lambda: private("sid")]
    else:
        suites = [Apt, lambda: private("bookworm-backports")]
    apt = Apt()
    for suite in suites:
        try:
            apt = suite()
        except LabError:
            continue
        for name in ranked_names(apt.names("linux-image-"), series):
            if apt.available(name):
                return apt, name
    return apt, None


def _newest_unpacked(base: Path) -> Optional[str]:
    names = [p.name for p in base.iterdir() if p.is_dir() and not p.name.startswith(".")] if base.is_dir() else []
    return max(names, key=release_key) if names else None


def _unpack(apt: Apt, image: str, release: str, target: Path) -> None:
    packages = [image, f"linux-headers-{release}"]
    for package in list(packages):
        packages += [d for d in apt.dependencies(package) if _PARTS.match(d) and d not in packages]
    # Only the name of a compiler; the machine (or the chroot for `newest`) brings its own.
    packages = [p for p in packages if not p.startswith("linux-compiler-")]
    with cache.filled(target) as folder:
        apt.download(packages, folder)
        with step(f"unpacking {release}"):
            for deb in sorted(folder.glob("*.deb")):
                subprocess.run(["dpkg", "-x", str(deb), str(folder)], check=True)
                deb.unlink()
            _relocate(folder, target, release)
            subprocess.run(["depmod", "-b", str(_module_root(folder)), release], check=True)


def _module_root(folder: Path) -> Path:
    """depmod -b wants the folder above lib/modules; newer packages keep it under usr/."""
    return folder / "usr" if not (folder / "lib/modules").is_dir() else folder


def _relocate(folder: Path, target: Path, release: str) -> None:
    """Make the header trees work where they are: Debian's name /usr/src and /usr/lib absolutely."""
    for makefile in (folder / "usr/src").glob("linux-headers-*/Makefile"):
        text = makefile.read_text(encoding="utf-8")
        makefile.write_text(text.replace("/usr/src/", f"{target}/usr/src/")
                            .replace("/usr/lib/linux-kbuild", f"{target}/usr/lib/linux-kbuild"), encoding="utf-8")
    for link in (folder / "usr/src").glob("linux-headers-*/*"):
        if link.is_symlink() and str(link.readlink()).startswith("/"):
            destination = f"{target}{link.readlink()}"
            link.unlink()
            link.symlink_to(destination)
    for link in list(folder.glob(f"lib/modules/{release}/*")) + list(folder.glob(f"usr/lib/modules/{release}/*")):
        if link.is_symlink() and str(link.readlink()).startswith("/"):
            destination = f"{target}{link.readlink()}"
            link.unlink()
            link.symlink_to(destination)
