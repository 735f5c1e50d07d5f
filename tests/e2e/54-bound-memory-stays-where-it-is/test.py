#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
"""What a program has bound to nodes (MPOL_BIND) stays on these, whatever the path, unless the request says that it wins;
hmkd says so only with `move_bound: yes`, without the module, too."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

FAST, SLOW, MIB = 1, 2, 1 << 20


def stats() -> dict:
    return lib.ask_hmkd("stats")["targets"][0]


def check_daemon() -> None:
    """hmkd leaves a bound load alone until it is told not to."""
    load = lib.start_gups("--size", "64MiB", "--hot", "40%", under=("numactl", f"--membind={SLOW}"))
    before = lib.resident_bytes(load.pid).get(FAST, 0)  # of files
    daemon = lib.start_hmkd(f"mode: manage\ninterval: 500ms\noverhead: 20%\nreserve: 8MiB\ntiers: [{FAST}, {SLOW}]\n"
                            f"attach: [{load.pid}]\n")
    lib.wait_for(lambda: stats()["refused_bytes"]["policy"] > 16 * MIB, 120, "hmkd tries, and what is bound is refused")
    told = stats()
    lib.check(told["promoted_bytes"] == 0 and lib.resident_bytes(load.pid).get(FAST, 0) < before + MIB,
              f"nothing has moved: {told['promoted_bytes']} bytes, {lib.resident_bytes(load.pid)}")
    changed = lib.ask_hmkd("set", "move_bound", "yes")["changed"]
    lib.check((changed["old"], changed["value"], changed["takes_effect"]) == ("no", "yes", "now"), f"move_bound is live: {changed}")
    lib.wait_for(lambda: stats()["promoted_bytes"] > 4 * MIB, 120, "told to, hmkd moves it")
    lib.end_hmkd(daemon)
    lib.end_load(load)


check_daemon()  # by the kernel's own looks and move_pages(2)
lib.load_module()
print(lib.run(lib.helper("bound")).stdout, flush=True)
check_daemon()
lib.unload_module()
