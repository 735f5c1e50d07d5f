# SPDX-License-Identifier: MIT
"""The life of the packages in a Debian 12 that boots: installed while it runs, after a reboot, upgraded with a program managed,
with a newer kernel, purged. The module is built by DKMS in there, so it takes an hour."""
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import List, Set

from lab.machine import load_machine
from lab.progress import say

from booted import Booted, kernels, make_disk
from prove import APT, FILES, KEPT, OURS, PLACE, Box, check, field, newer

#: Beside what our packages depend on: a machine as people have it, and a program that is there to be managed.
SYSTEM = "systemd-sysv udev dbus kmod procps e2fsprogs linux-image-amd64 linux-headers-amd64 gcc redis-server"
#: What a newer kernel brings, and a system that runs keeps.
NEWER = "linux-image-amd64 linux-headers-amd64"
ALSO_KEPT = re.compile(r"^/(boot|(usr/)?lib/(modules|linux-)|usr/src/linux-|usr/share/(doc|bug|lintian)/|var/lib/(systemd|redis|initramfs-tools|kernel)|"
                       r"etc/(kernel|machine-id|sysctl\.d/90-tiering|systemd/system/[a-z-]*redis)|vmlinuz|initrd)")
NO_NETWORK = "-o Acquire::Languages=none -o Acquire::Retries=0"

# Its last keys are written last, and lie in slow memory; a thousand of them are asked for all the time.
KEYS, ASKED = 300_000, 1000
FILL = f"""redis-cli config set save ''
redis-cli eval 'for i = 1, {KEYS} do redis.call("set", "key:" .. i, string.rep("x", 1500)) end' 0
systemd-run --unit=load sh -c 'while :; do redis-cli eval "for i = {KEYS - ASKED}, {KEYS} do redis.call(\\"get\\", \\"key:\\" .. i) end" 0; done' 2>&1
"""
RULE = ("sed -i 's/^mode:.*/mode: manage/; s/^attach:.*/attach: [unit=redis-server.service]/' /etc/hmk/hmkd.yaml && "
        "echo 'interval: 1s' >>/etc/hmk/hmkd.yaml && systemctl reload hmkd")
#: Debian has it on where there are several nodes; doctor warns of it until then, and of what it did to a program.
DOCTORS_ORDERS = ("echo kernel.numa_balancing=0 >/etc/sysctl.d/90-tiering.conf && sysctl -qp /etc/sysctl.d/90-tiering.conf && "
                  "systemctl restart redis-server")
MANAGED = "hmkctl --json status | grep -q '\"pid\": *'$(pidof redis-server)"
PROMOTED = "hmkctl --json stats | grep -E '\"promoted_bytes\": *[1-9]'"


def live(root: Path, packages: List[Path], machine_file: Path) -> None:
    """The whole life. Raises LabError."""
    with TemporaryDirectory(prefix="hmk-live.") as scratch:
        folder = Path(scratch)
        box = Box(root, folder / "root")
        box.put(packages)
        _prepare(box, newer(packages, folder))
        old, disk = kernels(box.path("/"))[-1], folder / "disk"
        make_disk(box.path("/"), disk)
        shutil.rmtree(box.path("/"))  # it is on the disk
        with Booted(load_machine(machine_file), disk, folder) as system:
            _boot(system, old)
            before, accounts = _files(system), _accounts(system)
            _install(system, field(packages[0], "Version"))
            _reboot(system, old, "reboot")
            _upgrade(system)
            _newer_kernel(system, old)
            _purge(system, before, accounts)
            system.power_off()
    print("PASS")


def _prepare(box: Box, following: List[Path]) -> None:
    # No network in there: all that is to come from an archive is there before it boots, the newer kernel as apt keeps it.
    plan = box.run("looking up dependencies", f"apt-get -q update; cd /{PLACE}; apt-get -s --no-install-recommends install ./*.deb")
    others = [name for name in re.findall(r"^Inst (\S+)", plan, re.MULTILINE) if name not in OURS]
    box.run("installing a system", f"apt-get -q -y --no-install-recommends install {SYSTEM} {' '.join(others)}")
    box.run("fetching a newer kernel", "sed 's/ bookworm / bookworm-backports /' /etc/apt/sources.list >/etc/apt/sources.list.d/newer.list; "
            f"apt-get -q update; apt-get -q -y --no-install-recommends --download-only -t bookworm-backports install {NEWER}")
    (box.path(PLACE) / "following").mkdir()
    for package in following:
        package.rename(box.path(PLACE) / "following" / package.name)


