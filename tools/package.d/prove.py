# SPDX-License-Identifier: MIT
"""The life of the packages in a bare Debian 12: install, module built by DKMS, upgrade, purge, and what is left then."""
import re
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Dict, List, Set, Tuple

from lab import fresh
from lab.errors import LabError
from lab.progress import step

OURS = ("hmkd", "hmk-dkms", "libhmk0", "libhmk-dev")
PLACE = "srv/packages"
#: Not of our packages: what apt, dpkg, depmod and DKMS itself (its key) keep.
KEPT = re.compile(r"^/(var/(log|cache|lib/(dpkg|apt))/|var/backups/|etc/(passwd|group|shadow|gshadow)-?$|etc/\.pwd\.lock$|etc/sub[ug]id-?$|"
                  r"etc/ld\.so\.cache$|(usr/)?lib/modules/[^/]+/modules\.|var/lib/dkms/mok\.|srv/|root/|tmp/|run/|proc/|sys/|dev/)")

#: All that is no folder, and folders named after us.
FILES = "find / -xdev \\( ! -type d -o -name '*hmk*' \\) -print"

PROGRAM = """#include <hmk/move.h>
#include <hmk/table_reader.h>
int main(void)
{
	static char memory[4096];
	void *page = memory;
	int status = -1;

	memory[0] = 1;
	return move_memory_regions(0, 1, &page, NULL, &status, 0) || status < 0;
}
"""
# A module that is loaded and in use, as far as the maintainers' scripts can see. apt sets their PATH.
IN_USE = """
mount -t tmpfs tmpfs /sys/module && mkdir /sys/module/hmk
mkdir -p /srv/bin && printf '#!/bin/sh\\necho "$@" >>/srv/rmmod\\nexit 1\\n' >/srv/bin/rmmod && chmod 755 /srv/bin/rmmod
"""
APT = "apt-get -q -y --no-install-recommends -o DPkg::Path=/srv/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Box:
    """The bare system."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._folder = folder
        fresh.bootstrap(root, folder)
        (folder / PLACE).mkdir(parents=True)

    def path(self, name: str) -> Path:
        """Of a file in it, seen from outside."""
        return self._folder / name.lstrip("/")

    def put(self, packages: List[Path]) -> None:
        """Packages to where they are installed from; others that were there go."""
        for old in self.path(PLACE).glob("*.deb"):
            old.unlink()
        for package in packages:
            shutil.copy(package, self.path(PLACE))

    def run(self, what: str, script: str, status: int = 0) -> str:
        """What a script of the shell prints in there. Raises LabError."""
        command = fresh.wrap(self._folder, ["sh", "-ec", f"export DEBIAN_FRONTEND=noninteractive; {script}"])
        with step(what):
            done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "CI": "", "TERM": "dumb"})
        if done.returncode != status:
            lines = [line for line in done.stdout.splitlines() if line.strip()] or ["no message"]
            cause = next((line for line in lines if re.match(r"E: |dpkg: error|Error", line)), lines[-1])
            raise LabError(f"{what}: status {done.returncode}, not {status}: {cause}; the last lines:\n" + "\n".join(lines[-12:]))
        return done.stdout

    def files(self) -> Set[str]:
        """What FILES prints, but for what is kept."""
        listed = self.run("listing files", FILES).splitlines()
        return {name for name in listed if not KEPT.match(name)}

    def accounts(self) -> Dict[str, str]:
        """Users and groups."""
        return {name: self.path(f"etc/{name}").read_text(encoding="utf-8") for name in ("passwd", "group", "shadow", "gshadow")}


def check(is_so: bool, what: str) -> None:
    """Say what holds; end where it does not. Raises LabError."""
    if not is_so:
        raise LabError(f"not so: {what}")
    print(f"  ok   {what}", flush=True)


def newer(packages: List[Path], folder: Path) -> List[Path]:
    """The same packages as the next version, the module's source too."""
    made = []
    for package in packages:
        tree = folder / package.stem
        subprocess.run(["dpkg-deb", "-R", str(package), str(tree)], check=True)
        version = field(package, "Version")
        following = version + ".1"
        source = tree / f"usr/src/hmk-{version}"
        changed = [tree / "DEBIAN" / name for name in ("control", "postinst", "prerm", "md5sums")]
        if source.exists():
            source = source.rename(tree / f"usr/src/hmk-{following}")
            changed.append(source / "dkms.conf")
        for file in filter(Path.exists, changed):
            file.write_text(re.sub(rf"(?<![\d.]){re.escape(version)}(?![\d.])", following, file.read_text(encoding="utf-8")), encoding="utf-8")
        target = folder / f"{package.name.split('_')[0]}_{following}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", str(tree), str(target)], check=True, stdout=subprocess.DEVNULL)
        made.append(target)
    return made


