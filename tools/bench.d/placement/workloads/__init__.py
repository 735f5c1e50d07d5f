# SPDX-License-Identifier: MIT
"""The workloads of the placement benchmark, by name, in the order of the results table."""
from typing import Dict, Type

from .base import Failed, Workload
from .disturbed import GupsDisturbed
from .gups import Gups, GupsFits, GupsHalf, GupsJump, GupsLarge, GupsMixed, GupsPhases, GupsRead, GupsSockets, Needle
from .hsqldb import Hsqldb
from .kv import MemcachedLatest, MemcachedZipf, RedisLatest, RedisZipf
from .levels import GupsLevels
from .postgresql import Postgresql, Postgresql40
from .programs import Graph, Pagerank, Sort, Sssp, Stream, Train, TrainBoth, TrainLies, TrainPast
from .two import GupsTwo

WORKLOADS: Dict[str, Type[Workload]] = {kind.name: kind for kind in (
    Gups, GupsJump, Needle, GupsRead, GupsMixed, GupsLarge, GupsFits, GupsHalf, GupsLevels, GupsPhases, GupsSockets, GupsTwo,
    RedisLatest, RedisZipf, MemcachedLatest, MemcachedZipf,
    Graph, Sssp, Pagerank, Sort, Train, TrainPast, TrainBoth, TrainLies, Stream,
    Postgresql, Postgresql40, Hsqldb,
    GupsDisturbed,
)}

__all__ = ["Failed", "WORKLOADS", "Workload"]
