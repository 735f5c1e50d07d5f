# SPDX-License-Identifier: MIT
"""Boots that were lost are tried again; their number is a result of its own."""
import collections

from lab import boots
from suite.case import FAILED, PASSED, Result

MOST_LOST = 5  # of some 50; QEMU loses one in a hundred


def result() -> Result:
    """How many guests were booted and lost at that; failed if more than MOST_LOST."""
    ready, lost = boots.counted()
    reasons = collections.Counter(lost)
    told = "; ".join(f"{number} x {why}" for why, number in reasons.most_common())
    return Result("lab/boots", FAILED if len(lost) > MOST_LOST else PASSED, 0.0,
                  f"{ready} guests booted, {len(lost)} lost before they were ready{': ' + told if told else ''}")
