# SPDX-License-Identifier: MIT
"""A Debian that boots from its own disk, in a guest without a network, and scripts that root runs in it."""
import base64
import socket
import subprocess
import time
from pathlib import Path
from typing import List, Optional

from lab.emulator import emulator
from lab.errors import LabError
from lab.guest import end, lost_line
from lab.machine import Machine
from lab.progress import step
from lab.qemu import disk_command

PORT = "hmk.shell"
#: Far beyond what an idle host needs: they are there for what hangs, and a busy host is no such.
BOOT_SECONDS, SCRIPT_SECONDS, WAIT_SECONDS = 1800.0, 7200.0, 1800.0
#: A line in is a script, a line out is what it printed and its status. Whoever answers, the boot has come so far.
SHELL = """[Unit]
Description=Scripts of root from outside
[Service]
ExecStart=/bin/sh /usr/local/sbin/shell
KillMode=process
[Install]
WantedBy=multi-user.target
"""
LOOP = f"""until [ -e /dev/virtio-ports/{PORT} ]; do sleep 0.2; done
exec 3<>/dev/virtio-ports/{PORT}
while read -r line <&3; do
	echo "$line" | base64 -d >/run/script
	DEBIAN_FRONTEND=noninteractive sh -e /run/script </dev/null >/run/said 2>&1 3>&-
	echo "$(base64 -w0 /run/said) $?" >&3
done
"""


def make_disk(tree: Path, disk: Path, size: str = "6G") -> None:
    """An ext4 of the folder `tree`, which holds a whole system, with our shell in it."""
    for name, text in (("etc/systemd/system/shell.service", SHELL), ("usr/local/sbin/shell", LOOP), ("etc/hostname", "proof\n"),
                       ("etc/fstab", "/dev/vda / ext4 defaults 0 1\n")):
        (tree / name).write_text(text, encoding="ascii")
    wants = tree / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / "shell.service").symlink_to("/etc/systemd/system/shell.service")
    with step("making a disk"):
        done = subprocess.run(["mkfs.ext4", "-q", "-F", "-L", "proof", "-d", str(tree), str(disk), size], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise LabError(f"{disk}: {(done.stdout.strip().splitlines() or ['no message'])[-1]}")


class Booted:
    """From boot to power-off; `with` ends it."""

    def __init__(self, machine: Machine, disk: Path, folder: Path) -> None:
        """`folder` keeps console, kernel and initrd."""
        self._machine, self._disk, self._folder = machine, disk, folder
        self._port: Optional[socket.socket] = None
        self._qemu: Optional["subprocess.Popen[bytes]"] = None

    def __enter__(self) -> "Booted":
        return self

    def __exit__(self, *_: object) -> None:
        self._kill()

    def is_on(self) -> bool:
        """Between boot and power-off."""
        return self._qemu is not None

    def boot(self, kernel: str) -> str:
        """With the kernel of that path on the disk and its initrd; what `systemctl is-system-running` says in the end."""
        image, initrd = (self._fetch(name) for name in (kernel, kernel.replace("vmlinuz", "initrd.img")))
        path, console = self._folder / "port", self._folder / "console.log"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen(1)
            listener.settimeout(30)
            self._qemu = subprocess.Popen(
                disk_command(emulator("system").command, self._machine, image, initrd, self._disk, PORT, path, console),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self._port, _ = listener.accept()
        return self.run(f"booting {kernel.partition('-')[2]} from the disk", "systemctl is-system-running --wait || :", seconds=BOOT_SECONDS).strip()

    def _fetch(self, name: str) -> Path:
        file = self._folder / name.rpartition("/")[2]
        file.unlink(missing_ok=True)
        subprocess.run(["debugfs", "-R", f"dump {name} {file}", str(self._disk)], check=True, stderr=subprocess.DEVNULL)
        if not file.exists() or not file.stat().st_size:
            raise LabError(f"{name} is not on the disk")
        return file

    def run(self, what: str, script: str, status: Optional[int] = 0, seconds: float = SCRIPT_SECONDS) -> str:
        """What the script prints. Raises LabError for another status (None: any is fine), and where no answer comes in time."""
        with step(what):
            said, found = self._ask(what, script, seconds)
        if status is not None and found != status:
            raise LabError(f"{what}: status {found}, not {status}; the last lines:\n" + "\n".join(said.splitlines()[-20:]))
        return said

    def wait(self, what: str, script: str, seconds: float = WAIT_SECONDS) -> str:
        """What the script prints once it ends with 0. Raises LabError."""
        with step(what):
            limit = time.monotonic() + seconds
            while True:
                said, status = self._ask(what, script, seconds)
                if status == 0:
                    return said
                if time.monotonic() > limit:
                    raise LabError(f"{what}: not within {seconds:.0f} s; the last lines:\n" + "\n".join(said.splitlines()[-20:]))
                time.sleep(1)  # the pace of asking

    def _ask(self, what: str, script: str, seconds: float) -> "tuple[str, int]":
        assert self._port
        self._port.settimeout(seconds)
        answer = b""
        try:
            self._port.sendall(base64.b64encode(script.encode()) + b"\n")
            while not answer.endswith(b"\n"):
                more = self._port.recv(1 << 16)
                if not more:
                    raise LabError(f"{what}: the guest is gone: {lost_line(self._folder / 'console.log')}")
                answer += more
        except (TimeoutError, OSError) as error:
            raise LabError(f"{what}: no answer within {seconds:.0f} s ({error}): {lost_line(self._folder / 'console.log')}") from error
        said, _, status = answer.decode("ascii").rpartition(" ")
        return base64.b64decode(said).decode("utf-8", "replace"), int(status)

    def power_off(self) -> None:
        """As an operator does; the disk is whole then."""
        assert self._qemu
        self.run("powering off", "systemctl poweroff --no-block")
        try:
            self._qemu.wait(BOOT_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"the guest does not power off: {lost_line(self._folder / 'console.log')}") from error
        self._kill()

    def _kill(self) -> None:
        end(self._qemu, self._port)
        self._port = self._qemu = None


def kernels(tree: Path) -> List[str]:
    """Paths of the kernels in a folder that holds a whole system."""
    return sorted(f"/boot/{file.name}" for file in (tree / "boot").glob("vmlinuz-*"))
