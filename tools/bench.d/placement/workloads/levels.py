# SPDX-License-Identifier: MIT
"""GUPS on memory that is hot by degrees and stays so."""
from typing import Any, List

from .gups import Gups


class GupsLevels(Gups):
    """Twenty levels of hotness, as many pieces of each anywhere, the n-th with 1/n of the first's updates."""

    name, window_seconds = "gups-levels", 24.0
    has_truth = False  # for the oracle: nothing is simply hot

    def more(self) -> List[Any]:
        return ["--levels", 20]
