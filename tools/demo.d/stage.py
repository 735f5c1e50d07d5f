# SPDX-License-Identifier: MIT
"""Boots the guest, runs inside.py in it, shows its intervals as they come and collects them."""
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List

from lab import Guest, Machine, load_machine
from lab.outcome import PASS

import table
from plan import Plan


class StageError(Exception):
    """The demo could not be played to its end: what, where, what to do."""


@dataclass
class Show:
    """Everything that was measured."""

    machine: Machine
    plan: Plan
    release: str
    rows: List[Dict[str, Any]] = field(default_factory=list)  # one per interval
    facts: Dict[str, Any] = field(default_factory=dict)       # by event: filled, settled, checked, ended
    failure: str = ""
    dmesg_problem: str = ""

    def measured(self, mode: str) -> List[Dict[str, Any]]:
        return [row for row in self.rows if row["mode"] == mode and row["is_measured"]]


def run(root: Path, series: str, build: Path, module: Path, plan: Plan, out: Path) -> Show:
    """One guest, one play. Raises StageError when there is nothing to judge."""
    machine = load_machine(root / "configs/lab/four-tier.yaml")
    logs = out / "guest"
    with Guest(machine, series, timeout=plan.guest_seconds, count=True, llc=plan.llc_bytes, results=logs) as guest:
        show = Show(machine, plan, guest.kernel.release)
        settings = {**plan.for_guest(), "module": str(module), "build": str(build)}
        say(f"kernel {show.release}, {machine.memory >> 20} MiB in {len(machine.nodes)} nodes, modelled cache "
            f"{plan.llc_bytes >> 10} KiB")
        command = ["/usr/bin/python3", "-B", str(Path(__file__).parent / "inside.py"), json.dumps(settings)]
        outcome = guest.run(command, on_line=lambda line: take(show, line))
    if outcome.kind != PASS:
        why = show.failure or outcome.reason
        if not outcome.reason.startswith("kernel log: ") or "ended" not in show.facts:
            raise StageError(f"{why}; logs are in {logs}")
        show.dmesg_problem = outcome.reason
    if "ended" not in show.facts:
        raise StageError(f"the guest's part ended without a result; logs are in {logs}")
    return show


def take(show: Show, line: str) -> None:
    """One line from the guest: a JSON event, or a message of some program."""
    try:
        event = json.loads(line)
        kind = event.pop("event")
    except (ValueError, AttributeError, KeyError, TypeError):
        print(f"  | {line}", file=sys.stderr, flush=True)
        return
    if kind == "interval":
        if not show.rows:
            print("\n".join(table.header(show.machine)), flush=True)
        show.rows.append(event)
        print(table.row(event), flush=True)
    elif kind == "say":
        say(event["text"])
    elif kind == "failed":
        show.failure = event["text"]
    else:
        show.facts[kind] = event


def say(text: str) -> None:
    print(f"demo: {text}", flush=True)
