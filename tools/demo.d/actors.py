# SPDX-License-Identifier: MIT
"""The programs of the demo, inside the guest: redis-server and its load. Python's library only."""
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import List, Sequence

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from guest.waiting import LOGS, Failed, wait_for  # noqa: E402

REDIS_SOCKET, STATE = "/run/redis.sock", "/run/load.state"


class Redis:
    """Debian's redis-server, unmodified, on CPU 0 alone, keeping nothing on disk; started through `place`."""

    def __init__(self, place: Sequence[str] = ()) -> None:
        self._process = subprocess.Popen(
            ["taskset", "-c", "0", *place, "redis-server", "--port", "0", "--unixsocket", REDIS_SOCKET, "--save", "",
             "--appendonly", "no", "--io-threads", "1", "--dir", "/run"],
            stdin=subprocess.DEVNULL, stdout=open(LOGS / "redis.log", "wb"), stderr=subprocess.STDOUT)
        wait_for(lambda: os.path.exists(REDIS_SOCKET) or self._process.poll() is not None, 30, "redis-server is up")
        if self._process.poll() is not None:
            raise Failed(f"redis-server ended with {self._process.returncode}; see redis.log")

    @property
    def pid(self) -> int:
        return self._process.pid  # taskset becomes redis-server by exec

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)


class Load:
    """hmk-load-kv run: counts operations as they are reported."""

    def __init__(self, program: str, flags: List[str]) -> None:
        self.ops = self.wrong = 0
        self._process = subprocess.Popen([program, "run", "--socket", REDIS_SOCKET, "--state", STATE, *flags],
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout  # a pipe, above
        for line in self._process.stdout:
            report = json.loads(line)
            self.ops += report.get("reads", 0) + report.get("updates", 0)
            self.wrong = report.get("wrong_values", self.wrong)

    def check_alive(self) -> None:
        if self._process.poll() is not None:
            raise Failed(f"the load ended by itself with {self._process.returncode}")

    def stop(self) -> int:
        """Wrong replies during the run."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        self._reader.join(10)
        return self.wrong
