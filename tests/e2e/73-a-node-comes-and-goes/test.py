#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 400
# alone: yes
# cmdline: memmap=768M%0x100000000-1+0xefffffff
"""A node whose memory is brought online while hmkd runs, as that of a CXL device, is a tier in the next interval and takes
the hot set; it goes offline while pages move there, and hmkd goes on with what is left. Three times; no value is wrong."""
import functools
import sys
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

DAX, NODE = Path("/sys/bus/dax"), Path("/sys/devices/system/node/node2")
MIB, ROUNDS = 1 << 20, 3


def come():
    """What `daxctl reconfigure-device --mode=system-ram` does; a new kernel does so by itself when kmem is loaded."""
    lib.run("modprobe", "kmem")
    for file in ("bind", "new_id"):  # the first time kmem may have to be told that it is a device of its
        if not NODE.exists():
            write(DAX / "drivers/kmem" / file, "dax0.0")
    lib.check(NODE.exists(), "node 2 is there")


def go():
    """Block after block, as the kernel can: it waits for pages that are on their way."""
    for block in sorted(NODE.glob("memory[0-9]*")):
        lib.wait_for(functools.partial(write, block / "state", "offline"), 60, f"{block.name} is offline")
    write(DAX / "drivers/kmem/unbind", "dax0.0")
    lib.check(not NODE.exists(), "node 2 has gone")


def write(path, text):
    """True when the kernel took it."""
    try:
        path.write_text(text, encoding="ascii")
        return True
    except OSError:
        return False


def tiers():
    """Nodes, fastest first."""
    return [node for tier in lib.ask_hmkd("tiers")["tiers"] for node in tier["nodes"]]


Path("/sys/devices/system/memory/auto_online_blocks").write_text("online_movable", encoding="ascii")
lib.run("modprobe", "dax_hmem")
lib.wait_for((DAX / "devices/dax0.0").exists, 10, "the memory set aside is a device")
lib.check(not NODE.exists(), "node 2 is not there yet")
lib.load_module()
load = lib.start_gups("--size", "256MiB", "--hot", "25%", under=("numactl", "--preferred=1"))
# hmkd may put nothing of it into the first tier, so the hot set belongs in the second.
daemon = lib.start_hmkd(f"mode: manage\ninterval: 400ms\noverhead: 10%\ncaps: {load.pid}/1=0B\nattach: [{load.pid}]\n")
for _ in range(ROUNDS):
    lib.wait_for(lambda: tiers() == [0, 1], 10, "there are two tiers")
    come()
    lib.wait_for(lambda: tiers() == [0, 2, 1], 10, "the new node is the second tier")
    lib.wait_for(lambda: lib.resident_bytes(load.pid).get(2, 0) > 40 * MIB, 90, "most of the hot set lies there")
    go()
    # The kernel puts what was there into the first tier. A cap keeps hmkd from adding to it, not what is there already.
    lib.run("migratepages", load.pid, 0, 1)
stats = lib.ask_hmkd("stats")["targets"][0]
print({key: stats[key] for key in ("intervals", "promoted_bytes", "demoted_bytes", "refused_bytes")}, flush=True)
lib.end_hmkd(daemon)
lib.end_load(load)
lib.unload_module()
