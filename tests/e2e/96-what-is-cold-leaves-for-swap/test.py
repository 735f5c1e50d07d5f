#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# gate: 6.12
# timeout: 300
# clock: instructions
"""On a machine with one node and zram, of a program that uses a quarter of its memory at least 80 % of the rest is in swap within
ten intervals, and hardly anything comes back; in `track-only` that is advice, and nothing leaves. When the program uses all of
its memory it comes back whole, page-out stops, and from then on sends a probe now and then. No read is wrong."""
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

PAGE = 4096
SOON = 10  # intervals
INTERVAL = 3  # seconds: an instruction takes ten times as long as on a machine of today
AFTER = 3  # intervals until something is cold
PROBE = 8 << 20


class Program:
    """part"""

    def __init__(self) -> None:
        self.process = subprocess.Popen([lib.helper("part")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.pid, self.pages = (int(word) for word in self.process.stdout.readline().split())

    def tell(self, letter: str) -> int:
        """How many reads were wrong so far."""
        self.process.stdin.write(letter + "\n")
        wrong, passes = (int(word) for word in self.process.stdout.readline().split())
        lib.intact(wrong == 0, f"{wrong} words were wrong in {passes} passes")
        return passes

    def passes(self, more: int) -> None:
        """Wait until it has read what it uses so often."""
        end = self.tell("c") + more
        lib.wait_for(lambda: look() and self.tell("c") >= end, 120, f"{more} more passes")


def look() -> dict:
    """Of the program, from hmkd; empty while nobody asks for it. Looking costs the guest's clock."""
    time.sleep(1)
    row = lib.ask_hmkd("stats")["targets"][0]
    print(row["intervals"], row["page_out"], flush=True)
    return {name: value for name, value in row["page_out"].items() if value is not None}


(Path("/sys/kernel/mm/transparent_hugepage") / "enabled").write_text("never", encoding="ascii")
lib.swap_in_memory(512 << 20)
lib.load_module()
program = Program()
cold = program.pages * 3 // 4 * PAGE
daemon = lib.start_hmkd(f"mode: track-only\ninterval: {INTERVAL}s\noverhead: 20%\n"
                        f"page_out_after: {AFTER * INTERVAL}s\nattach: [{program.pid}]\n", Path("/run/hmkd.log"))
lib.wait_for(lambda: lib.intervals() > AFTER, 30, "it is watched")
lib.check(look() == {}, "nobody asks for it")
lib.ask_hmkd("set", "page_out", "yes")
lib.wait_for(lambda: look().get("cold_bytes", 0) > 0.8 * cold, 60, "most of what is not used is cold")
lib.check(look()["paged_out_bytes"] == look()["swapped_bytes"] == 0, "and stays, while it is only watched")
lib.ask_hmkd("set", "page_out", "no")
lib.wait_for(lambda: look() == {}, 30, "what is known of it is forgotten")

before = lib.intervals()
lib.ask_hmkd("set", "mode", "manage")
lib.ask_hmkd("set", "page_out", "yes")
lib.wait_for(lambda: look().get("paged_out_bytes", 0) >= 0.8 * cold, 60, "80 % of the rest is paged out")
took = lib.intervals() - before
lib.check(took <= SOON, f"within {took} intervals of {SOON}")
lib.wait_for(lambda: look() and lib.intervals() >= before + took + 10, 60, "ten more intervals, in which nobody asks it")
seen = look()
lib.check(seen["refaults_per_s"] <= 0.1, f"{seen['refaults']} pages came back, {seen['refaults_per_s']} a second")
lib.check(seen["swapped_bytes"] >= 0.8 * cold, "it is still there")

program.tell("a")
lib.wait_for(lambda: look()["swapped_bytes"] < PROBE, 120, "all comes back when it is used")
lib.wait_for(lambda: look()["resting"], 30, "page-out rests")
sent = look()["paged_out_bytes"]
program.passes(50)
more = look()["paged_out_bytes"] - sent
lib.check(more <= 2 * PROBE, f"{more >> 20} MiB were sent since, a probe or two")
program.tell("c")
lib.end_hmkd(daemon)
program.process.kill()
program.process.wait()
lib.run("swapoff", "/dev/zram0")
lib.unload_module()
