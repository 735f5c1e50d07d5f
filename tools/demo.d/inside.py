# SPDX-License-Identifier: MIT
"""The play inside the guest: fill, measure track-only, manage, measure again, check everything.

Prints JSON lines for stage.py: say, interval, filled, checked, ended, failed. Python's library only.
"""
import json
import re
import subprocess
import time
from pathlib import Path
from typing import Any, Dict, List

from actors import LOGS, REDIS_SOCKET, STATE, Failed, Load, Redis
from guest.hmkd import Daemon  # actors made tools/ importable
from guest.play import run, tell

APPLICATION_CPU = 0


def say(text: str) -> None:
    tell("say", text=text)


def node_free(node: int) -> int:
    text = Path(f"/sys/devices/system/node/node{node}/meminfo").read_text(encoding="ascii")
    found = re.search(r"MemFree:\s+(\d+) kB", text)
    if found is None:
        raise Failed(f"meminfo of node {node}: no MemFree")
    return int(found[1]) << 10


def follow(what: str, command: List[Any]) -> Dict[str, Any]:
    """Run a load program that reports progress in JSON lines; say it every 5 s; its last line."""
    with subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          text=True) as process:
        report, said = {}, time.monotonic()
        assert process.stdout
        for line in process.stdout:
            report = json.loads(line)
            if time.monotonic() - said >= 5:
                said = time.monotonic()
                say(f"{what}: {100 * report['keys'] / report['of']:.0f} %")
    if process.returncode and not report.get("done"):
        raise Failed(f"{what}: {Path(command[0]).name} ended with {process.returncode}")
    return report


def application_misses() -> List[int]:
    """User-mode LLC misses of the application's CPU by node since mark 0, from a mark made now."""
    subprocess.run(["hmk-mark", "1"], check=True)
    text = (LOGS / "marks.jsonl").read_text(encoding="ascii")
    row = json.loads(text[:text.rfind("\n")].splitlines()[-1])
    user = row["vcpus"][APPLICATION_CPU]["user"]
    return [read + write for read, write in zip(user["read"], user["write"])]


class Meter:
    """Turns cumulative counters into one row per interval."""

    def __init__(self, daemon: Daemon, load: Load, interval_seconds: float) -> None:
        self._daemon, self._load = daemon, load
        self._seconds, self._limit = interval_seconds, 20 * interval_seconds
        self._began = self._last_time = time.monotonic()
        self._misses, self._ops, self._moved = application_misses(), load.ops, (0, 0)
        self._sequence = self._number = 0

    def interval(self, mode: str, is_measured: bool) -> float:
        """Wait for the next interval's end, tell its row, return its tier-1 share."""
        time.sleep(0.75 * self._seconds)  # asking costs cache and CPU that the application's load needs
        status = self._daemon.wait_interval(self._sequence, self._limit)
        misses, now, ops = application_misses(), time.monotonic(), self._load.ops
        stats = self._daemon.ask("stats")
        self._load.check_alive()
        tiers, last = status["tiers"], status["last_interval"]
        new = [sum(misses[node] - self._misses[node] for node in tier["nodes"]) for tier in tiers]
        moved = (stats["promoted_bytes"], stats["demoted_bytes"])
        shares = [count / max(1, sum(new)) for count in new]
        self._number += 1
        tell("interval", number=self._number, mode=mode, is_measured=is_measured,
             seconds=round(now - self._began, 2), misses=new, shares=shares,
             resident_bytes=[tier["resident_bytes"] for tier in tiers],
             free_bytes=[tier["free_bytes"] for tier in tiers],
             promoted_bytes=moved[0] - self._moved[0], demoted_bytes=moved[1] - self._moved[1],
             profiling_percent=last["profiling_percent"], budget_percent=last["budget_percent"],
             regions=last["regions"], samples=last["samples"],
             ops_per_second=(ops - self._ops) / (now - self._last_time))
        self._sequence, self._misses, self._last_time, self._ops, self._moved = last["seq"], misses, now, ops, moved
        return shares[0]


def settle(meter: Meter, plan: Dict[str, Any]) -> bool:
    """Managed intervals until tier 1's share stays where it is, or there have been too many."""
    seen: List[float] = []
    while len(seen) < plan["settle_at_most"]:
        seen.append(meter.interval("manage", False))
        window = seen[-plan["settle_window"]:]
        if len(seen) >= plan["settle_at_least"] and max(window) - min(window) <= plan["settle_spread"]:
            return True
    return False


def measure(plan: Dict[str, Any], load: Load, daemon: Daemon) -> Dict[str, Any]:
    """All intervals; hmkd's figures at the end."""
    meter = Meter(daemon, load, float(plan["interval"].rstrip("s")))
    for i in range(plan["warm_up_intervals"] + plan["measured_intervals"]):
        meter.interval("track-only", i >= plan["warm_up_intervals"])
    daemon.set("mode", "manage")
    if not settle(meter, plan):
        say(f"tier 1's share still moved after {plan['settle_at_most']} intervals; measuring all the same")
    for _ in range(plan["measured_intervals"]):
        meter.interval("manage", True)
    stats = daemon.ask("stats")
    return {**{key: stats[key] for key in ("promoted_bytes", "demoted_bytes", "profiling_percent", "budget_percent")},
            "stats": stats, "tier_nodes": [node for tier in daemon.ask("status")["tiers"] for node in tier["nodes"]]}


def fill(plan: Dict[str, Any], load_program: Path) -> int:
    """Insert as many keys as make the data so many times what tier 1 has free."""
    free = node_free(APPLICATION_CPU)
    keys = int(plan["fill_tier1_times"] * free / (plan["value_bytes"] + plan["key_overhead_bytes"]))
    say(f"filling redis-server with {keys:,} keys of {plan['value_bytes']} bytes, "
        f"{plan['fill_tier1_times']:g} times the {free >> 20} MiB free in tier 1")
    follow("filling", [load_program, "fill", "--socket", REDIS_SOCKET, "--state", STATE, "--keys", keys,
                       "--value-size", f"{plan['value_bytes']}B"])
    return keys


def play(plan: Dict[str, Any]) -> None:
    build = Path(plan["build"])
    load_program = build / "tools/load/hmk-load-kv"
    done = subprocess.run(["insmod", plan["module"]], check=False, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise Failed(f"insmod hmk.ko: {done.stderr.strip()}; see dmesg in console.log")
    redis = Redis()
    keys = fill(plan, load_program)
    subprocess.run(["hmk-mark", "0"], check=True)
    flags = ["--read-share", f"{plan['read_percent']}%", "--pipeline", str(plan["pipeline"])] + (["--in-place"] if plan["in_place"] else [])
    load = Load(str(load_program), flags)
    daemon = Daemon(build, [redis.pid], {"mode": "track-only", "interval": plan["interval"],
                                       "promote_limit": plan["promote_limit"]})
    say("hmkd is attached, track-only; then it may manage; rows with * are compared")
    ended = measure(plan, load, daemon)
    subprocess.run(["hmk-mark", "15"], check=True)  # what follows need not be counted
    wrong_replies = load.stop()
    daemon.stop()
    say("reading every key back")
    report = follow("reading back", [load_program, "check", "--socket", REDIS_SOCKET, "--state", STATE])
    tell("checked", keys=keys, wrong_values=report["wrong_values"] + wrong_replies)
    redis.stop()
    subprocess.run(["rmmod", "hmk"], check=True)
    tell("ended", **ended)


if __name__ == "__main__":
    run(play)
