# SPDX-License-Identifier: MIT
"""Packages against what is installed: each file in exactly one, of one version, with what it needs."""
import re
import unittest
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Dict, List

import package_plan as plan

ROOT, PACKAGING = plan.ROOT, plan.ROOT / "packaging"
DEBIAN = PACKAGING / "debian"
#: What debian/rules hands to dh_install beside the lists.
BY_RULES = {"hmkd": ["lib/systemd/system", "lib/udev/rules.d"]}
#: What provides each thing that CMake looks for, in Debian and in rpm.
NEEDED = {"Boost": ("libboost-dev", "boost-devel"), "spdlog": ("libspdlog-dev", "spdlog-devel"),
          "yaml-cpp": ("libyaml-cpp-dev", "yaml-cpp-devel"), "nlohmann_json": ("nlohmann-json3-dev", "json-devel"),
          "CLI11": ("libcli11-dev", "cli11-devel"), "Curses": ("libncurses-dev", "ncurses-devel"),
          "libsystemd": ("libsystemd-dev", "systemd-devel"), "libbpf": ("libbpf-dev", "libbpf-devel"), "clang": ("clang", "clang"),
          "bpftool": ("bpftool", "bpftool"), "Python3": ("python3", "python3"), "PkgConfig": ("pkg-config", "systemd-devel"),
          "Threads": ("cmake", "cmake")}


def text(path: Path) -> str:
    """Of a file."""
    return path.read_text(encoding="utf-8")


def paragraphs() -> Dict[str, Dict[str, str]]:
    """debian/control by package; the source's under its own name."""
    found = {}
    for part in re.sub(r"(?m)^#.*\n", "", text(DEBIAN / "control")).strip().split("\n\n"):
        fields = dict(re.findall(r"(?ms)^([\w-]+):[ \t]*(.*?)(?=^\S|\Z)", part))
        found[(fields.get("Package") or fields["Source"]).strip()] = fields
    return found


def names(dependencies: str) -> List[str]:
    """The packages of a field, without versions."""
    return [re.split(r"[ (]", word.strip())[0] for word in dependencies.replace("\n", " ").split(",") if word.strip()]


def takes(pattern: str, path: str) -> bool:
    """Whether a line of a dh_install list or of %files takes the path: a file, or a folder with all that is in it."""
    parts, wanted = path.split("/"), pattern.strip("/").split("/")
    return len(parts) >= len(wanted) and all(map(fnmatchcase, parts, wanted))


def of_debian() -> Dict[str, List[str]]:
    """The patterns of each package."""
    return {name.stem: text(name).split() + BY_RULES.get(name.stem, []) for name in DEBIAN.glob("*.install")}


def of_spec() -> Dict[str, List[str]]:
    """The same of the spec, its macros replaced."""
    spec = text(PACKAGING / "hmk.spec").split("%changelog")[0]
    found: Dict[str, List[str]] = {}
    macros = {"_sbindir": "usr/sbin", "_bindir": "usr/bin", "_unitdir": "lib/systemd/system", "_prefix/lib/udev": "lib/udev",
              "_prefix": "usr", "_datadir": "usr/share", "_docdir": "usr/share/doc", "_mandir": "usr/share/man",
              "_libdir": "usr/lib/*", "_libexecdir": "usr/libexec", "_includedir": "usr/include", "version": version()}
    for name, body in re.findall(r"(?ms)^%files(?: -n (\S+))?\n(.*?)(?=^%files|\Z)", spec):
        for line in body.split("\n"):
            path = re.sub(r"^%config\(noreplace\) ", "", line).replace("%{_prefix}/lib/udev", "%{_prefix/lib/udev}")
            path = re.sub(r"%\{([^}]*)\}", lambda macro: macros[macro.group(1)], path)
            if path and not path.startswith("%"):
                found.setdefault(name or "hmkd", []).append(re.sub(r"(\.[1-8])\*$", r"\1", path))
    return found


def version() -> str:
    """The project's."""
    found = re.search(r"project\(hm-keeper VERSION (\S+)", text(ROOT / "CMakeLists.txt"))
    return found.group(1)


