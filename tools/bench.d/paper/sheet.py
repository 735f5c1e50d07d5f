# SPDX-License-Identifier: MIT
"""The experiments as text, as objects and as docs/paper.md. Pure."""
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from experiment import Experiment, Line, verdict

Rows = Sequence[Tuple[Experiment, List[Line]]]
HEAD = """<!-- SPDX-License-Identifier: MIT -->
# The paper's experiments, and ours beside them

Written by `tools/bench paper --report`; not edited by hand. Every experiment of the HM-Keeper paper, its figure and what its twin
gives here. Nothing of this was measured on hardware: guests run under QEMU, accesses are counted one by one, times are **modelled**
(`tools/lab.d/README.md`), seconds are of a clock that counts instructions. What is compared is the direction; sizes are of another
machine, three hundred times as large. Gains are percent more work in the same modelled time, settled (last quarter of the window);
work is counted in the application's own instructions, for redis-server in operations. Guests ran once each. A gain below 0.5 % points
nowhere; where the paper sees no difference, 5 % either way is none. HM-Keeper runs with the paper's defaults, scaled
(`tools/bench.d/README.md`).
"""


def text(rows: Rows) -> str:
    lines = []
    for experiment, told in rows:
        lines.append(f"{experiment.number} {experiment.title}: {verdict(told)}")
        lines += [f"  {line.what}: paper {line.paper}; ours {line.ours or 'not run'}{_mark(line)}" for line in told]
    return "\n".join(lines)


def objects(rows: Rows) -> List[Dict[str, Any]]:
    """`number`, `figure`, `title`, `scaled`, `lacks`, `verdict` and `lines`: `what`, `paper`, `ours` (null: not run), `agrees`, `unlike`."""
    return [{"number": experiment.number, "figure": experiment.figure, "title": experiment.title, "scaled": experiment.scaled,
             "lacks": experiment.lacks, "verdict": verdict(told),
             "lines": [{"what": line.what, "paper": line.paper, "ours": line.ours, "agrees": line.agrees,
                        "unlike": line.unlike if line.agrees is False else ""} for line in told]} for experiment, told in rows]


def markdown(rows: Rows, commits: Mapping[str, Sequence[str]]) -> str:
    """`commits` are those of its runs, by number."""
    every = sorted({commit for own in commits.values() for commit in own})
    parts = [HEAD, f"Commit: {', '.join(every) or 'none'}.", "", "| | | ours |", "|---|---|---|"]
    parts += [f"| [{one.number}](#{_anchor(one)}) | {one.title} | {verdict(told)} |" for one, told in rows]
    for experiment, told in rows:
        parts += ["", f"## {_heading(experiment)}", "", f"*{experiment.figure or 'Asked of us, not of the paper'}.* {experiment.scaled} Commit: {', '.join(commits[experiment.number]) or 'none'}.", "",
                  "| | paper | ours | |", "|---|---|---|---|"]
        parts += [f"| {line.what} | {line.paper} | {line.ours or 'not run'} | {_judged(line)} |" for line in told]
        reasons = dict.fromkeys(line.unlike for line in told if line.agrees is False and line.unlike)
        parts += ["", *(f"Why another direction: {reason}." for reason in reasons)] if reasons else []
        parts += ["", f"Not to be had here: {experiment.lacks}"] if experiment.lacks else []
    return "\n".join(parts) + "\n"


def _heading(experiment: Experiment) -> str:
    return f"{experiment.number}: {experiment.title}"


def _anchor(experiment: Experiment) -> str:
    """As GitHub makes it from the heading."""
    kept = "".join(letter for letter in _heading(experiment).lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


def _judged(line: Line) -> str:
    if line.agrees is None:
        return ""
    return "same direction" if line.agrees else "OTHER DIRECTION"


def _mark(line: Line) -> str:
    return f"  {_judged(line)}" if line.agrees is False else ""
