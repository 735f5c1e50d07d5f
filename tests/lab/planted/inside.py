# SPDX-License-Identifier: MIT
"""In the guest: the module loaded and unloaded between two looks into the books."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "e2e"))
import lib  # noqa: E402

module, bug = sys.argv[1:]
books = lib.Books()
lib.run("insmod", module, f"bug={bug}")
lib.run("rmmod", "planted")
books.balanced(limit=1)
