# SPDX-License-Identifier: MIT
"""Runs one cell in a guest of its own and returns everything that was seen, as plain data."""
import json
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Callable, Dict, Optional, Type

from lab import Guest, Machine
from lab.outcome import PASS

from cells import LEFT_OUT, Cell
from workloads import WORKLOADS, Workload
from workloads.command import Command

PERIOD_SECONDS = 0.5     # of the guest's clock, between samples
BELIEVE_EVERY = 8        # samples between two looks at what the system believes
LLC = 1 << 20            # modelled; as small against tier 1 as on a server
HOST_SECONDS = 1500.0    # limit of one cell
INSIDE = Path(__file__).resolve().parent / "inside.py"
REQUIRED = ("ready", "started", "placed", "ended")


def clock(kernel: str) -> str:
    """6.1 does not boot by the instructions' clock on Debian 12's QEMU: there the guest's seconds are the host's."""
    return "host" if kernel == "6.1" else "instructions"


class CellFailed(Exception):
    """This cell gave no result; one line with the reason and where the logs are."""


def run(cell: Cell, machine: Machine, build: Path, module: Optional[Path], logs: Path,
        progress: Callable[[str], None], on_idle: Callable[[], None], daemon: Optional[Path] = None) -> Dict[str, Any]:
    """Boot, play, power off; `on_idle` about five times a second meanwhile. hmkd is of the build `daemon`, or of `build`.

    Raises CellFailed.
    """
    shutil.rmtree(logs, ignore_errors=True)
    program: Type[Workload] = WORKLOADS[cell.workload] if not cell.command else Command
    plan: Dict[str, Any] = {"workload": cell.workload, "command": list(cell.command), "settle_seconds": cell.settle_seconds,
            "system": cell.system, "knobs": cell.knobs, "page_size": cell.page_size,
            "window_seconds": cell.window_seconds, "period_seconds": PERIOD_SECONDS, "believe_every": BELIEVE_EVERY,
            "pages": cell.system == "first-touch" and len(program.application_cpus) == 1,  # counted of CPU 0 only
            "build": str(build), "daemon": str(daemon or build),
            "module": str(module) if cell.system.startswith("hm-keeper") else None}
    events: Dict[str, Any] = {"samples": []}
    booted = 0.0

    def take(line: str) -> None:
        try:
            event = json.loads(line)
            kind = event.pop("event")
        except (ValueError, AttributeError, KeyError, TypeError):
            return  # some program's message; it stays in the console's log
        event["host_seconds"], event["host_cpu_seconds"] = time.monotonic() - booted, guest.cpu_seconds()
        if kind == "sample":
            events["samples"].append(event)
            progress(f"{event['seconds']:.0f} of {cell.window_seconds:g} s")
        else:
            events[kind] = event
            progress(kind)

    thp = "always" if cell.page_size == "THP" else "never"
    ns_per_instruction = program.ns_per_instruction // cell.density
    with Guest(machine, cell.kernel, timeout=HOST_SECONDS, count=True, llc=LLC, thp=thp, clock=clock(cell.kernel),
               ns_per_instruction=ns_per_instruction, pages=plan["pages"], results=logs) as guest:
        booted = time.monotonic()
        outcome = guest.run(["/usr/bin/python3", "-B", str(INSIDE), json.dumps(plan)], cwd=Path.cwd(), on_line=take,
                            on_idle=on_idle)
        release = guest.kernel.release
    if outcome.kind != PASS or any(kind not in events for kind in REQUIRED):
        why = events.get("failed", {}).get("text") or outcome.reason or "ended without a result"
        (logs / "output.log").write_text("\n".join(outcome.output) + "\n", encoding="utf-8")
        raise CellFailed(f"{cell.key}: {why}; logs are in {logs}")
    told = asdict(cell)
    if events["started"]["left_out"]:
        told["knobs"][LEFT_OUT] = events["started"]["left_out"]
    return {"cell": told, "release": release, "clock": clock(cell.kernel), "application_cpus": list(program.application_cpus),
            "ns_per_instruction": ns_per_instruction, "host_seconds": outcome.seconds, "events": events, "paged": plan["pages"],
            "marks": [mark.data for mark in outcome.marks]}
