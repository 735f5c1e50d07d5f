# SPDX-License-Identifier: MIT
"""Units, drop-ins and rules: bound to the device, failing without the module, and agreeing with hmkd."""
import re
import unittest
from typing import Dict, List

import package_plan as plan

SYSTEMD = plan.ROOT / "systemd"
UNITS = ("hmkd.service", "hmkd@.service")


def read(name: str) -> Dict[str, List[str]]:
    """The values of each key."""
    found: Dict[str, List[str]] = {}
    for key, value in re.findall(r"(?m)^(\w+)=(.*)$", (SYSTEMD / name).read_text(encoding="utf-8")):
        found.setdefault(key, []).append(value)
    return found


class Units(unittest.TestCase):
    """hmkd.service and hmkd@.service."""

    def test_no_condition_skips_them(self) -> None:
        for unit in UNITS:
            for key in read(unit + ".in"):
                self.assertFalse(key.startswith("Condition"), f"{unit}: {key}: a unit that is skipped has not failed")

    def test_they_are_bound_to_the_device_by_a_drop_in_that_can_be_replaced(self) -> None:
        drop_in = read("10-module.conf")
        self.assertEqual(drop_in["BindsTo"], ["dev-hmk.device"])
        self.assertEqual(drop_in["Environment"], ["HMKD_FLAGS=--require-module"])
        self.assertNotIn("After", drop_in, "waiting for a device that never comes is no failure")
        for unit in UNITS:
            self.assertIn(f"lib/systemd/system/{unit}.d/10-module.conf", plan.installed())
            self.assertNotIn("BindsTo", read(unit + ".in"), "a dependency cannot be taken back")
            self.assertTrue(read(unit + ".in")["ExecStart"][0].endswith(" $HMKD_FLAGS"))
            self.assertEqual(read(unit + ".in")["Environment"], ["HMKD_FLAGS="])

    def test_they_fail_by_themselves_before_the_wait_for_the_device_ends(self) -> None:
        settle = int(re.search(r"settle --timeout=(\d+)$", read("10-module.conf")["ExecStartPre"][0]).group(1))
        wait = int(read("dev-hmk.device.conf")["JobRunningTimeoutSec"][0].removesuffix("s"))
        self.assertGreaterEqual(wait, settle + 5)

    def test_the_rule_of_udev_tells_systemd_of_the_device(self) -> None:
        rules = (SYSTEMD / "60-hmk.rules").read_text(encoding="utf-8")
        self.assertRegex(rules, r'(?m)^KERNEL=="hmk", SUBSYSTEM=="misc", TAG\+="systemd"$')
        self.assertRegex(rules, r'(?m)^KERNEL=="hmk", SUBSYSTEM=="misc", GROUP="hmk", MODE="0660"$')

    def test_an_enabled_service_starts_with_the_machine_and_with_the_device(self) -> None:
        self.assertEqual(read("hmkd.service.in")["WantedBy"], ["multi-user.target dev-hmk.device"])

    def test_a_missing_module_does_not_start_it_again_and_again(self) -> None:
        main = (plan.ROOT / "daemon/main.cpp").read_text(encoding="utf-8")
        code = re.search(r"kNoModule = (\d+)", main).group(1)
        self.assertIn("return is_missing ? kNoModule : kFailed", main)
        for unit in UNITS:
            self.assertIn(code, read(unit + ".in")["RestartPreventExitStatus"][0].split())

    def test_the_drop_in_for_life_without_the_module_replaces_the_other(self) -> None:
        self.assertIn("usr/share/doc/hmkd/examples/10-module.conf", plan.installed())
        degraded = read("degraded.conf")
        self.assertEqual(degraded["User"], ["root"])
        self.assertEqual(degraded["CapabilityBoundingSet"], ["CAP_DAC_OVERRIDE"])
        self.assertEqual(degraded["SystemCallFilter"], ["move_pages"])
        self.assertEqual(degraded["ProtectKernelTunables"], ["no"])
        self.assertNotIn("Environment", degraded)
        self.assertNotIn("BindsTo", degraded)

    def test_what_makes_room_and_advises_is_allowed(self) -> None:
        """By pages of its own that move; by join_huge and page_out; what comes later in a unit counts."""
        for unit in UNITS:
            filters = read(unit + ".in")["SystemCallFilter"]
            self.assertIn("@resources", filters[1])
            self.assertLessEqual({"move_pages", "process_madvise"}, set(filters[2].split()), unit)

    def test_only_the_service_of_the_machine_keeps_state(self) -> None:
        self.assertEqual(read("hmkd.service.in")["StateDirectory"], ["hmk"])
        self.assertNotIn("StateDirectory", read("hmkd@.service.in"), "two of them would write one file")

    def test_each_target_has_its_descriptor(self) -> None:
        for unit in UNITS:
            self.assertGreaterEqual(int(read(unit + ".in")["LimitNOFILE"][0]), 65536)

    def test_pages_that_they_name_are_installed(self) -> None:
        for unit in UNITS:
            for page, part in re.findall(r"man:([\w.]+)\((\d)\)", read(unit + ".in")["Documentation"][0]):
                self.assertIn(f"usr/share/man/man{part}/{page}.{part}", plan.installed())

    def test_user_and_groups_are_those_that_are_made(self) -> None:
        made = re.findall(r"(?m)^([ug]) (\S+) ", (SYSTEMD / "hmk.sysusers.conf").read_text(encoding="utf-8"))
        config = (plan.ROOT / "configs/hmkd.yaml").read_text(encoding="utf-8")
        for unit in UNITS:
            self.assertIn(("u", read(unit + ".in")["User"][0]), made)
        for key in ("socket_group", "admin_group"):
            self.assertIn(re.search(rf"(?m)^{key}: (\S+)", config).group(1), [name for _, name in made])

    def test_the_module_is_loaded_at_boot_by_its_own_package(self) -> None:
        self.assertIn("usr/lib/modules-load.d/hmk.conf", plan.installed())
        self.assertIn("usr/lib/modules-load.d", (plan.ROOT / "packaging/debian/hmk-dkms.install").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
