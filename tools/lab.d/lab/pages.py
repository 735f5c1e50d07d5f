# SPDX-License-Identifier: MIT
"""What missed each 4 KiB page of the application, from the files that mark 14 writes.

    with Guest(machine, "6.12", count=True, pages=True, timeout=300) as guest:
        outcome = guest.run(["taskset", "-c", "0", "workload"])    # executes marks 0 and 14
        counts = read(file_of(guest.results, outcome.marks[-1]))   # {virtual address >> 12: Count}
"""
import struct
import sys
from array import array
from pathlib import Path
from typing import Dict, NamedTuple

from .errors import LabError
from .outcome import Mark

MARK = 14
PREFIX = "pages"
PATTERN = f"{PREFIX}-*.bin"
MAGIC, FORMAT = b"hmkpages", 3   # plugin/pages.h
HEAD, PAGE = struct.Struct("<8sQ"), struct.Struct("<6Q")


class Count(NamedTuple):
    """Lines of a page, as they are priced (lab/model.py), how often it was visited, where it was at its last miss."""

    misses: int
    streamed: int       # of these
    written_back: int
    visits: int
    node: int


def file_of(results: Path, mark: Mark) -> Path:
    """The file that was written with `mark`, which must be a mark 14."""
    return results / f"{PREFIX}-{mark.sequence}.bin"


def read(path: Path) -> Dict[int, Count]:
    """Counts by page since the last mark 0: user mode, CPU 0, in no order. Raises LabError."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise LabError(f"{path}: {error}; was the guest started with pages=True and mark {MARK} executed?") from None
    magic, told = HEAD.unpack_from(data) if len(data) >= HEAD.size else (MAGIC, FORMAT)
    if (magic, told) != (MAGIC, FORMAT):
        raise LabError(f"{path}: format {told if magic == MAGIC else 1}, wanted {FORMAT}; run the guest again")
    if len(data) % PAGE.size != HEAD.size:
        raise LabError(f"{path}: {len(data)} bytes are no head and whole number of pages; the guest ended while writing")
    numbers = array("Q")
    numbers.frombytes(data[HEAD.size:])
    if sys.byteorder == "big":
        numbers.byteswap()
    return dict(zip(numbers[::6], map(Count, *(numbers[word::6] for word in range(1, 6)))))
