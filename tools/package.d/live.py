# SPDX-License-Identifier: MIT
"""The life of the packages in a Debian 12 that boots: installed while it runs, after a reboot, upgraded with a program managed,
with a newer kernel, purged. The module is built by DKMS in there, three times, so it takes an hour and more."""
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Callable, Dict, List, Optional, Set

from lab.machine import load_machine
from lab.progress import say
from lab.splat import splats

from booted import Booted, kernels, make_disk
from kept import Kept
from prove import APT, FILES, KEPT, OURS, PLACE, Box, check, field, newer
from transcript import Transcript

#: Beside what our packages depend on: a machine as people have it, and a program that is there to be managed.
SYSTEM = "systemd-sysv udev dbus kmod procps e2fsprogs linux-image-amd64 linux-headers-amd64 gcc redis-server"
#: What a newer kernel brings, and a system that runs keeps.
NEWER = "linux-image-amd64 linux-headers-amd64"
ALSO_KEPT = re.compile(r"^/(boot|(usr/)?lib/(modules|linux-)|usr/src/linux-|usr/share/(doc|bug|lintian)/|var/lib/(systemd|redis|initramfs-tools|kernel)|"
                       r"etc/(kernel|machine-id|sysctl\.d/90-tiering|systemd/system/[a-z-]*redis)|vmlinuz|initrd)")
#: An initrd of all modules takes a quarter of an hour to pack in there, and this disk needs four of them.
INITRD = {"etc/initramfs-tools/conf.d/small": "MODULES=list\n",
          "usr/share/initramfs-tools/modules.d/small": "virtio_pci\nvirtio_blk\next4\ncrc32c_generic\n"}
#: For whoever calls apt in there: what is recommended has not been fetched.
NO_NETWORK = 'APT::Install-Recommends "false"; Acquire::Languages "none"; Acquire::Retries "0";'

# Each value tells its key. The last ones are written last, and lie in slow memory; a thousand of them are asked for twice a second, which
# leaves the CPUs to the compiler of DKMS.
KEYS, ASKED = 300_000, 1000
VALUE = 'string.rep(string.format("%08d", i), 188)'
FILL = f"""systemctl restart redis-server
until redis-cli ping; do sleep 1; done
redis-cli config set save ''
redis-cli eval 'for i = 1, {KEYS} do redis.call("set", "key:" .. i, {VALUE}) end' 0
systemd-run --unit=load sh -c 'while :; do redis-cli eval "for i = {KEYS - ASKED}, {KEYS} do redis.call(\\"get\\", \\"key:\\" .. i) end" 0; sleep 0.5; done' 2>&1
"""
WRONG = f"redis-cli eval 'local n = 0; for i = 1, {KEYS} do if redis.call(\"get\", \"key:\" .. i) ~= {VALUE} then n = n + 1 end end return n' 0"
RULE = ("sed -i 's/^mode:.*/mode: manage/; s/^attach:.*/attach: [unit=redis-server.service]/' /etc/hmk/hmkd.yaml && "
        "echo 'interval: 1s' >>/etc/hmk/hmkd.yaml && systemctl restart hmkd")
#: Debian has it on where there are several nodes; doctor warns of it until then.
DOCTORS_ORDERS = "echo kernel.numa_balancing=0 >/etc/sysctl.d/90-tiering.conf && sysctl -p /etc/sysctl.d/90-tiering.conf"
STATUS = "hmkctl --json status | tr -d ' \\n' | grep"
MANAGED = f"{STATUS} -q '\"pid\":'$(pidof redis-server)"
BY_RULE = f"{MANAGED} && {STATUS} -q '\"rule\":\"unit=redis-server.service'"
TEN_INTERVALS = f"{STATUS} -E '\"seq\":[1-9][0-9]'"
PROMOTED = "hmkctl --json stats | grep -E '\"promoted_bytes\": *[1-9]'"


