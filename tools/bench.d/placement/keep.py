# SPDX-License-Identifier: MIT
"""Finished cells, one file each, complete or absent: what is there need not be run again."""
import gzip
import json
import os
from pathlib import Path
from typing import Any, Dict

from cells import LEFT_OUT, Cell


class Store:
    """A folder of results and of the logs of the runs that gave them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def _file(self, cell: Cell) -> Path:
        return self.folder / f"{cell.key}.json.gz"

    def logs(self, cell: Cell) -> Path:
        return self.folder / "logs" / cell.key

    def has(self, cell: Cell) -> bool:
        """Whether it ran, and with these knobs: settings change, and what ran with others is another cell."""
        if not self._file(cell).exists():
            return False
        knobs = self.read(cell)["cell"]["knobs"]
        return {name: value for name, value in knobs.items() if name != LEFT_OUT} == cell.knobs

    def drop(self, cell: Cell) -> None:
        self._file(cell).unlink(missing_ok=True)

    def read(self, cell: Cell) -> Dict[str, Any]:
        return json.loads(gzip.decompress(self._file(cell).read_bytes()))

    def write(self, cell: Cell, run: Dict[str, Any]) -> None:
        partial = self._file(cell).with_suffix(".part")
        partial.write_bytes(gzip.compress(json.dumps(run).encode(), mtime=0))
        os.replace(partial, self._file(cell))
