#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# kernels: 6.1-debug
# timeout: 240
"""Allocations and user copies that fail one after the other in every call: reported, undone, and the call works when
made again. Debian's kernels cannot inject failures; the debug kernel can."""
import re
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

DEBUG, KMSG = Path("/sys/kernel/debug"), Path("/dev/kmsg")
if not (DEBUG / "failslab").exists():
    lib.skip("this kernel injects no failures: CONFIG_FAULT_INJECTION is off")
for name in ("failslab", "fail_page_alloc", "fail_usercopy"):
    for file, value in (("verbose", "0"), ("ignore-gfp-wait", "N"), ("ignore-gfp-highmem", "N"), ("min-order", "0")):
        if (DEBUG / name / file).exists():
            (DEBUG / name / file).write_text(value, encoding="ascii")
books = lib.Books()
lib.load_module()
KMSG.write_text("hmk-lab: failures are injected\n", encoding="ascii")  # what the kernel says of them is no splat
done = lib.run(lib.helper("inject"), check_status=False)
KMSG.write_text("hmk-lab: failures are no longer injected\n", encoding="ascii")
print(done.stdout, flush=True)
lib.check(done.returncode == 0, "every failure was undone")
lib.figures(count=int(re.search(r"injected (\d+)", done.stdout).group(1)), lost=0)
lib.unload_module()
books.balanced()
