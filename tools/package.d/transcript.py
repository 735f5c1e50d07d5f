# SPDX-License-Identifier: MIT
"""What a user would have typed and seen, for documents to quote."""
from pathlib import Path
from typing import List, Optional

#: Nobody sees these on a terminal.
NOISE = ("", "WARNING: apt does not have a stable CLI interface. Use with caution in scripts.")


class Transcript:
    """A file of commands and what they printed, and beside it the page that the last of them made; or none."""

    def __init__(self, file: Optional[Path]) -> None:
        self._file, self._parts = file, []  # type: Optional[Path], List[str]

    def add(self, command: str, said: str, lines: int) -> str:
        """`said`, of which at most the first and last lines are written, `lines` in all."""
        shown = shortened([line for line in said.strip().splitlines() if line not in NOISE], lines)
        self._parts.append(f"# {command}\n" + "".join(f"{line}\n" for line in shown))
        if self._file:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.write_text("\n".join(self._parts), encoding="utf-8")
        return said

    def page(self, text: str) -> None:
        """Under the same name, as HTML."""
        if self._file:
            self._file.with_suffix(".html").write_text(text, encoding="utf-8")


def shortened(lines: List[str], most: int) -> List[str]:
    """The first third and the last two, where there are more than `most`."""
    if len(lines) <= most:
        return lines
    head = most // 3
    return [*lines[:head], f"[{len(lines) - most} lines]", *lines[len(lines) - (most - head):]]
