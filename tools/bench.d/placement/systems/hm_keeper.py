# SPDX-License-Identifier: MIT
"""HM-Keeper as it ships: the module and hmkd. Knobs are keys of hmkd.yaml."""
import json
import subprocess
from typing import Any, Dict, Sequence

from guest.hmkd import Daemon
from guest.waiting import LOGS, Failed, wait_for
from .base import DAEMON_CPU, System, cpu_seconds, pin, threads


class HmKeeper(System):
    """hmkd attached to the application's processes."""

    def start(self, pids: Sequence[int]) -> None:
        done = subprocess.run(["insmod", str(self.module)], check=False, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failed(f"insmod hmk.ko: {done.stderr.strip()}; see console.log")
        self._daemon = Daemon(self.build, pids, {key: str(value) for key, value in self.knobs.items()}, DAEMON_CPU)
        self._threads = wait_for(lambda: len(found := threads(r"hmk/\d+")) >= len(pids) and found, 30,
                                 "hmk profiles every process")
        pin(self._threads, DAEMON_CPU)

    def believed(self) -> Dict[str, Any]:
        rows = self._daemon.ask("regions", limit=0)["regions"]
        return {"regions": [(row["start"], row["length"], float(row["whi"])) for row in rows]}

    def counters(self) -> Dict[str, float]:
        stats = self._daemon.ask_all("stats")
        names = {"promoted_bytes": "promoted_bytes", "demoted_bytes": "demoted_bytes", "intervals": "intervals"}
        found = {ours: float(sum(row[theirs] for row in stats)) for ours, theirs in names.items()}
        found["moved_bytes"] = found["promoted_bytes"] + found["demoted_bytes"]
        found["copied_twice_bytes"] = 4096.0 * sum(row["pages_recopied"] for row in stats)
        found["profiling_seconds"] = sum(row["profile_ns"] for row in stats) / 1e9
        found["cpu_seconds"] = cpu_seconds([*self._threads, self._daemon.pid])
        return found

    def stop(self) -> None:
        (LOGS / "stats.json").write_text(json.dumps(self._daemon.ask_all("stats"), indent=1), encoding="utf-8")
        self._daemon.stop()
        subprocess.run(["rmmod", "hmk"], check=True)
