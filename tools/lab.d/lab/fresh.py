# SPDX-License-Identifier: MIT
"""A bare chroot of Debian 12 with a clone of this repository: what a stranger's machine has, and nothing of ours."""
import os
import shutil
import subprocess
from pathlib import Path
from typing import List

from .apt import ARCHIVE_KEYRING, acquire_settings, archive_uri
from .errors import LabError
from .progress import step

SUITE = "bookworm"
CLONE = "root/hm-keeper"

# The mounts end with the command: they are in a namespace of their own.
_INSIDE = """
root=$1; shift
mount --make-rprivate / 2>/dev/null
mount -t proc proc "$root/proc" && mount -t sysfs -o ro sysfs "$root/sys" && mount -t tmpfs tmpfs "$root/tmp" &&
mount --bind /dev "$root/dev" && mount -t devpts -o ptmxmode=666 devpts "$root/dev/pts" &&
mount -t tmpfs tmpfs "$root/run" || exit 125
exec chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
	CI="$CI" TERM="$TERM" sh -c 'cd "$0" && exec "$@"' "/$CLONE" "$@"
"""


def bootstrap(root: Path, folder: Path) -> None:
    """Debian's smallest system with apt into `folder`, and the repository at `root` as it is committed. Raises LabError."""
    if os.geteuid() != 0:
        raise LabError("a chroot needs root; run as root")
    if shutil.which("mmdebstrap") is None:
        raise LabError("mmdebstrap is missing; run tools/setup")
    uri = archive_uri()
    settings = folder.parent / f"{folder.name}.apt.conf"
    settings.write_text(acquire_settings(), encoding="utf-8")
    secure = ["--include=ca-certificates"] if uri.startswith("https:") else []
    with step(f"preparing a bare {SUITE}"):
        _run(["mmdebstrap", "--mode=root", "--variant=minbase", "--quiet", f"--aptopt={settings}", *secure, SUITE,
              str(folder), f"deb [signed-by={ARCHIVE_KEYRING}] {uri} {SUITE} main"], "the chroot cannot be set up")
    settings.unlink()
    _run(["git", "clone", "--quiet", "--no-local", str(root), str(folder / CLONE)], "the repository cannot be cloned")


def wrap(folder: Path, command: List[str]) -> List[str]:
    """`command` as it has to be started to run in the clone inside the chroot."""
    return ["unshare", "--mount", "--propagation", "unchanged", "env", f"CLONE={CLONE}", "sh", "-c", _INSIDE, "sh", str(folder), *command]


def _run(command: List[str], what: str) -> None:
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode:
        lines = [line for line in done.stdout.splitlines() if line.strip()] or ["no message"]
        raise LabError(f"{what}: {next((line for line in lines if line.startswith(('E:', 'Err', 'fatal'))), lines[-1])}")
