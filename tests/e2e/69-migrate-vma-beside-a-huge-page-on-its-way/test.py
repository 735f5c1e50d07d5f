#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 60
# seconds: 5
"""A huge page is on its way while migrate_vma takes base pages beside it: kernels from 6.5 on look at the entry of such a
page again and again until it is there, and on a CPU where its mover waits for its turn that is for ever."""
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

Path("/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none").write_text("0", encoding="ascii")
lib.load_module()
books = lib.Books()
said = lib.run(lib.helper("beside"), os.environ["HMK_SECONDS"]).stdout
huge, base, met = (int(number) for number in re.findall(r"\d+", said))
lib.check(huge > 0 and base > 0, f"huge pages and base pages were moved: {huge}, {base}")
lib.check(met > 0, f"both at a time: {met}")
lib.figures(count=huge * 512 + base, lost=0)
lib.unload_module()
books.balanced()
