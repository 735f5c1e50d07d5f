# SPDX-License-Identifier: MIT
"""hmkd inside a guest: started, asked over its socket, stopped. Python's library only."""
import json
import socket
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

from .waiting import LOGS, Failed, wait_for

CONTROL = "/run/hmk.sock"
HINTS = "/run/hints.sock"  # beside it


def is_served() -> bool:
    """Whether somebody listens. The file alone says little: it is there before that."""
    with socket.socket(socket.AF_UNIX) as link:
        return link.connect_ex(CONTROL) == 0


class Daemon:
    """hmkd on some processes, and its control socket."""

    def __init__(self, build: Path, pids: Sequence[int], config: Dict[str, str], cpu: Optional[int] = None) -> None:
        self._hmkctl = build / "tools/hmkctl/hmkctl"
        self._log = open(LOGS / "hmkd.log", "wb")
        file = Path("/run/hmkd.yaml")
        whole = {**config, "attach": f"[{', '.join(map(str, pids))}]"}
        file.write_text("".join(f"{key}: {value}\n" for key, value in whole.items()), encoding="ascii")
        self._process = subprocess.Popen(
            [*(["taskset", "-c", str(cpu)] if cpu is not None else []), build / "daemon/hmkd", "--config", file,
             "--socket", CONTROL],
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT)
        wait_for(lambda: is_served() or self._process.poll() is not None, 30, "hmkd serves its socket")
        self._check_alive()

    def _check_alive(self) -> None:
        if self._process.poll() is not None:
            last = (LOGS / "hmkd.log").read_text(errors="replace").strip().splitlines()[-1:]
            raise Failed(f"hmkd ended with {self._process.returncode}: {''.join(last) or 'no message'}; see hmkd.log")

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, verb: str, **args: Any) -> Dict[str, Any]:
        """The answer's data about the first process it manages."""
        return self.ask_all(verb, **args)[0]

    def ask_all(self, verb: str, **args: Any) -> List[Dict[str, Any]]:
        """The answer's data about each process it manages."""
        self._check_alive()
        with socket.socket(socket.AF_UNIX) as link:
            link.settimeout(30)
            link.connect(CONTROL)
            link.sendall(json.dumps({"verb": verb, "args": args}).encode() + b"\n")
            with link.makefile("rb") as stream:
                answer = json.loads(stream.readline())
        if not answer["ok"]:
            raise Failed(f"hmkd refuses '{verb}': {answer['error']}")
        return answer["data"]["targets"]

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