def _boot(system: Booted, kernel: str) -> None:
    state = system.boot(kernel)
    check(state == "running", f"{kernel} boots with systemd: {state}")


def _files(system: Booted) -> Set[str]:
    listed = system.run("listing files", FILES).splitlines()
    return {name for name in listed if not KEPT.match(name) and not ALSO_KEPT.match(name)}


def _accounts(system: Booted) -> str:
    return system.run("accounts", "cut -d: -f1 /etc/passwd /etc/group /etc/shadow /etc/gshadow | sort")


def _install(system: Booted, version: str) -> None:
    said = system.run("installing the packages, with the module built by DKMS in there",
                      f"cd /{PLACE}; {APT} {NO_NETWORK} install ./*.deb", seconds=5400)
    check("cannot be loaded" not in said, "the packages are installed")
    check(system.run("module", "cat /sys/module/hmk/version").strip() == version, "the module is loaded by it")
    check(system.run("service", "systemctl is-active hmkd").strip() == "active", "hmkd runs")
    said = system.run("hmkctl doctor", "hmkctl doctor || :")
    check("sysctl kernel.numa_balancing=0" in said, "doctor says what else places memory here")
    system.run("what doctor says", DOCTORS_ORDERS)
    system.run("a rule", RULE)
    _works(system, "after the installation")


def _works(system: Booted, when: str) -> None:
    """hmkd manages the program by its rule, moves what is hot, and doctor has nothing to say."""
    system.run("filling redis-server", FILL)
    system.wait("hmkd manages redis-server", MANAGED)
    check(True, f"{when} redis-server is managed by its rule")
    check(bool(system.wait("memory is promoted", PROMOTED)), f"{when} what is hot is promoted")
    said = system.run("hmkctl doctor", "hmkctl doctor || echo status $?")
    check("status" not in said.splitlines()[-1], f"{when} doctor is content:\n{said}")


def _reboot(system: Booted, kernel: str, when: str) -> None:
    system.power_off()
    _boot(system, kernel)
    check(system.run("service", "systemctl is-active hmkd").strip() == "active", f"after the {when} hmkd runs by itself")
    _works(system, f"after the {when}")


def _upgrade(system: Booted) -> None:
    pid = system.run("redis-server", "pidof redis-server")
    said = system.run("upgrading, with redis-server managed", f"cd /{PLACE}/following; {APT} {NO_NETWORK} install ./*.deb", seconds=5400)
    check("stays as it is" in said, "an upgrade leaves the loaded module alone, and says so")
    system.wait("hmkd manages redis-server", MANAGED)
    check(system.run("redis-server", "pidof redis-server") == pid, "redis-server has not noticed, and is managed again")
    keys = system.run("keys", "redis-cli dbsize").strip()
    last = system.run("a key", f"redis-cli get key:{KEYS}").strip()
    check(keys == str(KEYS) and last == "x" * 1500, "no key is lost")


def _newer_kernel(system: Booted, old: str) -> None:
    system.run("installing a newer kernel, with the module built for it", f"{APT} {NO_NETWORK} -t bookworm-backports install {NEWER}", seconds=7200)
    new = system.run("its name", "ls /boot/vmlinuz-* | sort -V | tail -n 1").strip()
    check(new != old, f"a newer kernel is there: {new}")
    _reboot(system, new, "update of the kernel")


def _purge(system: Booted, before: Set[str], accounts: str) -> None:
    system.run("purging", f"systemctl stop load; {APT} purge {' '.join(OURS)}")
    left = sorted(_files(system) - before)
    check(not left, f"after the purge no file is left: {' '.join(left) or 'none'}")
    ours = system.run("files of our name", f"{FILES} | grep hmk | grep -v -e ^/srv -e ^/var/log -e ^/var/cache -e ^/var/backups || :").strip()
    check(not ours, f"none of our name: {ours or 'none'}")
    check(_accounts(system) == accounts, "no user or group is left")
    units = system.run("units", "systemctl list-units --all --plain --no-legend 'hmk*' | grep -v not-found || :").strip()
    check(not units, f"no unit is left: {units or 'none'}")
    check(system.run("redis-server", "redis-cli dbsize").strip() == str(KEYS), "redis-server runs on with all its keys")
    say(system.run("the kernel log", "dmesg --level=emerg,alert,crit,err || :").strip() or "the kernel log has no error")
