# SPDX-License-Identifier: MIT
"""GUPS beside a neighbour that loads the machine: what placement is worth when it is not alone."""
import signal
import subprocess
from typing import Any, Dict

from .base import CLIENT_CPU, LOGS, Failed
from .gups import Gups


class GupsDisturbed(Gups):
    """stress-ng's vm, memrate and bsearch take turns on CPU 1, each with a few megabytes of its own."""

    name, window_seconds = "gups-disturbed", 12.0
    packages = ("stress-ng",)
    neighbour = ["stress-ng", "--vm", "1", "--vm-bytes", "32m", "--memrate", "1", "--memrate-bytes", "16m", "--bsearch", "1"]

    def start(self) -> None:
        with open(LOGS / "stress-ng.log", "wb") as log:
            self._neighbour = subprocess.Popen(["taskset", "-c", str(CLIENT_CPU), *self.neighbour],
                                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        super().start()

    def ops(self) -> int:
        if self._neighbour.poll() is not None:
            last = (LOGS / "stress-ng.log").read_text(errors="replace").strip().splitlines()[-1:]
            raise Failed(f"stress-ng ended by itself with {self._neighbour.returncode}: {''.join(last) or 'no message'}")
        return super().ops()

    def stop(self) -> Dict[str, Any]:
        self._neighbour.send_signal(signal.SIGINT)
        self._neighbour.wait(60)
        return super().stop()
