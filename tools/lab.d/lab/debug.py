# SPDX-License-Identifier: MIT
"""The debug kernels: Debian's source, tinyconfig and fragments of configs/lab, built in the cache.

`6.1-debug` has KASAN, lockdep and more, `6.1-kcsan` the detector of data races, which excludes KASAN. No package has any
of them. The result has the layout of an unpacked package, so that the rest
of the lab need not know where a kernel came from.
"""
import os
import re
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from . import cache
from .apt import Apt, install_missing
from .errors import LabError
from .progress import step

PACKAGE = "linux-source-6.1"
NEEDS = ("bc", "bison", "flex", "gcc", "libelf-dev", "libssl-dev", "make", "xz-utils")
_CONFIGS = Path(__file__).resolve().parents[3] / "configs/lab"
FRAGMENTS = {"6.1-debug": (_CONFIGS / "debug.config", _CONFIGS / "kcov.config"),  # of several, a later one wins
             "6.1-kcsan": (_CONFIGS / "debug.config", _CONFIGS / "kcsan.config")}

_SET = re.compile(r"^(CONFIG_\w+)=(\S+)$")


def debug_kernel(series: str, base: Path) -> Tuple[str, Path]:
    """Release and folder of a debug kernel below `base`; the caller holds the lock of `base`."""
    text = "".join(fragment.read_text(encoding="utf-8") for fragment in FRAGMENTS[series])
    apt = Apt()
    version = apt.candidate(PACKAGE)
    if version is None:
        raise LabError(f"{PACKAGE} is not in any suite apt lists; run apt-get update or check the sources")
    key = sha256(f"{version}\n{text}".encode()).hexdigest()[:8]
    folder = base / key
    if not folder.is_dir():
        install_missing(NEEDS, "the debug kernel")
        with cache.filled(folder) as partial:
            _build(apt, series, text, key, partial)
        for old in [p for p in base.iterdir() if p.is_dir() and p != folder]:
            shutil.rmtree(old)  # 2 GB each: other configurations, and what a killed build left
    return next((folder / "boot").glob("vmlinuz-*")).name[len("vmlinuz-"):], folder


def wanted_options(series: str) -> Dict[str, str]:
    """What must hold of a debug kernel's .config."""
    return {name: value for fragment in FRAGMENTS[series] for name, value in read_options(fragment).items()}


def read_options(file: Path) -> Dict[str, str]:
    """Options set in a configuration by name; a line that is neither option nor comment is an error."""
    options: Dict[str, str] = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        match = _SET.match(line)
        if match and match.group(1) in options:
            raise LabError(f"{file}:{number}: {match.group(1)} is set twice; remove one line")
        if match:
            options[match.group(1)] = match.group(2)
        elif line.strip() and not line.startswith("#"):
            raise LabError(f"{file}:{number}: '{line}' is no option; write CONFIG_NAME=y or a comment")
    return options


def check_options(wanted: Dict[str, str], made: str) -> None:
    """Raise, naming every option, unless all `wanted` ones are so in the text of a finished .config.

    Kconfig drops an option whose dependencies are missing without a word; a kernel without KASAN
    would pass every test.
    """
    values = {match[1]: match[2] for match in map(_SET.match, made.splitlines()) if match}
    wrong = [f"{name} is {values.get(name, 'n')}, not {value}" for name, value in wanted.items()
             if values.get(name, "n") != value]
    if wrong:
        raise LabError(f"debug kernel: after olddefconfig {', '.join(wrong)}; set what it depends on in {_CONFIGS}")


def _build(apt: Apt, series: str, text: str, key: str, folder: Path) -> None:
    wanted = wanted_options(series)
    source = _unpack(apt, folder)
    log = cache.root() / "debug-kernel.log"
    log.write_text("", encoding="utf-8")
    _make(source, log, "tinyconfig")
    with open(source / ".config", "a", encoding="utf-8") as config:
        config.write(f'{text}CONFIG_LOCALVERSION="-{series.partition("-")[2]}-{key}"\n')
    _make(source, log, "olddefconfig")
    check_options(wanted, (source / ".config").read_text(encoding="utf-8"))
    with step(f"building {series} (about 6 to 10 minutes)"):
        _make(source, log, f"-j{os.cpu_count() or 1}", "bzImage", "modules")
    release = (source / "include/config/kernel.release").read_text(encoding="ascii").strip()
    _make(source, log, f"INSTALL_MOD_PATH={folder}", "modules_install")
    modules = folder / "lib/modules" / release
    for name in ("build", "source"):
        (modules / name).unlink(missing_ok=True)
    (folder / "boot").mkdir()
    shutil.copy(source / "arch/x86/boot/bzImage", folder / "boot" / f"vmlinuz-{release}")
    headers = folder / "usr/src" / f"linux-headers-{release}"
    source.rename(headers)
    (modules / "build").symlink_to(os.path.relpath(headers, modules))


def _unpack(apt: Apt, folder: Path) -> Path:
    apt.download([PACKAGE], folder)
    with step(f"unpacking {PACKAGE}"):
        for deb in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(deb), str(folder)], check=True)
            deb.unlink()
        archive = folder / "usr/src" / f"{PACKAGE}.tar.xz"
        subprocess.run(["tar", "-xf", str(archive), "-C", str(archive.parent)], check=True)
        archive.unlink()
    return archive.parent / PACKAGE


def _make(source: Path, log: Path, *arguments: str) -> None:
    command: List[str] = ["make", "-C", str(source), *arguments]
    with open(log, "a", encoding="utf-8") as output:
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                              env=dict(os.environ, LC_ALL="C", KBUILD_BUILD_HOST="lab", KBUILD_BUILD_USER="lab"))
    if done.returncode:
        raise LabError(f"debug kernel: make {arguments[-1]}: {_first_error(log) or 'no message'}; see {log}")


def _first_error(log: Path) -> Optional[str]:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line.strip() for line in lines if re.search(r"\berror\b|undefined reference|\*\*\*", line, re.I)), None)
