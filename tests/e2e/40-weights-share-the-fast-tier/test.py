#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Minutes of hmkd's judgement, for the night; the other kernel by --kernel 6.1.
# suite: 6.12
# gate: none
# timeout: 300
# seconds: 7
# clock: instructions
"""Three processes, each hot in more than the fast tier holds, with weights 3, 1 and 1: what they hold of the tier comes
to be 3 to 1 to 1, stays so with next to nothing going to and fro, and follows when the weights change."""
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, MIB = 1, 2, 1 << 20
PAUSE = 1.0      # seconds of the guest's clock, which looking costs: once an interval
LOOKS = round(float(os.environ["HMK_SECONDS"]) / PAUSE)
AT_REST = 20        # intervals
MOST_MIB = 40       # promoted in all of them: one of the regions of 2 MiB each


def fast_mib(load: subprocess.Popen) -> float:
    return lib.resident_bytes(load.pid).get(FAST, 0) / MIB


def is_three_to_one(amounts: list) -> bool:
    """The first against each of the others, within 10 %."""
    return all(2.7 <= amounts[0] / max(other, 1) <= 3.3 for other in amounts[1:])


def wait_for_shares(loads: list, what: str) -> None:
    """Until they have been so on average over LOOKS looks: single regions come and go all the time."""
    seen = []

    def shared() -> bool:
        time.sleep(PAUSE)
        seen.append([round(fast_mib(load), 1) for load in loads])
        last = seen[-LOOKS:]
        return len(last) == LOOKS and all(sum(look) > 100 for look in last) and \
            is_three_to_one([sum(column) / LOOKS for column in zip(*last)])
    try:
        lib.wait_for(shared, 90, what)
    finally:
        print(what, seen[-12:], flush=True)


def promoted_mib() -> float:
    """Of all three so far."""
    return sum(target["promoted_bytes"] for target in lib.ask_hmkd("stats")["targets"]) / MIB


def check_rest(loads: list) -> None:
    """From here on."""
    before, looks = promoted_mib(), []
    for _ in range(AT_REST):
        time.sleep(PAUSE)
        looks.append([fast_mib(load) for load in loads])
    means = [sum(column) / AT_REST for column in zip(*looks)]
    more = promoted_mib() - before
    print("at rest", [[round(mib, 1) for mib in look] for look in looks], flush=True)
    lib.check(is_three_to_one(means), f"it stays so: {' '.join(f'{mib:.1f}' for mib in means)} MiB, 2.7 to 3.3 to 1")
    lib.check(more <= MOST_MIB, f"and little goes to and fro: {more:.1f} MiB of {MOST_MIB} in {AT_REST} intervals")


lib.load_module()
loads = [lib.start_gups("--size", "128MiB", "--hot", "100%", "--hot-updates", "100%", "--rate", 300000,
                        under=("numactl", f"--preferred={SLOW}")) for _ in range(3)]  # hot all over
first, second, third = loads
daemon = lib.start_hmkd(f"interval: 1s\noverhead: 10%\npromote_limit: 20MiB\ntiers: [{FAST}, {SLOW}]\n"
                        f"attach: [{', '.join(str(load.pid) for load in loads)}]\nweights: {first.pid}=3\n")
# What one does not ask for the others may have: from the start all are known to be hot.
lib.wait_for(lambda: all(target["intervals"] > 3 for target in lib.ask_hmkd("stats")["targets"]), 60, "all have been watched")
lib.ask_hmkd("set", "mode", "manage")

wait_for_shares([first, second, third], "3 to 1 to 1 MiB of the fast tier")
check_rest([first, second, third])

lib.ask_hmkd("set", "weights", f"{third.pid}=3")
wait_for_shares([third, first, second], "3 to 1 to 1 MiB after the weights changed")

for target in lib.ask_hmkd("stats")["targets"]:
    print({key: target[key] for key in ("pid", "intervals", "profiling_percent", "promoted_bytes", "demoted_bytes", "refused_bytes")})
    lib.check(target["profiling_percent"] <= target["budget_percent"], "profiling keeps its budget")
lib.end_hmkd(daemon)
for load in loads:
    lib.end_load(load)
lib.unload_module()
