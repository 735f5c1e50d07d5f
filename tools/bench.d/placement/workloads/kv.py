# SPDX-License-Identifier: MIT
"""Debian's redis-server and memcached under YCSB's two ways to be skewed, every reply checked."""
import os
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Tuple

from .base import APPLICATION_CPU, CLIENT_CPU, LOAD_SECONDS, LOGS, MEBI, Failed, Follower, Workload, on_cpu, wait_for

SOCKET, STATE = "/run/kv.sock", "/run/kv.state"


class KeyValue(Workload):
    """A server on CPU 0, hmk-load-kv on CPU 1. What is hot is known by key, not by address."""

    programs = ("hmk-load-kv",)
    memory_bytes = 1200 * MEBI
    value_bytes = 4080                  # with the server's header one slot of 4 KiB
    keys = 260_000
    server, keys_by = "", ""
    server_command: List[str] = []
    update_flags: List[str] = []

    def _load(self, verb: str, *flags: Any) -> List[Any]:
        return [self.build / "tools/load/hmk-load-kv", verb, "--server", self.server, "--socket", SOCKET, "--state", STATE,
                *flags]

    def prepare(self) -> None:
        with open(LOGS / f"{self.server}.log", "wb") as log:
            self._server = subprocess.Popen([*on_cpu(APPLICATION_CPU), *self.server_command],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(lambda: os.path.exists(SOCKET) or self._server.poll() is not None, LOAD_SECONDS, f"{self.server} is up")
        self._check_alive()
        fill = ["taskset", "-c", str(CLIENT_CPU), *self._load("fill", "--keys", self.keys, "--value-size", f"{self.value_bytes}B")]
        done = subprocess.run([str(word) for word in fill], check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LOAD_SECONDS)
        if done.returncode:
            raise Failed(f"hmk-load-kv fill ended with {done.returncode}: {done.stderr.strip()}")
        self._client = Follower(self._load("run", "--hold", "--keys-by", self.keys_by, "--read-share", "95%",
                                           "--pipeline", "8", *self.update_flags), CLIENT_CPU)
        self._client.wait("ready")

    def _check_alive(self) -> None:
        if self._server.poll() is not None:
            last = (LOGS / f"{self.server}.log").read_text(errors="replace").strip().splitlines()[-1:]
            raise Failed(f"{self.server_command[0]} ended with {self._server.returncode}: {''.join(last) or 'no message'}")

    def pids(self) -> List[int]:
        return [self._server.pid]

    def start(self) -> None:
        self._client.go()

    def ops(self) -> int:
        self._check_alive()
        return self._client.ops

    def reports(self) -> List[Tuple[float, int]]:
        return self._client.reports

    def stop(self) -> Dict[str, Any]:
        """Replies are checked as they come; the values nobody asked for are not read back."""
        end = self._client.stop()
        self._server.terminate()
        self._server.wait(LOAD_SECONDS)
        for file in (SOCKET, STATE):
            Path(file).unlink(missing_ok=True)
        return end


class RedisLatest(KeyValue):
    """The keys inserted last are read most: the hot part is one piece of the heap."""

    name, server, keys_by = "redis-latest", "redis", "latest"
    packages = ("redis-server",)
    server_command = ["redis-server", "--port", "0", "--unixsocket", SOCKET, "--save", "", "--appendonly", "no",
                      "--io-threads", "1", "--dir", "/run"]
    update_flags = ["--in-place"]       # with SET the allocator scatters hot values over the heap


class RedisZipf(RedisLatest):
    """Hot keys anywhere: a hot page has cold ones on both sides."""

    name, keys_by = "redis-zipf", "zipf"


class MemcachedLatest(KeyValue):
    """One worker thread; an update writes the new value beside the old one, as memcached does."""

    name, server, keys_by = "memcached-latest", "memcached", "latest"
    packages = ("memcached",)
    server_command = ["memcached", "-u", "root", "-s", SOCKET, "-t", "1", "-m", "2048", "-o", "hashpower=20,no_lru_crawler"]


class MemcachedZipf(MemcachedLatest):
    """Hot keys anywhere in the slabs."""

    name, keys_by = "memcached-zipf", "zipf"
