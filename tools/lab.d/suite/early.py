# SPDX-License-Identifier: MIT
"""The early warning: does the module build, load and unload on unstable's kernel? Told, never counted."""
from typing import List

from lab import LabError, load_machine, run_once
from lab.module import ROOT, build_module
from lab.outcome import PASS
from suite.case import Result


def warning() -> List[Result]:
    """One line, whatever happens; no result."""
    print(f"early warning [newest]: {_verdict()}", flush=True)
    return []


def _verdict() -> str:
    try:
        module = build_module("newest")
        machine = load_machine(ROOT / "configs/lab/four-tier.yaml")
        outcome = run_once(machine, "newest", ["sh", "-c", "uname -r && rmmod hmk"], modules=[module], timeout=60)
    except (LabError, OSError) as error:
        return f"not tried to the end: {error}"
    if outcome.kind == PASS:
        return f"hmk.ko builds, loads and unloads on {outcome.output[0]}"
    return f"{outcome.kind}: {outcome.reason}"
