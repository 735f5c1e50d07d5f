# SPDX-License-Identifier: MIT
"""How often each 4 KiB page of the application was missed, from the files that mark 14 writes.

    with Guest(machine, "6.12", count=True, pages=True, timeout=300) as guest:
        outcome = guest.run(["taskset", "-c", "0", "workload"])    # executes marks 0 and 14
        counts = read(file_of(guest.results, outcome.marks[-1]))   # {virtual address >> 12: misses}
"""
import sys
from array import array
from pathlib import Path
from typing import Dict

from .errors import LabError
from .outcome import Mark

MARK = 14
PREFIX = "pages"
PATTERN = f"{PREFIX}-*.bin"


def file_of(results: Path, mark: Mark) -> Path:
    """The file that was written with `mark`, which must be a mark 14."""
    return results / f"{PREFIX}-{mark.sequence}.bin"


def read(path: Path) -> Dict[int, int]:
    """Misses by page since the last mark 0: user mode, CPU 0, in no order. Raises LabError."""
    numbers = array("Q")
    try:
        data = Path(path).read_bytes()
        numbers.frombytes(data)
    except (OSError, ValueError) as error:
        raise LabError(f"{path}: {error}; was the guest started with pages=True and mark {MARK} executed?") from None
    if len(numbers) % 2:
        raise LabError(f"{path}: {len(data)} bytes are no whole number of pairs; the guest ended while writing")
    if sys.byteorder == "big":
        numbers.byteswap()
    return dict(zip(numbers[::2], numbers[1::2]))
