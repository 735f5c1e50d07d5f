# SPDX-License-Identifier: MIT
"""What an experiment of the paper is here: the runs it takes, and a pure function from their results to lines. Pure."""
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Tuple

Results = Mapping[Any, Any]  # what is there, by run
NOTHING = 0.5                # percent; nearer to 0 than this, a gain points nowhere
EQUAL = 5.0                  # percent; as near as this agrees with a paper that says there is no difference


@dataclass(frozen=True)
class Line:
    """One figure of the paper beside ours."""

    what: str
    paper: str                    # as it stands there
    ours: Optional[str]           # None: not run
    agrees: Optional[bool] = None  # in direction; None: the paper says nothing to compare with
    unlike: str = ""              # why it does not

    @property
    def is_explained(self) -> bool:
        return self.ours is not None and (self.agrees is not False or bool(self.unlike))


@dataclass(frozen=True)
class Experiment:
    """A row of docs/paper.md. `lacks`: what of it cannot be had here, and why."""

    number: str
    figure: str
    title: str
    scaled: str
    runs: Tuple[Any, ...]
    lines: Callable[[Results], List[Line]]
    lacks: str = ""

    @property
    def minutes(self) -> float:
        """Estimated, when nothing is kept."""
        return sum(run.minutes for run in self.runs)


def gain(what: str, paper: float, ours: Optional[float], unlike: str = "", least: bool = False) -> Line:
    """A percentage: positive where HM-Keeper is ahead. `least`: the paper's is a lower bound."""
    told = f"{'at least ' if least else ''}{paper:+g} %"
    if ours is None:
        return Line(what, told, None)
    agrees = abs(ours) <= EQUAL if abs(paper) <= NOTHING else ours * paper > 0 and abs(ours) >= NOTHING
    return Line(what, told, f"{ours:+.1f} %", agrees, unlike)


def ahead(what: str, paper: str, ours: Optional[float], unlike: str = "") -> Line:
    """A gain of which the paper gives no number."""
    return Line(what, paper, None if ours is None else f"{ours:+.1f} %", None if ours is None else ours >= NOTHING, unlike)


def claim(what: str, paper: str, ours: Optional[str], agrees: Optional[bool], unlike: str = "") -> Line:
    """Words or several figures; whether they agree is the caller's to say, where they were run."""
    return Line(what, paper, ours, None if ours is None else agrees, unlike)


def verdict(lines: List[Line]) -> str:
    """One phrase for the table on top."""
    missing = sum(line.ours is None for line in lines)
    judged = [line for line in lines if line.agrees is not None]
    agreeing = sum(bool(line.agrees) for line in judged)
    if missing == len(lines):
        return "not run"
    told = f"{agreeing} of {len(judged)} in the paper's direction" if judged else "nothing of it points anywhere"
    return f"{told}; {missing} not run" if missing else told
