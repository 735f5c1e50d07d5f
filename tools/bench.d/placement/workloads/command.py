# SPDX-License-Identifier: MIT
"""Any program of the user's, unmodified: its memory is watched from some seconds after its start."""
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List

from .base import APPLICATION_CPU, LOGS, Failed, Workload, on_cpu


class Command(Workload):
    """`words` are the command line; `settle_seconds` of the guest's clock are for filling its memory.

    What it prints is kept in program.log; the end of the window ends it.
    """

    name = "command"
    page_sizes = ("4K", "THP")

    def __init__(self, build: Path, page_size: str, words: List[str], settle_seconds: float) -> None:
        super().__init__(build, page_size, placed=False)
        self.words, self.settle_seconds = words, settle_seconds

    def prepare(self) -> None:
        with open(LOGS / "program.log", "wb") as log:
            self._process = subprocess.Popen([*on_cpu(APPLICATION_CPU), *self.words],
                                             stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self._began = time.monotonic()
        while time.monotonic() < self._began + self.settle_seconds:
            self._check_alive()
            time.sleep(0.1)

    def _check_alive(self) -> None:
        if self._process.poll() is not None:
            raise Failed(f"{self.words[0]} ended with {self._process.returncode} after {time.monotonic() - self._began:.1f} s of "
                         f"the guest's clock; it is measured for {self.window_seconds:g} s from {self.settle_seconds:g} s on: give it "
                         "more to do or a shorter --window (its output is in program.log)")

    def pids(self) -> List[int]:
        """The program and what it started that is still in its session."""
        done = subprocess.run(["pgrep", "-s", str(self._process.pid)], check=False, stdout=subprocess.PIPE, text=True)
        return [int(word) for word in done.stdout.split()]

    def start(self) -> None:
        """It runs already."""

    def ops(self) -> int:
        self._check_alive()
        return 0

    def stop(self) -> Dict[str, Any]:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(10)
        return {"status": self._process.returncode}
