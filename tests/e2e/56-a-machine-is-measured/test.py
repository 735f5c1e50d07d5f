#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 400
# count: yes
"""What hmkctl calibrate follows to tell a latency misses every cache, on the node and the CPU it is to measure: by the counting
plugin the mean latency of its accesses is the machine file's, and to tell that of writes it writes each line. It measures all pairs
within a minute, with hmk.ko and as a user without it; hmkd goes by the file, and not by one of another machine. The guest's own
clock shows no latency: every access takes as long as its instructions."""
import json
import re
import sys
import time
from pathlib import Path
from typing import Tuple

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

LATENCY = {0: [90, 145, 275, 340], 1: [145, 90, 340, 275]}  # configs/lab/four-tier.yaml, by the CPU's node
FILE, OTHER, LOG = Path("/run/machine.yaml"), Path("/run/other.yaml"), Path("/run/hmkd.log")


def calibrate(file: Path, *under: str) -> dict:
    begin = time.monotonic()
    answer = json.loads(lib.run(*under, lib.build("tools/hmkctl/hmkctl"), "calibrate", "-o", file, "--json").stdout)
    lib.check(time.monotonic() - begin <= 60, f"measured in {time.monotonic() - begin:.1f} s of at most 60")
    pairs = {(row["from"], row["to"]) for row in answer["access"] if row["write_latency_ns"]}
    lib.check(pairs == {(cpu, node) for cpu in range(2) for node in range(4)}, f"every node is seen from every CPU's: {len(pairs)}")
    lib.check(len(answer["moves"]) == 12 and all(row["page_ns"] for row in answer["moves"]), "every move between two nodes has a price")
    return answer


def written_back(row: dict, cpu: int, node: int) -> int:
    """Lines of a node."""
    return row["vcpus"][cpu]["user"]["written_back"][node]


def source(file: Path) -> str:
    """Where hmkd has the order of the tiers from."""
    hmkd = lib.start_hmkd(f"calibration: {file}\n", log=LOG)
    order = lib.ask_hmkd("tiers")["order"]["source"]
    hmkd.terminate()
    hmkd.wait()
    return order


def chase(node: int, cpu: int, how: str) -> Tuple[int, dict]:
    """Steps, and what was counted of them."""
    steps = int(lib.run("taskset", "-c", cpu, lib.build("tests/programs/hmk-chase"), node, cpu, how).stdout)
    return steps, lib.marks()[-1]


for cpu, by_node in LATENCY.items():
    for node, latency in enumerate(by_node):
        steps, row = chase(node, cpu, "read")
        counted = lib.misses(row, cpu, kinds="read")
        mean = sum(n * ns for n, ns in zip(counted, by_node)) / max(sum(counted), 1)
        lib.check(0.9 * latency <= mean <= 1.1 * latency, f"CPU {cpu}, node {node}: {mean:.0f} ns an access, the machine file has {latency}")
        lib.check(0.9 * steps <= sum(counted) <= 1.1 * steps, f"{sum(counted)} of {steps} steps miss every cache")
        streamed = sum(row["vcpus"][cpu]["user"]["streamed"])
        lib.check(streamed <= 0.05 * steps, f"{streamed} of them are in a stream")
        laid = written_back(row, cpu, node)
        lib.check(laid <= 0.4 * steps, f"{laid} are written back: what the caches held of laying the chain")
        steps, row = chase(node, cpu, "write")
        written = written_back(row, cpu, node)
        lib.check(0.8 * steps <= written <= 1.1 * steps, f"CPU {cpu}, node {node}: {written} of {steps} steps are written back")
lib.mark(15)

lib.load_module()
lib.check(calibrate(FILE)["calibration"]["moved_by"] == "hmk", "as root moves are priced by hmk.ko")
print(FILE.read_text(encoding="utf-8"), flush=True)
lib.check(source(FILE) == "calibrated", "hmkd goes by the file")
OTHER.write_text(re.sub("^cpu: .*", "cpu: another", FILE.read_text(encoding="utf-8"), flags=re.M), encoding="utf-8")
lib.check(source(OTHER) == "hmat", "and not by one of another machine")
lib.check(sum("another machine" in line for line in LOG.read_text(encoding="utf-8").splitlines()) == 1, "which it says in one line")
lib.unload_module()
place = Path("/run/user")
place.mkdir()
place.chmod(0o777)
alone = calibrate(place / "machine.yaml", "setpriv", "--reuid=65534", "--clear-groups")
lib.check(alone["calibration"]["moved_by"] == "move_pages", "a user without the module measures by move_pages(2)")
