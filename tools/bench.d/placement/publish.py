# SPDX-License-Identifier: MIT
"""What may stand on the published page: the cells of one commit, which is in the history as it was built."""
from pathlib import Path
from typing import Optional, Sequence, Set

from lab.errors import LabError

DIRTY = "+"


def refuse(page: Optional[Path], published: Path, commits: Sequence[str]) -> None:
    """Raise LabError if `page` is the published one and the cells' commits are several, or changed since they were committed."""
    if page is None or page.resolve() != published.resolve():
        return
    different: Set[str] = set(commits)
    changed = sorted(commit for commit in different if commit.endswith(DIRTY) or commit == "unknown")
    if changed:
        raise LabError(f"{page}: not written: cells ran on {', '.join(changed)}, which is no commit as it was built; commit, and run "
                       "them --again, or write another file")
    if len(different) > 1:
        raise LabError(f"{page}: not written: its cells are of {len(different)} commits ({', '.join(sorted(different))}); run them --again "
                       "on one, with another --out, or write another file")
