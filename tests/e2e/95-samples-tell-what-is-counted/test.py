#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# suite: 6.12
# gate: none
# timeout: 400
# count: yes
# samples: 97
# module: no
"""Of five loads the shares that hmkctl measure makes of samples of their loads, one in 97, are those of all loads, which the
plugin counts, within two points; and the latencies are the nodes'. CPUs without counters are told of in a line."""
import json
import subprocess
import sys
from typing import List

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

HMKCTL, SAMPLES = lib.build("tools/hmkctl/hmkctl"), lib.RESULTS / "samples.perf"
LATENCY = [90, 145, 275, 340]  # configs/lab/four-tier.yaml, from node 0
MOST_POINTS, FEWEST_SAMPLES, SECONDS = 2.0, 5000, 4
LOADS = (("gups", "--interleave=0-3", ("--size", "96MiB", "--hot", "10%")),
         ("gups", "--preferred=2", ("--size", "64MiB", "--hot", "25%")),
         ("graph", "--interleave=0,3", ("--size", "96MiB", "--algorithm", "bfs")),
         ("sort", "--interleave=1,2", ("--size", "96MiB",)),
         ("stream", "--interleave=0-2", ("--size", "96MiB",)))


def wait_for_line(load: subprocess.Popen, verb: str) -> None:
    for line in load.stdout:
        if json.loads(line)["verb"] == verb:
            return
    lib.check(False, f"the load says '{verb}' before it ends")


def counted(name: str, memory: str, arguments: tuple) -> List[int]:
    """Loads that each node's memory served while it worked."""
    load = subprocess.Popen(["taskset", "-c", "0", "numactl", memory, lib.build(f"tools/load/hmk-load-{name}"), *arguments,
                             "--for", f"{SECONDS}s", "--hold", "--hold-end"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                            bufsize=1)
    wait_for_line(load, "ready")
    lib.mark(0)
    load.stdin.write("\n")
    wait_for_line(load, "over")
    lib.mark(15)
    load.kill()
    load.wait()
    row = lib.marks()[-1]
    return [sum(of_cpu) for of_cpu in zip(*(lib.misses(row, cpu, "user", "read") for cpu in range(len(row["vcpus"]))))]


def measured() -> dict:
    return json.loads(lib.run(HMKCTL, "measure", "--records", SAMPLES, "--for", f"{SECONDS}s", "--json").stdout)


for name, memory, arguments in LOADS:
    exact = counted(name, memory, arguments)
    answer = measured()
    samples, untold = answer["measured"]["samples"], answer["measured"]["untold"]
    lib.check(samples >= FEWEST_SAMPLES and untold == 0, f"{name} {memory}: {samples} samples, {untold} of no node")
    for tier in answer["tiers"]:  # seen from both nodes with CPUs
        loads = sum(exact[node] for node in tier["nodes"])
        right, found = 100 * loads / sum(exact), tier["share_percent"]
        lib.check(abs(found - right) <= MOST_POINTS, f"{name} {memory}: nodes {tier['nodes']} serve {found:.2f} %, counted {right:.2f} %")
        if tier["samples"] >= FEWEST_SAMPLES / 10:
            latency = sum(exact[node] * LATENCY[node] for node in tier["nodes"]) / loads
            lib.check(abs(tier["latency_cycles"] / latency - 1) <= 0.05, f"{name} {memory}: they take {tier['latency_cycles']}, counted {latency:.0f}")
    all_loads = sum(tier["loads_per_s"] for tier in answer["tiers"]) * SECONDS
    lib.check(abs(all_loads / sum(exact) - 1) <= 0.05, f"{name} {memory}: {all_loads:.0f} loads, counted {sum(exact)}")

done = lib.run(HMKCTL, "measure", "--for", "1s", check_status=False)
lib.check(done.returncode == 1 and "do not report where loads are served from" in done.stdout, f"without counters: {done.stdout.strip()}")
with open(SAMPLES, "ab") as file:
    file.write(b"\0" * 11)
done = lib.run(HMKCTL, "measure", "--records", SAMPLES, check_status=False)
lib.check(done.returncode == 1 and "is cut short" in done.stdout, f"records that are none: {done.stdout.strip()}")
