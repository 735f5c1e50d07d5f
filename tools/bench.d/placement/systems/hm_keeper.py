# SPDX-License-Identifier: MIT
"""HM-Keeper as it ships: the module and hmkd. Knobs are keys of hmkd.yaml; `module: no` has hmkd do without it."""
import json
import subprocess
from typing import Any, Dict, Sequence

from guest.hmkd import CONTROL, Daemon
from guest.waiting import LOGS, Failed, wait_for
from .base import DAEMON_CPU, System, cpu_seconds, pin, threads

# Of a page by tools/lab.d/lab/prices.py, whose prices the program's misses have too. The guest's clock has the kernel's
# instructions take 16 to 58 times as long.
MOVE_COST = "1154ns"
RECORDING = "program.hmkrec"  # among the logs, of a run with the knob `record`


class HmKeeper(System):
    """hmkd attached to the application's processes."""

    def start(self, pids: Sequence[int]) -> None:
        knobs = {key: str(value) for key, value in self.knobs.items()}
        record = knobs.pop("record", "no") == "yes"
        self._has_module = knobs.pop("module", "yes") == "yes"
        if self._has_module:
            self._load()
        self._daemon = Daemon(self.build, pids, {"move_cost": MOVE_COST, **knobs}, DAEMON_CPU)
        self._recorder = self._record(pids[0]) if record else None
        profilers = r"hmk/\d+" if self._has_module else r"kdamond\.\d+"
        self._threads = wait_for(lambda: len(found := threads(profilers)) >= len(pids) and found, 30,
                                 f"a thread {profilers} profiles every process")
        pin(self._threads, DAEMON_CPU)

    def _record(self, pid: int) -> "subprocess.Popen[bytes]":
        hmkctl = self.build / "tools/hmkctl/hmkctl"
        return subprocess.Popen(["taskset", "-c", str(DAEMON_CPU), hmkctl, "--socket", CONTROL, "record", LOGS / RECORDING, "--pid", str(pid)])

    def _load(self) -> None:
        done = subprocess.run(["insmod", str(self.module)], check=False, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise Failed(f"insmod hmk.ko: {done.stderr.strip()}; see console.log")

    def believed(self) -> Dict[str, Any]:
        rows = self._daemon.ask("regions", limit=0)["regions"]
        return {"regions": [(row["start"], row["length"], float(row["whi"])) for row in rows]}

    def counters(self) -> Dict[str, float]:
        stats = self._daemon.ask_all("stats")
        names = {"promoted_bytes": "promoted_bytes", "demoted_bytes": "demoted_bytes", "intervals": "intervals"}
        found = {ours: float(sum(row[theirs] for row in stats)) for ours, theirs in names.items()}
        found["moved_bytes"] = found["promoted_bytes"] + found["demoted_bytes"]
        for name, pages in (("copied_twice_bytes", "pages_recopied"), ("copied_unmapped_bytes", "pages_sync")):
            found[name] = 4096.0 * sum(row[pages] for row in stats)
        found["moved_pages"] = float(sum(row["pages_clean"] + row["pages_recopied"] + row["pages_sync"] for row in stats))
        found["copying_seconds"] = sum(row["copy_ns"] for row in stats) / 1e9
        found["unmapped_seconds"] = sum(row["commit_ns"] for row in stats) / 1e9
        found["flushes"] = float(sum(row["flushes"] for row in stats))
        found["flush_seconds"] = sum(row["flush_ns"] for row in stats) / 1e9
        found["profiling_seconds"] = sum(row["profile_ns"] for row in stats) / 1e9
        for name in ("cold_bytes", "paged_out_bytes", "swapped_bytes", "refaults"):
            found[name] = float(sum((row["page_out"] or {}).get(name, 0) for row in stats))
        for ours, theirs in (("promised_seconds", "promised_ns"), ("saved_seconds", "saved_ns")):
            found[ours] = sum(row["gain"].get(theirs, 0.0) for row in stats) / 1e9  # not told before an interval has ended
        found["cpu_seconds"] = cpu_seconds([*self._threads, self._daemon.pid])
        return found

    def stop(self) -> None:
        (LOGS / "stats.json").write_text(json.dumps(self._daemon.ask_all("stats"), indent=1), encoding="utf-8")
        if self._recorder:
            self._recorder.terminate()
            if self._recorder.wait(60) != 0:
                raise Failed(f"hmkctl record ended with {self._recorder.returncode}; see output.log")
        self._daemon.stop()
        if self._has_module:
            subprocess.run(["rmmod", "hmk"], check=True)
