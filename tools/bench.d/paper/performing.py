# SPDX-License-Identifier: MIT
"""Runs what is missing: the simulator and the other benches first, which take seconds, then the guests of each machine."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, List, Sequence

import build
import main as placement
from lab import LabError
from lab.build import user_space
from needed import ROOT, Calls, Guest
from shelf import Shelf
from workloads import WORKLOADS


def perform(runs: Sequence[Any], shelf: Shelf, args: argparse.Namespace) -> List[str]:
    """The reasons of those that failed. Raises LabError where nothing can be built."""
    missing = [run for run in dict.fromkeys(runs) if args.again or not shelf.has(run)]
    targets = sorted({run.target for run in missing if isinstance(run, Calls)})
    if targets:
        built = user_space(ROOT, shelf.folder, targets)
    failed = []
    for run in missing:
        if isinstance(run, Calls):
            print(f"bench: {run.name}: {len(run.words)} calls of tools/{run.program}", file=sys.stderr, flush=True)
            try:
                shelf.write(run, build.commit(ROOT), [_call(run, words, built) for words in run.words])
            except LabError as error:
                failed.append(str(error))
    guests = [run for run in missing if isinstance(run, Guest)]
    _prepare(guests, shelf)
    for machine in dict.fromkeys(run.machine for run in guests):
        cells = [run.cell for run in guests if run.machine == machine]
        how = argparse.Namespace(machine=ROOT / f"configs/lab/{machine}.yaml", jobs=args.jobs, again=True)
        failed += placement.run_all(how, cells, shelf.cells(machine))
    return failed


def _call(run: Calls, words: Sequence[str], built: Path) -> Any:
    """What one call wrote. That a bench misses goals of its own is nothing to us. Raises LabError where it wrote nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "result.json"
        done = subprocess.run([str(ROOT / "tools" / run.program), *words, "--json", str(file)], check=False, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, "HMK_BUILD": str(built)})
        if not file.exists():
            last = done.stderr.strip().splitlines()[-1:]
            raise LabError(f"tools/{run.program} {' '.join(words)}: no result: {''.join(last) or f'exit code {done.returncode}'}")
        return json.loads(file.read_text(encoding="utf-8"))


def _prepare(guests: Sequence[Guest], shelf: Shelf) -> None:
    """What placement builds for a workload of its own, for the commands that are one of its programs."""
    kinds = [WORKLOADS[name] for name in dict.fromkeys(run.needs for run in guests if run.needs)]
    if kinds:
        built = user_space(ROOT, shelf.folder, ["hmkd", *sorted({program for kind in kinds for program in kind.programs})])
        for kind in kinds:
            kind.host_prepare(built)
