# SPDX-License-Identifier: MIT
"""Says what takes long, while it takes long; says nothing about what is quick."""
import contextlib
import sys
import threading
import time
from typing import Iterator

QUIET_SECONDS = 2.0
REPEAT_SECONDS = 15.0


def say(text: str) -> None:
    """One line for the person waiting; standard error, so that results stay alone on stdout."""
    print(f"lab: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """Announce `what` once it has lasted 2 s, then every 15 s, and its end."""
    done = threading.Event()
    started = time.monotonic()
    announced = []

    def watch() -> None:
        pause = QUIET_SECONDS
        while not done.wait(pause):
            announced.append(True)
            say(f"{what} ... {time.monotonic() - started:.0f} s")
            pause = REPEAT_SECONDS

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        if announced:
            say(f"{what}: {time.monotonic() - started:.0f} s")
