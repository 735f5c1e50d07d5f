#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# timeout: 240
"""A target that is killed while it is profiled tears its memory down itself, before it can be waited for: no worker does."""
import sys

sys.path.insert(0, sys.path[0] + "/..")
import lib  # noqa: E402

ROUNDS = 40

lib.load_module()
lib.trace_module()
(lib.TRACING / "kprobe_events").write_text("p:hmk_exit exit_mmap\n", encoding="ascii")
(lib.TRACING / "events/kprobes/hmk_exit/enable").write_text("1", encoding="ascii")
print(lib.run(lib.helper("ends"), ROUNDS).stdout, flush=True)
(lib.TRACING / "events/kprobes/hmk_exit/enable").write_text("0", encoding="ascii")
ends = lib.traced("hmk_exit")
by_worker = [line for line in ends if line.lstrip().startswith(("kworker", "hmk/"))]
lib.check(len(ends) >= ROUNDS, f"{len(ends)} address spaces ended")
lib.check(not by_worker, f"{len(by_worker)} of them in a worker")
(lib.TRACING / "kprobe_events").write_text("", encoding="ascii")
lib.unload_module()