class Files(unittest.TestCase):
    """Where each installed file goes."""

    def in_exactly_one(self, packages: Dict[str, List[str]]) -> None:
        for path in plan.installed():
            takers = [name for name, patterns in packages.items() if any(takes(pattern, path) for pattern in patterns)]
            self.assertEqual(len(takers), 1, f"{path} is in {takers}")

    def all_take_something(self, packages: Dict[str, List[str]]) -> None:
        for name, patterns in packages.items():
            for pattern in patterns:
                self.assertTrue(any(takes(pattern, path) for path in plan.installed()), f"{name}: nothing is {pattern}")

    def test_debian_has_each_file_in_exactly_one_package(self) -> None:
        self.in_exactly_one(of_debian())

    def test_no_line_of_debian_is_about_nothing(self) -> None:
        self.all_take_something(of_debian())

    def test_rpm_has_each_file_in_exactly_one_package(self) -> None:
        self.in_exactly_one(of_spec())

    def test_no_line_of_the_spec_is_about_nothing(self) -> None:
        self.all_take_something(of_spec())

    def test_both_divide_them_alike(self) -> None:
        renamed = {name.replace("-devel", "-dev"): patterns for name, patterns in of_spec().items()}
        for path in plan.installed():
            debian, rpm = [[name for name, patterns in packages.items() if any(takes(pattern, path) for pattern in patterns)]
                           for packages in (of_debian(), renamed)]
            self.assertEqual(debian, rpm, path)

    def test_what_is_in_etc_is_a_configuration_file_of_rpm_as_well(self) -> None:
        for path in plan.installed():
            if path.startswith("etc/"):
                self.assertIn(f"%config(noreplace) /{path}\n", text(PACKAGING / "hmk.spec"))


class Dependencies(unittest.TestCase):
    """Lists that have to agree."""

    def test_everything_that_cmake_looks_for_is_a_build_dependency(self) -> None:
        debian = names(paragraphs()["hm-keeper"]["Build-Depends"])
        spec = re.findall(r"(?m)^BuildRequires:\s+(\S+)", text(PACKAGING / "hmk.spec"))
        looked_for = set()
        for folder in ("", "include", "kmod/core", "daemon", "daemon/policy", "tools/hmkctl", "systemd", "packaging"):
            lists = text(ROOT / folder / "CMakeLists.txt")
            looked_for |= set(re.findall(r"find_package\(([\w-]+)", lists))
            looked_for |= set(re.findall(r"find_program\(\w+ (\w+)", lists))
            looked_for |= set(re.findall(r"pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\w+)", lists))
        self.assertGreater(len(looked_for), 10)
        for thing in looked_for:
            for_debian, for_rpm = NEEDED[thing]
            self.assertIn(for_debian, debian)
            self.assertIn(for_rpm, spec)

    def test_what_tools_setup_installs_builds_the_packages(self) -> None:
        setup = text(ROOT / "tools/setup").split() + text(ROOT / "tools/package").split()
        own = {"debhelper-compat": "debhelper", "dh-sequence-dkms": "dh-dkms", "dh-sequence-installsysusers": "debhelper",
               "ninja-build": "ninja-build"}
        for name in names(paragraphs()["hm-keeper"]["Build-Depends"]):
            self.assertIn(own.get(name, name), setup)

    def test_packages_of_one_source_are_of_one_version(self) -> None:
        control = paragraphs()
        self.assertIn("hmk-dkms (= ${source:Version})", control["hmkd"]["Recommends"])
        self.assertIn("libhmk0 (= ${binary:Version})", control["libhmk-dev"]["Depends"])
        self.assertEqual({name for name in control if name != "hm-keeper"}, set(of_debian()))

    def test_one_version_everywhere(self) -> None:
        self.assertTrue(text(DEBIAN / "changelog").startswith(f"hm-keeper ({version()}) "))
        self.assertIn(f'MODULE_VERSION("{version()}")', text(ROOT / "kmod/main.c"))
        self.assertIn(f"Version:        {version()}\n", text(PACKAGING / "hmk.spec"))

    def test_the_library_is_named_by_its_soname(self) -> None:
        soversion = re.search(r"SOVERSION (\d+)", text(ROOT / "include/CMakeLists.txt")).group(1)
        self.assertIn(f"libhmk{soversion}", of_debian())
        self.assertTrue(text(DEBIAN / "libhmk0.symbols").startswith(f"libhmk.so.{soversion} libhmk{soversion} "))
        headers = text(ROOT / "include/hmk/move.h") + text(ROOT / "include/hmk/hints.h")
        for function in re.findall(r"(?m)^(?:long|int|void|hmk_object) (\w+)\(", headers):
            self.assertIn(f" {function}@Base ", text(DEBIAN / "libhmk0.symbols"))

    def test_addresses_are_placeholders_that_say_so(self) -> None:
        for file in (DEBIAN / "control", PACKAGING / "hmk.spec", ROOT / "SECURITY.md", DEBIAN / "changelog"):
            addresses = re.findall(r"[\w.-]+@[\w.-]+\.org", text(file))
            self.assertTrue(addresses, file)
            for address in addresses:
                self.assertRegex(address, r"placeholder@hm-keeper\.example\.org$")


