#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 120
# seconds: 5
"""Pages that KSM merges move back and forth while it scans. migrate_vma puts an entry away before it asks KSM who maps the
page, and cannot put it back where KSM does not know: so that path leaves memory that KSM may merge to others."""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

for name, value in (("pages_to_scan", "20000"), ("sleep_millisecs", "1"), ("run", "1")):
    Path("/sys/kernel/mm/ksm", name).write_text(value, encoding="ascii")
lib.load_module()
books = lib.Books()
for path in ("own", "vma"):
    said = lib.run(lib.helper("merged"), os.environ["HMK_SECONDS"], path).stdout
    moved, merged, rounds = (int(number) for number in re.findall(r"\d+", said))
    lib.check(merged > rounds > 0, f"[{path}] KSM has merged: {said.strip()}")
    lib.check((moved > 0) == (path == "own"), f"[{path}] {moved} pages moved")
    lib.figures(count=moved, lost=0)
lib.unload_module()
books.balanced()
