# SPDX-License-Identifier: MIT
"""How many guests this process has booted, and which it lost at that: a retry hides a defect unless somebody counts."""
import threading
from typing import List, Tuple

_lock = threading.Lock()
_ready = 0
_lost: List[str] = []


def ready() -> None:
    """One more guest is up."""
    global _ready
    with _lock:
        _ready += 1


def lost(why: str) -> None:
    """One was lost before it was ready, and is booted again."""
    with _lock:
        _lost.append(why)


def counted() -> Tuple[int, List[str]]:
    """Guests that came up, and why others did not."""
    with _lock:
        return _ready, list(_lost)
