#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""hmk-load-kv on the servers themselves: what it wrote is right, one foreign value is found.

usage: kv_servers.py HMK_LOAD_KV redis|memcached"""
import json
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List

KEYS, LIMIT = 5000, 20
program, server = sys.argv[1:]


def command(at: str) -> List[str]:
    if server == "redis":
        return ["redis-server", "--port", "0", "--unixsocket", at, "--save", "", "--appendonly", "no", "--dir", "/"]
    return ["memcached", "-u", "root", "-s", at, "-t", "1", "-m", "64"]


def load(at: str, verb: str, *words: str, stdin: str = "") -> Dict[str, Any]:
    """The last line of each verb."""
    done = subprocess.run([program, verb, "--server", server, "--socket", at, "--state", at + ".state", *words],
                          input=stdin, stdout=subprocess.PIPE, text=True, timeout=LIMIT, check=False)
    lines: Dict[str, Any] = {report["verb"]: report for report in map(json.loads, done.stdout.splitlines())}
    return {**lines, "code": done.returncode}


def plant(at: str, value: str) -> None:
    """Another value for key 7, as somebody else would write it."""
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(at)
        link.sendall((f"SET user0000000007 {value}\r\n" if server == "redis" else
                      f"set user0000000007 0 0 {len(value)}\r\n{value}\r\n").encode())
        assert link.recv(64) in (b"+OK\r\n", b"STORED\r\n")


def listens(at: str) -> bool:
    """The file of a socket is there before somebody listens."""
    with socket.socket(socket.AF_UNIX) as link:
        return link.connect_ex(at) == 0


def play(at: str) -> None:
    load(at, "fill", "--keys", str(KEYS), "--value-size", "512B")
    for words in (["--keys-by", "latest", "--in-place"], ["--keys-by", "zipf", "--read-share", "50%"]):
        ran = load(at, "run", "--hold", "--ops", "20000", *words, stdin="\n")
        end = ran["end"]
        assert ran["code"] == 0 and end["wrong_values"] == 0 and "pid" in ran["ready"], ran
        assert end["ops"] >= 20000 and end["ops"] == end["reads"] + end["updates"], end
        assert end["gaps"] == end["ops"] / 16 and 0 < end["gap_p50_us"] <= end["gap_max_us"], end
    checked = load(at, "check")
    assert checked["code"] == 0 and checked["check"]["keys"] == KEYS and checked["check"]["wrong_values"] == 0, checked
    plant(at, "x" * 512)
    checked = load(at, "check")
    assert checked["code"] == 1 and checked["check"]["wrong_values"] == 1, checked


with tempfile.TemporaryDirectory() as folder:
    path = folder + "/socket"
    with subprocess.Popen(command(path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + LIMIT
            while not listens(path):
                assert process.poll() is None and time.monotonic() < deadline, f"{server} does not come up"
                time.sleep(0.01)
            play(path)
        finally:
            process.terminate()
