# SPDX-License-Identifier: MIT
"""Finished runs of all kinds: cells as tools/bench placement keeps them, calls as one JSON file each with what was called."""
import json
import os
from pathlib import Path
from typing import Any, Dict, Iterable

import keep
from needed import Calls, Guest


class Shelf:
    """A folder of results; what is there need not be run again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def cells(self, machine: str) -> keep.Store:
        return keep.Store(self.folder / machine)

    def has(self, run: Any) -> bool:
        """Whether it ran as it is asked for now."""
        if isinstance(run, Guest):
            return self.cells(run.machine).has(run.cell)
        return self._file(run).exists() and self._kept(run)["words"] == [list(words) for words in run.words]

    def read(self, run: Any) -> Any:
        """A cell's run, or the lists that the calls gave, in their order."""
        return self.cells(run.machine).read(run.cell) if isinstance(run, Guest) else self._kept(run)["results"]

    def commit(self, run: Any) -> str:
        return self.read(run)["commit"] if isinstance(run, Guest) else self._kept(run)["commit"]

    def write(self, run: Calls, commit: str, results: Any) -> None:
        partial = self._file(run).with_suffix(".part")
        partial.write_text(json.dumps({"words": run.words, "commit": commit, "results": results}, indent=1) + "\n", encoding="utf-8")
        os.replace(partial, self._file(run))

    def results(self, runs: Iterable[Any]) -> Dict[Any, Any]:
        """Of those that are there."""
        return {run: self.read(run) for run in dict.fromkeys(runs) if self.has(run)}

    def _file(self, run: Calls) -> Path:
        return self.folder / f"{run.name}.json"

    def _kept(self, run: Calls) -> Dict[str, Any]:
        return json.loads(self._file(run).read_text(encoding="utf-8"))