class Scripts(unittest.TestCase):
    """What maintainers' scripts do, and do not."""

    def test_only_removal_unloads_the_module(self) -> None:
        for script in DEBIAN.glob("*.p*"):
            asks = re.findall(r".*\b(?:rmmod|modprobe -r|modprobe --remove)\b.*", text(script))
            self.assertEqual(len(asks), int(script.suffix == ".prerm"), script)
        for name in ("hmk-dkms", "hmkd"):
            self.assertRegex(text(DEBIAN / f"{name}.prerm"), r'if \[ "\$1" = remove \] && \[ -[de] [^\n]*; then\n(\trm [^\n]*\n)?\trmmod hmk ')

    def test_who_is_removed_last_unloads_the_module(self) -> None:
        # apt removes hmk-dkms first, while hmkd uses the module: it stayed loaded after everything of ours was purged.
        self.assertRegex(text(DEBIAN / "hmk-dkms.prerm"), r"rmmod hmk 2>/dev/null \|\| \{\n\t\t: >/run/hmk\.unload\n")
        body = text(DEBIAN / "hmkd.prerm")
        self.assertIn('[ "$1" = remove ] && [ -e /run/hmk.unload ]', body)
        places = [body.index(word) for word in ("systemctl stop hmkd.service", "rm -f /run/hmk.unload", "rmmod hmk")]
        self.assertEqual(places, sorted(places))
        self.assertIn("rm -f /run/hmk.unload", text(DEBIAN / "hmk-dkms.postinst"))

    def test_purge_removes_every_account_that_is_made(self) -> None:
        made = re.findall(r"(?m)^[ug] (\S+) ", text(ROOT / "systemd/hmk.sysusers.conf"))
        self.assertEqual(len(made), 2)
        body = text(DEBIAN / "hmkd.postrm")
        groups = re.search(r"for group in (.*); do", body).group(1).split()
        self.assertEqual(sorted(made), sorted(groups))
        self.assertIn("userdel hmk", body)

    def test_purge_removes_the_folders_that_the_unit_makes(self) -> None:
        body = text(DEBIAN / "hmkd.postrm")
        for kind, folder in (("State", "/var/lib"), ("Runtime", "/run")):
            name = re.search(rf"(?m)^{kind}Directory=(\S+)", text(ROOT / "systemd/hmkd.service.in")).group(1)
            self.assertRegex(body, rf"rm -rf .*{folder}/{name}\b")

    def test_the_group_is_there_before_udev_and_the_service(self) -> None:
        body = text(DEBIAN / "hmkd.postinst")
        places = [body.index(word) for word in ("systemd-sysusers", "udevadm trigger", "#DEBHELPER#")]
        self.assertEqual(places, sorted(places))

    def test_hmkd_is_not_started_before_there_is_a_module(self) -> None:
        # apt showed "Could not execute systemctl" and had waited for the device, wherever hmkd was configured before hmk-dkms.
        body = text(DEBIAN / "hmkd.postinst")
        self.assertRegex(body, r"(?s)#DEBHELPER#.*\[ -c /dev/hmk \]; then\n\tdeb-systemd-invoke start hmkd\.service ")
        self.assertRegex(text(DEBIAN / "rules"), r"\n\tdh_installsystemd --no-start --restart-after-upgrade\n")

    def test_removal_stops_all_that_was_started(self) -> None:
        # With --no-start debhelper leaves the stop to the package.
        self.assertRegex(text(DEBIAN / "hmkd.prerm"), r'(?s)"\$1" = remove .*systemctl stop hmkd\.service .hmkd@\*\.service. ')

    def test_every_script_is_one_of_the_shell(self) -> None:
        for script in DEBIAN.glob("*.p*"):
            self.assertTrue(text(script).startswith("#!/bin/sh\nset -e\n"), script)
            self.assertIn("#DEBHELPER#", text(script))


if __name__ == "__main__":
    unittest.main()
