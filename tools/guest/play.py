# SPDX-License-Identifier: MIT
"""A play inside a guest, as the host's side follows it: JSON lines, the last one saying why if it failed."""
import json
import subprocess
import sys
from typing import Any, Callable, Dict

from .waiting import Failed


def tell(event: str, **fields: Any) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


def run(play: Callable[[Dict[str, Any]], None]) -> None:
    """Play what the first argument, a JSON object, describes; exit with 1 after a line `failed` if it cannot go on."""
    try:
        play(json.loads(sys.argv[1]))
    except Failed as failure:
        tell("failed", text=str(failure))
        sys.exit(1)
    except (OSError, KeyError, subprocess.SubprocessError) as failure:
        tell("failed", text=f"{type(failure).__name__}: {failure}")
        sys.exit(1)
