#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""report.py read|browse WITH_FAKE_HMKD HMKCTL: the page that `hmkctl report` writes has every part, nests well and asks for nothing
outside itself; a browser shows all of it, in the light and in the dark scheme."""
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from typing import List, Optional, Tuple

VOID = ("meta", "br")
PARTS = ("redis-server, PID 4711", "Before and after", "Share of its accesses by tier", "Moved bytes", "Size curve", "Heat map", "[heap]",
         "a &lt;b>", "Profiling", "Waits for moving pages: not measured", "refused: pinned", "makes room for hotter memory",
         "The machine", "Secure Boot")


class Page(HTMLParser):
    """Tags that are open, and what is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.open: List[str] = []
        self.problems: List[str] = []
        self.pictures = 0

    def handle_starttag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.pictures += tag == "svg"
        if tag == "svg" and not dict(attrs).get("aria-label"):
            self.problems.append("a picture without a label")
        self.problems += [f"{tag} with {name}" for name, _ in attrs if name in ("src", "href", "onload")]
        if tag in ("script", "link", "iframe", "img"):
            self.problems.append(f"a {tag}")

    def handle_startendtag(self, tag: str, attrs: List[Tuple[str, Optional[str]]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> where it does not belong")


def read(page: Path) -> List[str]:
    """What is wrong with its text."""
    text = page.read_text(encoding="utf-8")
    parser = Page()
    parser.feed(text)
    parser.close()
    problems = parser.problems + [f"{tag} is not closed" for tag in parser.open]
    problems += [f"it lacks '{part}'" for part in PARTS if part not in text]
    if parser.pictures < 5:
        problems.append(f"{parser.pictures} pictures")
    if page.stat().st_mode & 0o777 != 0o600:
        problems.append("others may read it")
    return problems


def browse(page: Path) -> List[str]:
    """What is wrong with it in a browser: it must differ by the scheme, and from an empty page."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium here: install chromium to see the page in a browser")
        sys.exit(77)
    empty = page.with_name("empty.html")
    empty.write_text("<!DOCTYPE html><title>x</title>", encoding="ascii")
    shots = {}
    for name, source, scheme in (("light", page, 1), ("dark", page, 0), ("empty", empty, 1)):
        shot = page.with_name(f"{name}.png")
        subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent}/profile",
                        "--window-size=1000,3000", f"--blink-settings=preferredColorScheme={scheme}", f"--screenshot={shot}",
                        source.as_uri()], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=90)
        shots[name] = shot.read_bytes()
    problems = [] if shots["light"] != shots["dark"] else ["the dark scheme changes nothing"]
    return problems + [f"the {name} page is empty" for name in ("light", "dark") if len(shots[name]) < 3 * len(shots["empty"])]


def main(way: str, with_fake_hmkd: str, hmkctl: str) -> int:
    """How many problems there are."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "report.html"
        subprocess.run([with_fake_hmkd, hmkctl, "--socket", "@SOCKET@", "report", "-o", str(page), "--root", "@ROOT@"], check=True)
        problems = {"read": read, "browse": browse}[way](page)
    for problem in problems:
        print(problem)
    return len(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
