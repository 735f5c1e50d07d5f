# SPDX-License-Identifier: MIT
"""Packages looked up and downloaded with the machine's own apt; only install_missing() changes the machine.

A suite the machine does not list is reached through a private apt configuration: own lists, own
cache, the archive taken from the machine's own sources. The system's configuration is never edited.
"""
import os
import re
import subprocess
import time
from pathlib import Path
from typing import Iterable, List, Optional

from . import cache
from .errors import LabError
from .progress import step

LOCK_SECONDS = 600  # tests run side by side, and two may lack something
ARCHIVE_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class Apt:
    """apt with a set of options; `Apt()` is the machine's own."""

    def __init__(self, options: Iterable[str] = (), name: str = "this machine's apt") -> None:
        # The sandbox user could not write into a cache below root's home.
        self.options = ["-o", "APT::Sandbox::User=root", *options]
        self.name = name

    def _run(self, tool: str, *args: str, cwd: Optional[Path] = None) -> subprocess.CompletedProcess:
        env = dict(os.environ, LC_ALL="C", DEBIAN_FRONTEND="noninteractive")
        return subprocess.run([tool, *self.options, *args], cwd=cwd, env=env, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)

    def update(self) -> None:
        """Fetch the package lists."""
        with step(f"updating the package lists of {self.name}"):
            done = self._run("apt-get", "-q", "update")
        if done.returncode:
            raise LabError(f"{self.name}: apt-get update failed: {_last(done.stderr)}; check the network")

    def names(self, prefix: str) -> List[str]:
        """Names of all known packages that start with `prefix`."""
        return self._run("apt-cache", "pkgnames", prefix).stdout.split()

    def available(self, package: str) -> bool:
        """Whether `package` can be downloaded now, not only is known by name."""
        return bool(re.search(r"^Filename:", self._run("apt-cache", "show", package).stdout, re.M))

    def candidate(self, package: str) -> Optional[str]:
        """The version a download would give, or None."""
        shown = re.search(r"^  Candidate: (\S+)$", self._run("apt-cache", "policy", package).stdout, re.M)
        return shown.group(1) if shown and shown.group(1) != "(none)" else None

    def dependencies(self, package: str) -> List[str]:
        """Names in the Depends field, first alternative of each."""
        shown = self._run("apt-cache", "show", "--no-all-versions", package).stdout
        field = re.search(r"^Depends: (.*)$", shown, re.M)
        entries = field.group(1).split(",") if field else []
        return [entry.split("|")[0].split("(")[0].split(":")[0].strip() for entry in entries]

    def download(self, packages: List[str], folder: Path) -> None:
        """Download into `folder`; one retry after an update, since lists go stale."""
        for attempt in range(3):
            with step(f"downloading {' '.join(packages)}"):
                done = self._run("apt-get", "-q", "download", *packages, cwd=folder)
            if done.returncode == 0:
                return
            if attempt == 0:
                self.update()
        raise LabError(f"apt-get download {' '.join(packages)} failed: {_last(done.stderr)}; check the network")


def install_missing(packages: Iterable[str], what: str) -> None:
    """Install what is missing of `packages`, as root; `what` needs them."""
    missing = [name for name in packages if not _installed(name)]
    if not missing:
        return
    command = ["apt-get", "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}", "install", "-y", "-q", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        raise LabError(f"{what} needs {', '.join(missing)}; run as root: {' '.join(command)}")
    with step(f"installing {' '.join(missing)}"):
        done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env=dict(os.environ, DEBIAN_FRONTEND="noninteractive"))
    if done.returncode:
        raise LabError(f"{' '.join(command)} failed: {done.stdout.strip().splitlines()[-1:]}")


def _installed(package: str) -> bool:
    done = subprocess.run(["dpkg-query", "-W", "-f", "${db:Status-Status}", package], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout.startswith("installed")


def _last(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line]
    return lines[-1] if lines else "no message"


def archive_uri() -> str:
    """The archive this machine takes its own release from, as its sources name it."""
    form = "$(REPO_URI)|$(CODENAME)|$(COMPONENT)"
    shown = Apt()._run("apt-get", "indextargets", "--format", form, "Created-By: Packages").stdout
    release = Path("/etc/os-release").read_text(encoding="utf-8")
    codename = re.search(r'^VERSION_CODENAME="?(\w+)', release, re.M)
    for line in shown.splitlines():
        uri, name, component = line.split("|")
        if codename and name == codename.group(1) and component == "main":
            return uri
    raise LabError("apt's sources name no archive with this release's main component; "
                   "add one to /etc/apt/sources.list and run apt-get update")


def acquire_settings() -> str:
    """How this machine fetches (proxies, checks of dates), as apt.conf text for another root's apt."""
    shown = Apt()._run("apt-config", "dump", "--format", '%F "%v";%n', "Acquire").stdout
    return "".join(f"{line}\n" for line in shown.splitlines()
                   if not re.match(r'Acquire::(IndexTargets|Changelogs|cdrom)|[^"]* "";', line))


def private(suite: str) -> Apt:
    """apt for a `suite` the machine does not list; lists are fetched when missing or a day old."""
    folder = cache.root() / "apt" / suite
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    sources = folder / "sources.list"
    sources.write_text(f"deb [signed-by={ARCHIVE_KEYRING}] {archive_uri()} {suite} main\n", encoding="ascii")
    status = folder / "status"
    status.touch()
    apt = Apt(["-o", f"Dir::State={folder}", "-o", f"Dir::State::lists={folder}/lists",
               "-o", f"Dir::State::status={status}", "-o", f"Dir::Cache={folder}/cache",
               "-o", f"Dir::Etc::sourcelist={sources}", "-o", "Dir::Etc::sourceparts=-",
               "-o", "Dir::Etc::preferencesparts=-", "-o", "Acquire::Languages=none"], name=f"suite {suite}")
    fetched = folder / "fetched"
    if not fetched.exists() or fetched.stat().st_mtime < _day_ago():
        apt.update()
        fetched.touch()
    return apt


def _day_ago() -> float:
    return time.time() - 86400
