# SPDX-License-Identifier: MIT
"""The first program of a guest: busybox and just enough modules to mount the host's own root."""
import hashlib
import lzma
import stat
import subprocess
from pathlib import Path
from typing import List

from . import cache
from .errors import LabError
from .kernels import Kernel

BUSYBOX = Path("/bin/busybox")
# Built into some kernels, modules of others: modules.builtin decides.
MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay")

# The host's root is read-only below a tmpfs: a guest can write anywhere and change nothing.
INIT = """#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sysfs /sys
$b mount -t devtmpfs devtmpfs /dev
die() { echo "hmk-lab: init: $1" > /dev/console; $b poweroff -f; }
while read -r m; do $b insmod "/modules/$m" || die "insmod $m"; done < /modules/order
opt=trans=virtio,version=9p2000.L,msize=512000
$b mount -t 9p -o ro,cache=loose,$opt host /host || die "9p of the host"
$b mount -t tmpfs tmpfs /upper && $b mkdir /upper/data /upper/work
$b mount -t overlay -o lowerdir=/host,upperdir=/upper/data,workdir=/upper/work overlay /root || die overlay
for d in proc sys dev; do $b mkdir -p /root/$d; $b mount --move /$d /root/$d; done
$b mkdir -p /root/run
$b mount -t tmpfs -o mode=755 tmpfs /root/run
$b mkdir -p /root/run/hmk-lab
$b mount -t 9p -o cache=none,$opt share /root/run/hmk-lab || die "9p of the results"
$b mkdir -p /root/run/hmk-host
$b mount --move /host /root/run/hmk-host
$b ip link set lo up
exec $b switch_root /root /usr/bin/python3 -S -I -B /run/hmk-lab/.lab/agent.py
"""


def initramfs(kernel: Kernel) -> Path:
    """Path of the initramfs for `kernel`, built when missing or when INIT or MODULES changed."""
    key = hashlib.sha256((INIT + " ".join(MODULES)).encode()).hexdigest()[:12]
    path = cache.root() / "initramfs" / f"{kernel.release}-{key}.cpio"
    with cache.locked(path):
        if not path.exists():
            partial = path.with_suffix(".partial")
            partial.write_bytes(_archive(kernel))
            partial.rename(path)
    return path


def _archive(kernel: Kernel) -> bytes:
    if not BUSYBOX.exists():
        raise LabError(f"{BUSYBOX} is missing; run tools/setup")
    modules = _load_order(kernel)
    archive = Cpio()
    for folder in ("bin", "modules", "proc", "sys", "dev", "host", "upper", "root"):
        archive.folder(folder)
    archive.file("bin/busybox", BUSYBOX.read_bytes())
    archive.file("init", INIT.encode())
    names = []
    for module in modules:
        raw = module.read_bytes()
        names.append(module.name.removesuffix(".xz"))
        archive.file(f"modules/{names[-1]}", lzma.decompress(raw) if module.suffix == ".xz" else raw)
    archive.file("modules/order", "".join(f"{name}\n" for name in names).encode())
    return archive.finish()


def _load_order(kernel: Kernel) -> List[Path]:
    """Module files in the order insmod needs them, as modprobe works it out."""
    base = str(kernel.modules.parent.parent.parent)
    order: List[Path] = []
    for name in MODULES:
        done = subprocess.run(["modprobe", "-C", "/dev/null", "-d", base, "-S", kernel.release, "--show-depends", name],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise LabError(f"kernel {kernel.release} has no {name}: {done.stderr.strip()}; the guest needs it")
        for line in done.stdout.splitlines():
            verb, *rest = line.split()
            path = Path(rest[0]) if rest else Path()
            if verb == "insmod" and path not in order:
                order.append(path)
    return order


class Cpio:
    """Writes the "newc" format, which is all a kernel reads and 30 lines to write."""

    def __init__(self) -> None:
        self._parts: List[bytes] = []
        self._inode = 0

    def folder(self, name: str) -> None:
        self._entry(name, stat.S_IFDIR | 0o755, b"")

    def file(self, name: str, data: bytes) -> None:
        self._entry(name, stat.S_IFREG | 0o755, data)

    def finish(self) -> bytes:
        self._entry("TRAILER!!!", 0, b"")
        return b"".join(self._parts)

    def _entry(self, name: str, mode: int, data: bytes) -> None:
        self._inode += 1
        encoded = name.encode() + b"\0"
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        head = b"070701" + b"".join(b"%08x" % value for value in fields) + encoded
        self._parts += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]