class Life:
    """Where it stands: what is in `state` is all that a stage needs to know of those before, but for the disk."""

    def __init__(self, system: Booted, transcript: Transcript, state: Dict[str, str]) -> None:
        self.system, self.transcript, self.state = system, transcript, state

    def up(self, when: str) -> None:
        """A system that is at work, if it is not yet."""
        if self.system.is_on():
            return
        self.boot()
        check(self.system.run("service", "systemctl is-active hmkd").strip() == "active", f"{when} hmkd runs by itself")
        self.works(when)

    def boot(self) -> None:
        """The system alone."""
        kernel = self.state["kernel"]
        state = self.system.boot(kernel)
        if state != "running":
            say(self.system.run("failed units", "systemctl --failed --plain --no-legend; systemctl list-jobs --no-legend"))
        check(state == "running", f"{kernel} boots with systemd: {state}")

    def down(self) -> None:
        """Whatever it was."""
        if self.system.is_on():
            told = splats(self.system.run("the kernel log", "dmesg").splitlines())
            check(not told, f"the kernel log tells of no defect: {told[0] if told else 'none'}")
            self.system.power_off()

    def works(self, when: str) -> None:
        """hmkd manages the program by its rule, moves what is hot, and doctor has nothing to say."""
        system = self.system
        system.run("filling redis-server", FILL)
        system.wait("hmkd manages redis-server", BY_RULE)
        check(True, f"{when} redis-server is managed by its rule")
        check(bool(system.wait("memory is promoted", PROMOTED)), f"{when} what is hot is promoted")
        said = system.run("hmkctl doctor", "hmkctl doctor || echo status $?")
        check("status" not in said.splitlines()[-1], f"{when} doctor is content:\n{said}")

    def typed(self, what: str, command: str, folder: str = "/root", lines: int = 40, status: int = 0) -> str:
        """As a user types it in that folder, for the transcript."""
        said = self.system.run(what, f"cd {folder}\n{command}", status=status)
        return self.transcript.add(command, said, lines)

    def loses_nothing(self, when: str) -> None:
        """What was filled in is there, each value under its key."""
        keys = self.system.run("counting keys", "redis-cli dbsize").strip()
        wrong = self.system.run("reading all keys", WRONG).strip()
        check(keys == str(KEYS) and wrong == "0", f"{when} all {KEYS:,} keys are there: {keys}, of these {wrong} wrong")


def live(root: Path, packages: List[Path], machine_file: Path, keep: Optional[Path], first: str, transcript: Optional[Path]) -> None:
    """The life from stage `first` on. Raises LabError."""
    stages = list(STAGES)
    kept = Kept(keep, stages)
    before = kept.before(first)
    with TemporaryDirectory(prefix="hmk-live.") as scratch:
        folder = Path(scratch)
        disk = folder / "disk"
        state = kept.take(before, disk) if before else _prepare(root, packages, folder, disk)
        with Booted(load_machine(machine_file), disk, folder) as system:
            life = Life(system, Transcript(transcript), state)
            for stage in stages[stages.index(first):]:
                say(f"stage {stage}")
                STAGES[stage](life)
                if keep and stage != "purge":
                    life.down()
                    kept.keep(stage, disk, life.state)
            life.down()
    print("PASS")


def _system(_: Life) -> None:
    # It has been made; to keep it costs no boot.
    pass


def _prepare(root: Path, packages: List[Path], folder: Path, disk: Path) -> Dict[str, str]:
    box = Box(root, folder / "root")
    box.put(packages)
    # No network in there: all that is to come from an archive is there before it boots, the newer kernel as apt keeps it.
    plan = box.run("looking up dependencies", f"apt-get -q update; cd /{PLACE}; apt-get -s --no-install-recommends install ./*.deb")
    others = [name for name in re.findall(r"^Inst (\S+)", plan, re.MULTILINE) if name not in OURS]
    for name, text in INITRD.items():
        box.path(name).parent.mkdir(parents=True, exist_ok=True)
        box.path(name).write_text(text, encoding="ascii")
    box.run("installing a system", f"apt-get -q -y --no-install-recommends install {SYSTEM} {' '.join(others)}")
    box.run("fetching a newer kernel", "sed 's/ bookworm / bookworm-backports /' /etc/apt/sources.list >/etc/apt/sources.list.d/newer.list; "
            f"apt-get -q update; apt-get -q -y --no-install-recommends --download-only -t bookworm-backports install {NEWER}")
    box.path("etc/apt/apt.conf.d/90-no-network").write_text(NO_NETWORK + "\n", encoding="ascii")
    (box.path(PLACE) / "following").mkdir()
    for package in newer(packages, folder):
        package.rename(box.path(PLACE) / "following" / package.name)
    kernel = kernels(box.path("/"))[-1]
    make_disk(box.path("/"), disk)
    shutil.rmtree(box.path("/"))  # it is on the disk
    return {"kernel": kernel, "version": field(packages[0], "Version")}


def _files(system: Booted) -> Set[str]:
    listed = system.run("listing files", FILES).splitlines()
    return {name for name in listed if not KEPT.match(name) and not ALSO_KEPT.match(name)}


def _accounts(system: Booted) -> str:
    return system.run("accounts", "cut -d: -f1 /etc/passwd /etc/group /etc/shadow /etc/gshadow | sort")


