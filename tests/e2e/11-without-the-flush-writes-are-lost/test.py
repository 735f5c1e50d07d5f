#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: none
# timeout: 120
# alone: yes
# defines: HMK_TEST_SWITCHES
"""The negative controls, so the integrity test can fail: it reports corruption with the TLB flush left out,
on both commit paths, and with the write bit as the only sign of a write while something else clears that bit;
none with the same load and the module as it ships, which refuses both switches."""
import os
import sys
from typing import List

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

PROGRAM = lib.build("tests/programs/hmk-integrity")

lib.load_module(os.environ["HMK_VARIANT"])
for path in (["--no-flush"], ["--no-flush", "--force-vma"], ["--write-bit", "--force-vma", "--clear-refs"]):
    seen = lib.integrity("--size", "16MiB", *path, until=lambda sums: sums["corrupt"] > 0)
    lib.check(seen["corrupt"] > 0, f"{seen['corrupt']} corrupt visits were found")
lib.unload_module()

lib.load_module()
NO_FLAGS: List[str] = []
for path in (NO_FLAGS, ["--force-vma"]):
    seen = lib.integrity("--size", "16MiB", "--clear-refs", *path, until=lambda sums: sums["recopied"] > 1000)
    lib.check(seen["corrupt"] == 0 and seen["recopied"] > 1000, f"{seen['recopied']} pages were written and copied again")
for switch in ("--no-flush", "--write-bit"):
    done = lib.run(PROGRAM, "--size", "16MiB", "--for", "1s", switch, check_status=False)
    lib.check(done.returncode == 3, f"the shipped module refuses {switch}: {done.stdout.strip()}")
lib.unload_module()
