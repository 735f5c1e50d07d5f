# SPDX-License-Identifier: MIT
"""Which tests a run takes, and by which reason it leaves the others out.

The gate is what every change must pass; all is what else there is, for the night and before a release.
"""
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Dict, Iterable, List, Optional, Sequence, Tuple

from lab.debug import FRAGMENTS
from lab.kernels import DEBUG, GATES, is_cached
from suite import e2e, inputs, torture
from suite.e2e import EndToEnd
from suite.torture import Torture

#: Tests of a debug kernel that the gate runs when that kernel is there, with the seconds of those that have a length.
CORE: Dict[str, Optional[int]] = {"31": 5, "62": None}

FOR_THE_NIGHT = "for tools/test --all"
OTHER_KERNELS = "on a kernel their test is not for (its header `kernels:`)"
NOT_BUILT = f"on a kernel that is not built here (tools/lab kernel {DEBUG} builds it, in about 10 minutes)"
UNTOUCHED = "untouched by the change"


@dataclass
class Choice:
    """Guests and rows to run, and the names of those left out by reason."""

    guests: List[EndToEnd] = field(default_factory=list)
    rows: List[Torture] = field(default_factory=list)
    left_out: Dict[str, List[str]] = field(default_factory=dict)

    @property
    def tests(self) -> "List[EndToEnd | Torture]":
        """All that run in guests, or search for input that crashes a parser."""
        return [*self.guests, *self.rows]

    def leave_out(self, reason: str, names: Iterable[str]) -> None:
        found = list(names)
        if found:
            self.left_out.setdefault(reason, []).extend(found)


def kernels(named: Optional[str], everything: bool) -> Tuple[str, ...]:
    """The kernels of a run."""
    return (named,) if named else (*GATES, *FRAGMENTS) if everything else GATES


def choose(root: Path, named: Optional[str], everything: bool) -> Choice:
    """The gate, or all, on the kernel `named` or on all that are for it."""
    chosen, wanted = Choice(), kernels(named, everything)
    rows = torture.collect(root, wanted)
    tests = [test for kernel in wanted for test in _on(root, kernel, whole=kernel in GATES or (bool(named) and everything))]
    gate = {(number(test), test.kernel) for test in tests if in_gate(test) and test.kernel in GATES}
    chosen.rows = [row for row in rows if everything or (row.row.test, row.kernel) in gate]  # as its test is
    chosen.guests = torture.without([test for test in tests if everything or in_gate(test)], chosen.rows)
    chosen.leave_out(FOR_THE_NIGHT, [row.name for row in rows if row not in chosen.rows])
    chosen.leave_out(FOR_THE_NIGHT, [test.name for test in torture.without(tests, rows) if test not in chosen.guests])
    if not named and not everything:
        _add_core(root, chosen)
    chosen.leave_out(OTHER_KERNELS, _for_other_kernels(root, wanted))
    return chosen


def _on(root: Path, kernel: str, whole: bool) -> List[EndToEnd]:
    """Every test of a kernel, or the short core. Of KCSAN's kernel without 62: it has no fault injection."""
    tests = e2e.collect(root, (kernel,))
    if whole:
        return tests
    return [quick(test) for test in tests if number(test) in CORE and (number(test) != "62" or kernel == DEBUG)]


def _add_core(root: Path, chosen: Choice) -> None:
    core = _on(root, DEBUG, whole=False)
    if is_cached(DEBUG):
        chosen.guests += core
    else:
        chosen.leave_out(NOT_BUILT, [test.name for test in core])


def in_gate(test: EndToEnd) -> bool:
    """By its headers `gate:` and `suite:`; QEMU of backports and a second clock are for the night."""
    gate = test.needs.get("gate", test.needs.get("suite", " ".join(GATES))).split()
    first_clock = test.needs.get("clock", test.clock).split()[0]
    return (test.kernel in gate or test.kernel not in GATES) and test.qemu == "system" and test.clock == first_clock


def number(test: EndToEnd) -> str:
    return test.folder.name.partition("-")[0]


def shows(test: "EndToEnd | Torture") -> str:
    """The first line of what it says of itself."""
    if isinstance(test, Torture):
        return f"{test.row.quick or 'a few'} s of the torture row: {test.row.unit}"
    text = test.script.read_text(encoding="utf-8")
    said = re.search(r'^"""(.+?)$', text, re.M) or re.search(r"^# (?![a-z]+:|SPDX)(.+)$", text, re.M)
    return said[1].rstrip('"') if said else "says nothing of itself"


def needs_build(test: EndToEnd) -> bool:
    """Whether it runs programs of ours, or our module: all do that do not say `module: no` and never name one."""
    if test.needs.get("module", "yes") == "yes":
        return True
    return re.search(r"HMK_BUILD|lib\.(build|start_|Touch|ask_hmkd)", test.script.read_text(encoding="utf-8")) is not None


def quick(test: EndToEnd) -> EndToEnd:
    return replace(test, length=CORE[number(test)])


def _for_other_kernels(root: Path, wanted: Sequence[str]) -> List[str]:
    """Pairs of a test and one of the gates' kernels that no run has."""
    folders = {test.folder.name: test.needs["kernels"].split() for kernel in (*GATES, *FRAGMENTS)
               for test in e2e.collect(root, (kernel,)) if "kernels" in test.needs}
    return [f"e2e/{name} [{kernel}]" for name, able in sorted(folders.items()) for kernel in wanted
            if kernel in GATES and kernel not in able]


def matching(root: Path, named: Optional[str], pattern: "re.Pattern[str]") -> Choice:
    """What --only names: of every tier, on the kernel named or on those a run takes by itself."""
    rows = [row for row in torture.collect(root, (named,) if named else GATES) if pattern.search(row.name)]
    guests = [test for test in e2e.collect(root, (named,) if named else None) if pattern.search(test.name)]
    return Choice(guests, rows)


def keep_touched(chosen: Choice, changed: Sequence[str]) -> None:
    """Leave out what the change does not touch."""
    guests = [test for test in chosen.guests if inputs.touched(guest_inputs(test), changed)]
    rows = [row for row in chosen.rows if inputs.touched(row_inputs(row), changed)]
    kept = Choice(guests, rows).tests
    chosen.leave_out(UNTOUCHED, [test.name for test in chosen.tests if test not in kept])
    chosen.guests, chosen.rows = guests, rows


def guest_inputs(test: EndToEnd) -> inputs.Prefixes:
    """Files that its verdict depends on."""
    return (*inputs.own(test.folder), *(inputs.GUEST if needs_build(test) else inputs.BARE_GUEST))


def row_inputs(row: Torture) -> inputs.Prefixes:
    """The same of a row."""
    folders = (row.root / "tests/e2e").glob(f"{row.row.test}-*")
    return (*(prefix for folder in folders for prefix in inputs.own(folder)), *inputs.ROW)