def _install(life: Life) -> None:
    system = life.system
    life.boot()
    life.state.update(files="\n".join(sorted(_files(system))), accounts=_accounts(system))
    said = life.typed("installing the packages, with the module built by DKMS in there",
                      "apt install -y ./*.deb linux-headers-amd64", folder=f"/{PLACE}", lines=12)
    check("cannot be loaded" not in said and "Could not" not in said, "the packages are installed, and nothing failed on the way")
    check(system.run("module", "cat /sys/module/hmk/version").strip() == life.state["version"], "the module is loaded by it")
    check("active" in system.wait("the service", "systemctl is-active hmkd"), "hmkd runs")
    said = life.typed("hmkctl doctor", "hmkctl doctor", status=1)
    check("sysctl kernel.numa_balancing=0" in said, "doctor says what else places memory here")
    life.typed("what doctor says", DOCTORS_ORDERS)
    _first_session(life)
    system.run("a rule", f"systemctl stop load; {RULE}")
    life.works("after the installation")


def _first_session(life: Life) -> None:
    """What a newcomer types, up to the page that shows what came of it."""
    life.system.run("filling redis-server", FILL)
    life.typed("attaching redis-server", "hmkctl attach $(pidof redis-server) && hmkctl set mode manage")
    check(bool(life.system.wait("memory is promoted", PROMOTED)), "what is hot is promoted, as it ships")
    life.system.wait("ten intervals have passed", TEN_INTERVALS)
    life.typed("hmkctl top", "hmkctl top --once", lines=16)
    life.typed("hmkctl report", "hmkctl report -o report.html")
    page = life.system.run("the page", "cat /root/report.html")
    check("redis-server" in page and "</html>" in page, f"a page of {len(page):,} characters tells of redis-server")
    life.transcript.page(page)


def _reboot(life: Life) -> None:
    life.down()
    life.up("after the reboot")


def _upgrade(life: Life) -> None:
    life.up("before the upgrade")
    system = life.system
    pid = system.run("redis-server", "pidof redis-server")
    said = system.run("upgrading, with redis-server managed", f"cd /{PLACE}/following; {APT} install ./*.deb")
    check("stays as it is" in said, "an upgrade leaves the loaded module alone, and says so")
    source = system.run("dkms", "dkms status hmk").strip()
    is_new = source.count("hmk/") == 1 and f"hmk/{life.state['version']}.1" in source and "installed" in source
    check(is_new, f"the new module has replaced the old: {source}")
    system.wait("hmkd manages redis-server", BY_RULE)
    check(system.run("redis-server", "pidof redis-server") == pid, "redis-server has not noticed, and is managed again")
    life.loses_nothing("after the upgrade")


def _newer_kernel(life: Life) -> None:
    life.up("before the update of the kernel")
    system, old = life.system, life.state["kernel"]
    system.run("installing a newer kernel, with the module built for it", f"{APT} -t bookworm-backports install {NEWER}")
    new = system.run("its name", "ls /boot/vmlinuz-* | sort -V | tail -n 1").strip()
    check(new != old, f"a newer kernel is there: {new}")
    life.down()
    life.state["kernel"] = new
    life.up("after the update of the kernel")
    check(system.run("uname", "uname -r").strip() in new, f"that kernel runs, with the module: {system.run('dkms', 'dkms status hmk').strip()}")


def _purge(life: Life) -> None:
    life.up("before the purge")
    system = life.system
    system.run("purging", f"systemctl stop load; {APT} purge {' '.join(OURS)}")
    left = sorted(_files(system) - set(life.state["files"].splitlines()))
    # What packages hold that are still there is theirs: a newer kernel brings some. Lists may say /lib where there is /usr/lib.
    theirs = {name.removeprefix("/usr") for name in system.run("files of packages", "cat /var/lib/dpkg/info/*.list").splitlines()}
    left = [name for name in left if name.removeprefix("/usr") not in theirs]
    check(not left, f"after the purge no file is left: {' '.join(left) or 'none'}")
    ours = system.run("files of our name", f"{FILES} | grep hmk | grep -v -e ^/srv -e ^/root -e ^/var/log -e ^/var/cache -e ^/var/backups || :").strip()
    check(not ours, f"none of our name: {ours or 'none'}")
    check(_accounts(system) == life.state["accounts"], "no user or group is left")
    units = system.run("units", "systemctl list-units --all --plain --no-legend 'hmk*' | grep -v not-found || :").strip()
    check(not units, f"no unit is left: {units or 'none'}")
    check(system.run("the module", "ls /sys/module").split().count("hmk") == 0, "the module is unloaded")
    life.loses_nothing("after the purge")


#: In their order. Each begins with a system that is off or with what the one before has left running.
STAGES: Dict[str, Callable[[Life], None]] = {
    "system": _system, "install": _install, "reboot": _reboot, "upgrade": _upgrade, "kernel": _newer_kernel, "purge": _purge}
