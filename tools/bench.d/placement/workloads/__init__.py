# SPDX-License-Identifier: MIT
"""The workloads of the placement benchmark, by name, in the order of the results table."""
from typing import Dict, Type

from .base import Failed, Workload
from .gups import Gups, GupsJump, GupsMixed, GupsRead, Needle

WORKLOADS: Dict[str, Type[Workload]] = {
    kind.name: kind for kind in (Gups, GupsJump, Needle, GupsRead, GupsMixed)
}

__all__ = ["Failed", "WORKLOADS", "Workload"]
