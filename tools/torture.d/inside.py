# SPDX-License-Identifier: MIT
"""Runs in the guest, around a test: what the kernel holds before and after, into the test's figures."""
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/e2e"))
import lib  # noqa: E402

LATER = 30.0  # seconds the kernel has to free what it frees later

books = lib.Books()
status = subprocess.run(sys.argv[1:], check=False).returncode
leaked = books.leaked(LATER)
file = lib.RESULTS / "figures.json"
figures = json.loads(file.read_text(encoding="ascii")) if file.exists() else {}
file.write_text(json.dumps({**figures, "leaked": sum(leaked.values()), "release": os.uname().release}), encoding="ascii")
if leaked:
    print(f"NOT OK: pages more than before: {leaked}", flush=True)
if books.tainted():
    print(f"NOT OK: taint {books.tainted():#x} is new", flush=True)
sys.exit(status or (1 if leaked or books.tainted() else 0))