def field(package: Path, name: str) -> str:
    return subprocess.run(["dpkg-deb", "-f", str(package), name], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def prove(root: Path, packages: List[Path]) -> None:
    """The whole life. Raises LabError."""
    with TemporaryDirectory(prefix="hmk-prove.") as scratch:
        box = Box(root, Path(scratch) / "root")
        box.put(packages)
        before, accounts = _prepare(box)
        _install(box, field(packages[0], "Version"))
        _upgrade(box, newer(packages, Path(scratch)))
        _purge(box, before, accounts)
    print("PASS")


def _prepare(box: Box) -> Tuple[Set[str], Dict[str, str]]:
    # What they depend on stays after a purge: it is there before anything is compared.
    want = "./*.deb linux-headers-amd64 gcc libc6-dev pkg-config man-db"
    plan = box.run("looking up dependencies", f"apt-get -q update; cd /{PLACE}; apt-get -s --no-install-recommends install {want}")
    others = [name for name in re.findall(r"^Inst (\S+)", plan, re.MULTILINE) if name not in OURS]
    box.run("installing dependencies", f"apt-get -q -y --no-install-recommends install {' '.join(others)}")
    return box.files(), box.accounts()


def _modules(box: Box) -> List[str]:
    return [name for name in box.files() if re.search(r"/updates/dkms/hmk\.ko", name)]


def _install(box: Box, version: str) -> None:
    box.run("installing the packages", f"cd /{PLACE}; apt-get -q -y --no-install-recommends install ./*.deb")
    modules = _modules(box)
    check(len(modules) == 1, f"DKMS has built the module: {' '.join(modules)}")
    check(box.run("modinfo", f"modinfo -F version {modules[0]}").strip() == version, f"it is version {version}")
    check(box.run("hmkctl", "hmkctl --version").strip() == version, "hmkctl is of the same version")
    check(box.run("hmkd", "hmkd --check-config").strip() == "config ok", "hmkd takes the configuration that is installed")
    told = box.run("hmkd", "hmkd --require-module", status=3)
    check("modprobe hmk" in told, f"without the module it says so and ends with 3: {told.strip()}")
    check("hmk" in box.accounts()["passwd"] and "hmk-admin" in box.accounts()["group"], "user and groups are there")
    for wanted in ("multi-user.target", "dev-hmk.device"):
        check(box.path(f"etc/systemd/system/{wanted}.wants/hmkd.service").is_symlink(), f"hmkd.service is enabled by {wanted}")
    box.path("srv/program.c").write_text(PROGRAM, encoding="utf-8")
    box.run("a program", "cc -o /srv/program /srv/program.c $(pkg-config --cflags --libs hmk) && /srv/program")
    check(True, "a program is built by pkg-config against libhmk-dev, and runs")
    for page in ("hmkd.8", "hmkctl.1", "hmkd.yaml.5", "libhmk.3", "move_memory_regions.3",
                 "move_memory_regions_by.3"):
        name, _, part = page.rpartition(".")
        check(name in box.run("man", f"man -P cat {part} {name}"), f"man {part} {name}")


def _upgrade(box: Box, packages: List[Path]) -> None:
    config = box.path("etc/hmk/hmkd.yaml")
    edited = config.read_text(encoding="utf-8") + "interval: 7s\n"
    config.write_text(edited, encoding="utf-8")
    box.put(packages)
    told = box.run("upgrading", f"{IN_USE} cd /{PLACE}; {APT} install ./*.deb")
    check(not box.path("srv/rmmod").exists(), "an upgrade does not touch a module that is in use")
    check("stays as it is" in told, "and says so")
    check(config.read_text(encoding="utf-8") == edited, "what was edited in /etc/hmk/hmkd.yaml is kept")
    modules = _modules(box)
    following = field(packages[0], "Version")
    source = box.run("dkms", "dkms status hmk").strip()
    is_new = len(modules) == 1 and f"hmk/{following}" in source and source.count("hmk/") == 1
    check(is_new, f"the new module has replaced the old: {source}")


def _purge(box: Box, before: Set[str], accounts: Dict[str, str]) -> None:
    box.path("var/lib/hmk").mkdir(exist_ok=True)
    drop_in = box.path("etc/systemd/system/hmkd.service.d/10-module.conf")
    drop_in.parent.mkdir()
    shutil.copy(box.path("usr/share/doc/hmkd/examples/10-module.conf"), drop_in)
    told = box.run("purging", f"{IN_USE} {APT} purge {' '.join(OURS)}")
    asked = box.path("srv/rmmod").read_text(encoding="utf-8") if box.path("srv/rmmod").exists() else ""
    check(asked == "hmk\n" * 2 and told.count("in use") == 2, "a module in use stays loaded, and that is said")
    after = box.files()
    check(after - before == set(), f"no file is left: {' '.join(sorted(after - before)) or 'none'}")
    check(before - after == set(), f"no other file is gone: {' '.join(sorted(before - after)) or 'none'}")
    check(box.accounts() == accounts, "no user or group is left")
    ours = sorted(name for name in after if "hmk" in name)
    check(not ours, f"no unit, and nothing else of our name, is left: {' '.join(ours) or 'none'}")
