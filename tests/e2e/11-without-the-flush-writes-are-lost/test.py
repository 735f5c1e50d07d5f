#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 120
# defines: HMK_TEST_SWITCHES
"""The negative control: with the TLB flush left out the integrity test reports corruption, on both
commit paths, so it can fail. A module without the switch refuses the flag."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

PROGRAM = lib.build("tests/programs/hmk-integrity")

lib.load_module(os.environ["HMK_VARIANT"])
for path in ([], ["--force-vma"]):
    done = lib.run(PROGRAM, "--size", "16MiB", "--for", "10s", "--no-flush", *path, check_status=False)
    print(done.stdout)
    seen = json.loads(done.stdout.splitlines()[-1])
    lib.check(done.returncode == 1 and seen["corrupt"] > 0, f"{seen['corrupt']} corrupt visits were found")
lib.unload_module()

lib.load_module()
done = lib.run(PROGRAM, "--size", "16MiB", "--for", "1s", "--no-flush", check_status=False)
lib.check(done.returncode == 3, f"the shipped module refuses the switch: {done.stdout.strip()}")
lib.unload_module()
