# SPDX-License-Identifier: MIT
"""The programs of the demo, inside the guest: redis-server, its load, hmkd. Python's library only."""
import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

REDIS_SOCKET, STATE, CONTROL = "/run/redis.sock", "/run/load.state", "/run/hmk.sock"
LOGS = Path("/run/hmk-lab")


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


class Redis:
    """Debian's redis-server, unmodified, on CPU 0 alone, keeping nothing on disk."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["taskset", "-c", "0", "redis-server", "--port", "0", "--unixsocket", REDIS_SOCKET, "--save", "",
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
        for line in self._process.stdout:
            report = json.loads(line)
            self.ops += report.get("reads", 0) + report.get("updates", 0)
            self.wrong = report["wrong_values"]

    def check_alive(self) -> None:
        if self._process.poll() is not None:
            raise Failed(f"the load ended by itself with {self._process.returncode}")

    def stop(self) -> int:
        """Wrong replies during the run."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(60)
        self._reader.join(10)
        return self.wrong


class Daemon:
    """hmkd on one process, and its control socket."""

    def __init__(self, build: Path, pid: int, config: Dict[str, str]) -> None:
        self._hmkctl = build / "tools/hmkctl/hmkctl"
        self._log = open(LOGS / "hmkd.log", "wb")
        file = Path("/run/hmkd.yaml")
        file.write_text("".join(f"{key}: {value}\n" for key, value in config.items()), encoding="ascii")
        self._process = subprocess.Popen(
            [build / "daemon/hmkd", "--pid", str(pid), "--config", file, "--socket", CONTROL],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT)
        wait_for(lambda: os.path.exists(CONTROL) or self._process.poll() is not None, 30, "hmkd serves its socket")
        self._check_alive()

    def _check_alive(self) -> None:
        if self._process.poll() is not None:
            last = (LOGS / "hmkd.log").read_text(errors="replace").strip().splitlines()[-1:]
            raise Failed(f"hmkd ended with {self._process.returncode}: {''.join(last) or 'no message'}; see hmkd.log")

    def ask(self, verb: str) -> Dict[str, Any]:
        """The answer's data about the one process it manages."""
        self._check_alive()
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(30)
            link.connect(CONTROL)
            link.sendall(json.dumps({"verb": verb}).encode() + b"\n")
            with link.makefile("rb") as stream:
                answer = json.loads(stream.readline())
        if not answer["ok"]:
            raise Failed(f"hmkd refuses '{verb}': {answer['error']}")
        return answer["data"]["targets"][0]

    def set(self, key: str, value: str) -> None:
        done = subprocess.run([self._hmkctl, "--socket", CONTROL, "set", key, value], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise Failed(f"hmkctl set {key} {value}: {done.stdout.strip()}")

    def wait_interval(self, after: int, limit: float) -> Dict[str, Any]:
        """Status once an interval later than number `after` has been published."""
        def newer() -> Optional[Dict[str, Any]]:
            status = self.ask("status")
            last = status["last_interval"]
            return status if last and last["seq"] > after else None
        return wait_for(newer, limit, f"hmkd reports the interval after number {after} (see hmkd.log)")

    def stop(self) -> None:
        self._process.terminate()
        if self._process.wait(30) != 0:
            raise Failed(f"hmkd ended with {self._process.returncode} on SIGTERM; see hmkd.log")
