# SPDX-License-Identifier: MIT
"""dkms.conf against Kbuild, and the installed source against what the module includes."""
import re
import unittest
from typing import Dict, Set

import package_plan as plan

KBUILD = (plan.ROOT / "Kbuild").read_text(encoding="utf-8")


def conf() -> Dict[str, str]:
    """dkms.conf as it will be."""
    text = (plan.ROOT / "packaging/dkms.conf.in").read_text(encoding="utf-8")
    return dict(re.findall(r'(?m)^([\w\[\]]+)="(.*)"$', text))


def source() -> Set[str]:
    """What is below /usr/src/hmk-VERSION."""
    return {match.group(1) for match in (re.match(r"usr/src/hmk-[\d.]+/(.*)", path) for path in plan.installed()) if match}


class Dkms(unittest.TestCase):
    """The module as DKMS builds it."""

    def test_it_builds_what_kbuild_builds(self) -> None:
        self.assertEqual(re.findall(r"(?m)^obj-m := (\w+)\.o$", KBUILD), [conf()["BUILT_MODULE_NAME[0]"]])

    def test_it_is_of_the_projects_name_and_version(self) -> None:
        self.assertEqual((conf()["PACKAGE_NAME"], conf()["PACKAGE_VERSION"]), ("hmk", "@PROJECT_VERSION@"))
        self.assertIn("dkms.conf", source())

    def test_it_is_built_for_each_new_kernel(self) -> None:
        self.assertEqual(conf()["AUTOINSTALL"], "yes")

    def test_it_is_built_where_the_sources_were_copied_to(self) -> None:
        for key in ("MAKE[0]", "CLEAN"):
            self.assertTrue(conf()[key].startswith(
                "make -C ${kernel_source_dir} M=${dkms_tree}/${PACKAGE_NAME}/${PACKAGE_VERSION}/build "), conf()[key])

    def test_every_object_has_its_source_there(self) -> None:
        objects = re.findall(r"\b(kmod/[\w/]+)\.o\b", KBUILD)
        self.assertGreater(len(objects), 30)
        for name in objects:
            self.assertIn(f"{name}.c", source())

    def test_every_probe_is_there(self) -> None:
        probes = [file.name for file in (plan.ROOT / "kmod/compat/probe").glob("*.c")]
        self.assertTrue(probes)
        for name in ("../probe.sh", *probes):
            self.assertIn(f"kmod/compat/{name[3:]}" if name.startswith("../") else f"kmod/compat/probe/{name}", source())

    def test_every_header_that_is_included_is_there(self) -> None:
        for path in sorted(source()):
            if not path.endswith((".c", ".h")):
                continue
            text = (plan.ROOT / path).read_text(encoding="utf-8")
            for name in re.findall(r'(?m)^#\s*include "([^"]+)"', text):
                near = (plan.ROOT / path).parent / name
                places = [str(near.resolve().relative_to(plan.ROOT)), f"kmod/{name}"]
                self.assertTrue(any(place in source() for place in places), f"{path} includes {name}")
            for name in re.findall(r"(?m)^#\s*include <(hmk/[^>]+|linux/hmk\.h)>", text):
                self.assertTrue(f"include/{name}" in source() or f"uapi/{name}" in source(), f"{path} includes {name}")

    def test_which_kernels_it_is_for(self) -> None:
        pattern = re.compile(conf()["BUILD_EXCLUSIVE_KERNEL"].replace("\\\\", "\\"))
        for release in ("6.1.0-9-amd64", "6.12.38+deb13-amd64", "6.5.0-rc1", "6.18.1", "7.0.0", "10.2.1"):
            self.assertRegex(release, pattern)
        for release in ("5.10.0-30-amd64", "5.15.0", "6.0.12", "4.18.0-553"):
            self.assertNotRegex(release, pattern)


if __name__ == "__main__":
    unittest.main()
