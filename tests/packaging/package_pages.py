#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""package_pages.py FOLDER: the man pages built there name every command of hmkctl and every option of hmkd, as their sources do."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HIDDEN = ("--root", "--records")   # of doctor and measure, for tests


def main(folder: str) -> int:
    """How many are missing."""
    def text(path: str) -> str:
        return (ROOT / path).read_text(encoding="utf-8")
    verbs = re.findall(r'\bVerb\{\s*"(\w+)"', text("tools/hmkctl/main.cpp"))
    options = re.findall(r'add_(?:option|flag)\(\s*"([^"]+)"', text("daemon/main.cpp"))
    own = [name for file in sorted((ROOT / "tools/hmkctl").glob("*.cpp"))
           for name in re.findall(r'add_(?:option|flag)\(\s*"(--[\w-]+)"', file.read_text(encoding="utf-8")) if name not in HIDDEN]
    page = {name: (Path(folder) / name).read_text(encoding="utf-8").replace("\\-", "-") for name in ("hmkctl.1", "hmkd.8")}
    missing = [f"hmkctl.1: command {verb}" for verb in verbs if not re.search(rf"(?m)^\.SS {verb}\b.*\n\S", page["hmkctl.1"])]
    missing += [f"hmkctl.1: option {name}" for name in own if f".B {name}" not in page["hmkctl.1"]]
    missing += [f"hmkd.8: option {name}" for name in options if f".B {name}" not in page["hmkd.8"]]
    if len(verbs) < 15 or len(options) < 8 or len(own) < 8:
        missing.append(f"the sources: {len(verbs)} commands, {len(options)} and {len(own)} options are too few to be all")
    for line in missing:
        print(line)
    return len(missing)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
