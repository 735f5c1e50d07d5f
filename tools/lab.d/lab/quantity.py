# SPDX-License-Identifier: MIT
"""Numbers with units. A bare number is refused: nobody should have to guess what 512 means."""
import re
from typing import Dict

SIZE = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
LATENCY = {"ns": 1, "us": 1000}
BANDWIDTH = {"MB/s": 1, "GB/s": 1000}
PERCENT = {"%": 1}

_QUANTITY = re.compile(r"^\s*(\d+)\s*([A-Za-z/%]*)\s*$")


def parse(text: str, units: Dict[str, int]) -> int:
    """The value of `text` in the unit whose factor is 1. Raises ValueError with the remedy.

    >>> parse("2GiB", SIZE) == 2 << 30
    True
    """
    known = ", ".join(units)
    match = _QUANTITY.match(text)
    if not match:
        raise ValueError(f"'{text}' is not a whole number with a unit; use one of {known}")
    number, unit = match.groups()
    if not unit:
        raise ValueError(f"'{text}' has no unit; write for example {number}{list(units)[-1]}, known are {known}")
    if unit not in units:
        raise ValueError(f"'{text}' has the unknown unit '{unit}'; use one of {known}")
    return int(number) * units[unit]
