# SPDX-License-Identifier: MIT
"""One guest for several tests of one shape, one after the other, each with a root and a results folder of its own.

After each test the guest is put back (tests/e2e/putback.py). A splat, new taint or a leak found then is the test's failure. A guest
whose test failed, or that cannot be put back, ends, and whoever comes next gets a new one.
"""
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Dict, Iterator, Optional, Sequence, Tuple, Union

from lab import Guest, LabError, Machine
from lab.outcome import FAIL, LOST, PASS, SKIP, Outcome

PUTBACK = ("/usr/bin/python3", "-B", str(Path(__file__).resolve().parents[3] / "tests/e2e/putback.py"))
PUTBACK_SECONDS = 120.0
CANNOT, DEFECT = "NOT BACK: ", "DEFECT: "  # what putback.py says


@dataclass(frozen=True)
class Shape:
    """All that tests must have in common to share a guest; `machine` tells its nodes, `defines` a module of their own."""

    kernel: str
    clock: str
    qemu: str
    machine: str
    cmdline: str
    thp: str
    count: bool
    pages: bool
    samples: int
    llc: int
    cpu: str
    defines: str


@dataclass(frozen=True)
class Part:
    """What a guest is told of one test. `environment` may build something and raise LabError; `seconds` is the time limit."""

    command: Sequence[str]
    environment: Callable[[], Dict[str, str]]
    seconds: float
    put_back: bool = True


class Sitting:
    """Runs `parts`, all of one shape, with their results below `folder`."""

    def __init__(self, shape: Shape, machine: Callable[[], Machine], parts: Sequence[Part], folder: Path) -> None:
        self._shape, self._machine, self._parts, self._folder = shape, machine, parts, folder
        self._guest: Optional[Guest] = None

    def run(self) -> Iterator[Tuple[Outcome, Path]]:
        """Of each part its outcome, and the folder of its results, which is the caller's until the next one is asked for."""
        self._folder.mkdir(parents=True, exist_ok=True)
        share = Path(tempfile.mkdtemp(prefix=".guest.", dir=self._folder))
        try:
            ready = [_environment(part) for part in self._parts]  # before the guest looks: it keeps what it has seen of files
            for number, (part, env) in enumerate(zip(self._parts, ready)):
                results = share if self._shape.count else share / str(number)  # the plugin writes where the guest began
                results.mkdir(exist_ok=True)
                outcome = env if isinstance(env, Outcome) else self._outcome(number, part, env, share, results)
                if number + 1 == len(self._parts):
                    self._end()
                yield outcome, results
        finally:
            self._end()
            shutil.rmtree(share, ignore_errors=True)

    def _outcome(self, number: int, part: Part, env: Dict[str, str], share: Path, results: Path) -> Outcome:
        try:
            guest = self._guest = self._guest or self._booted(share, self._parts[number:])
            outcome = guest.run(part.command, env=env, timeout=part.seconds, own_root=str(results.relative_to(share)))
        except LabError as error:
            return Outcome(LOST, reason=str(error))
        kept = outcome.kind in (PASS, SKIP) and part.put_back and _put_back(guest, outcome, results)
        if not kept:
            self._end()
        if results != share:
            shutil.copy(guest.console, results)
        return outcome

    def _booted(self, share: Path, parts: Sequence[Part]) -> Guest:
        shape = self._shape
        guest = Guest(self._machine(), shape.kernel, timeout=sum(part.seconds + PUTBACK_SECONDS for part in parts),
                      results=share, count=shape.count, pages=shape.pages, samples=shape.samples, clock=shape.clock, qemu=shape.qemu,
                      extra_cmdline=shape.cmdline, thp=shape.thp, llc=shape.llc, cpu=shape.cpu).__enter__()
        if parts[0].put_back:
            noted = guest.run([*PUTBACK, "note"], timeout=PUTBACK_SECONDS)
            if noted.kind != PASS:
                guest.__exit__()
                raise LabError(f"the guest cannot be noted down: {noted.reason} {' '.join(noted.output[-3:])}")
        return guest

    def _end(self) -> None:
        guest, self._guest = self._guest, None
        if guest:
            guest.__exit__()


def _environment(part: Part) -> Union[Dict[str, str], Outcome]:
    try:
        return part.environment()
    except LabError as error:
        return Outcome(LOST, reason=str(error))


def _put_back(guest: Guest, outcome: Outcome, results: Path) -> bool:
    """Whether the guest is good for another test; what is wrong with it is told in `outcome`."""
    done = guest.run([*PUTBACK, "restore"], timeout=PUTBACK_SECONDS)
    (results / "putback.log").write_text("\n".join([*done.output, f"in {done.seconds:.1f} s"]) + "\n", encoding="utf-8")
    outcome.dmesg += done.dmesg
    if done.kind == PASS:
        return True
    wrong = [line for line in done.output if line.startswith((CANNOT, DEFECT))]
    defects = [line for line in wrong if line.startswith(DEFECT)]
    if defects or not wrong:
        outcome.kind, outcome.reason = FAIL, f"afterwards: {'; '.join(defects) or done.reason}"
        outcome.output += wrong or done.output
    else:
        outcome.reason = f"{outcome.reason} its guest ended: {'; '.join(wrong)}".strip()
    return False
