# SPDX-License-Identifier: MIT
"""For what runs inside a guest: waiting with a limit, and the error that ends a play."""
import time
from pathlib import Path
from typing import Any, Callable

LOGS = Path("/run/hmk-lab")  # the host keeps what is written there


class Failed(Exception):
    """The play cannot go on; the message says what, where and what to do."""


def wait_for(condition: Callable[[], Any], limit: float, what: str) -> Any:
    """The first true value of `condition`; Failed after `limit` seconds."""
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {limit:g} s")
        time.sleep(0.05)
