# SPDX-License-Identifier: MIT
"""The lab: machines with any memory tiers, in QEMU, from a description file.

    import sys; sys.path.insert(0, "<checkout>/tools/lab.d")
    from lab import Guest, load_machine

    with Guest(load_machine("configs/lab/four-tier.yaml"), "6.12", timeout=300) as guest:
        outcome = guest.run(["numactl", "-H"])
"""
from .errors import LabError, UsageError
from .guest import Guest, run_once
from .machine import Machine, load_machine
from .outcome import Mark, Outcome

__all__ = ["Guest", "LabError", "Machine", "Mark", "Outcome", "UsageError", "load_machine", "run_once"]
