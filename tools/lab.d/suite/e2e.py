# SPDX-License-Identifier: MIT
"""End-to-end tests: tests/e2e/NN-what-it-shows/test.py or test.sh, run inside a guest.

A test says in comments at its top what it needs, for example

    # kernels: 6.1 6.12      gates it runs on (default: both)
    # suite: 6.12            of these, those of a run that names none (default: all; `none`)
    # gate: 6.12             of these, those of a change's gate; the others are for --all (default: all; `none`)
    # timeout: 120           seconds after boot (default: 120)
    # count: yes             with the counting plugin (default: no)
    # pages: yes             which counts per page too (default: no)
    # samples: 997           of so many loads that memory serves, one becomes a record of perf's (default: none)
    # module: no             does not need hmk.ko (default: yes, path in $HMK_MODULE, not loaded)
    # packages: trinity      programs it runs that not every run needs
    # selftests: yes         the kernel's own mm tests, folder in $HMK_SELFTESTS (default: no)
    # defines: HMK_TEST_SWITCHES   a second hmk.ko built with these, path in $HMK_VARIANT
    # cmdline: quiet         more words for the kernel command line
    # thp: always            transparent huge pages (default: madvise)
    # llc: 2097152           bytes of the modelled cache
    # cpu: max,la57          a CPU model of QEMU's (default: qemu64)
    # clock: host instructions   once with each of these, in $HMK_CLOCK, on the machine's own QEMU (default: host)
    # qemu: system backports     once with each of these, by the host's clock (default: system)
    # seconds: 10            how long it keeps its load up, in $HMK_SECONDS; HMK_E2E_SECONDS on the
                             host says otherwise. The time limit grows by it.
    # alone: yes             leaves what putback.py cannot put back: a guest of its own (default: shared, see sitting.py)

and may bring machine.yaml (default: configs/lab/four-tier.yaml) and *.c (compiled into $HMK_TEST_BIN).
"""
import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Dict, List, Optional, Tuple

from lab import LabError, load_machine
from lab.apt import install_missing
from lab.build import first_error
from lab.cache import locked
from lab.debug import FRAGMENTS
from lab.emulator import BOOT_BY_SPINNING
from lab.kernels import GATES
from lab.machine import Machine
from lab.module import build_module
from lab.outcome import FAIL, LOST, PASS, SKIP, Outcome
from lab.plugin import DEFAULT_LLC
from lab.selftests import selftests
from lab.splat import broken, splats
from suite.case import FAILED, PASSED, SKIPPED, Result
from suite.sitting import DEFECT, Part, Shape, Sitting

KEYS = ("kernels", "suite", "gate", "timeout", "count", "pages", "samples", "module", "packages", "selftests", "defines", "cmdline", "thp",
        "llc", "cpu", "clock", "qemu", "seconds", "alone")
PLENTY = 1 << 62    # bytes of a host on which every machine fits
HEADER_LINES = 30
SHOWN_LINES = 25
LOSS = re.compile(r"^(NOT OK: |\w+: )?LOST: ")  # as lib.intact(), a check and errx() print it


@dataclass(frozen=True)
class EndToEnd:
    """One test on one kernel."""

    root: Path
    folder: Path
    script: Path
    kernel: str
    needs: Dict[str, str]
    clock: str = "host"
    qemu: str = "system"
    length: Optional[int] = None      # seconds, whatever HMK_E2E_SECONDS says
    wrapper: Tuple[str, ...] = ()     # what runs the test's own command inside

    @property
    def _variant(self) -> List[str]:
        """The kernel, and of clock and QEMU what is not as usual."""
        return [self.kernel, *(value for value in (self.clock, self.qemu) if value not in ("host", "system"))]

    @property
    def name(self) -> str:
        return f"e2e/{self.folder.name} [{' '.join(self._variant)}]"

    @property
    def results(self) -> Path:
        return self.root / "build/e2e-results" / ".".join([self.folder.name, *self._variant])

    @property
    def failed(self) -> Path:
        """As results, of the last run that failed."""
        return self.results.with_name(self.results.name + ".failed")

    def inside(self) -> "EndToEnd":
        """What runs in the guest, as Torture tells it of a row."""
        return self

    @property
    def alone(self) -> bool:
        """Whether it shares its guest with no other test."""
        return self.needs.get("alone") == "yes" or self.needs.get("count") == "yes" or self.kernel in ("newest", *FRAGMENTS)

    @property
    def shape(self) -> Shape:
        """Tests of the same one can share a guest. Raises LabError for a machine file that is wrong."""
        machine = _machine(self.root, self.folder, PLENTY)
        return Shape(self.kernel, self.clock, self.qemu, repr((machine.nodes, machine.distances)), self.needs.get("cmdline", ""),
                     self.needs.get("thp", "madvise"), self.needs.get("count") == "yes", self.needs.get("pages") == "yes",
                     int(self.needs.get("samples", "0")), int(self.needs.get("llc", DEFAULT_LLC)), self.needs.get("cpu", ""), self.needs.get("defines", ""))

    @property
    def part(self) -> Part:
        """What a guest is told of it."""
        interpreter = ["/usr/bin/python3", "-B"] if self.script.suffix == ".py" else ["/bin/sh"]
        return Part((*self.wrapper, *interpreter, str(self.script)), self._environment,
                    float(self.needs.get("timeout", "120")) + self._host_seconds(), put_back=not self.alone)

    def machine(self) -> Machine:
        """The test's own machine, or that of all. Raises LabError."""
        return _machine(self.root, self.folder)

    def run(self) -> Result:
        """Compile, build, boot, run, in a guest of its own; whatever cannot be done is a failure of this test."""
        with locked(self.results):
            return self.told(self.outcome())

    def told(self, outcome: Outcome) -> Result:
        """The line, and what is shown below a failure."""
        if outcome.kind == PASS:
            return Result(self.name, PASSED, outcome.seconds, outcome.reason)
        if outcome.kind == SKIP:
            return Result(self.name, SKIPPED, outcome.seconds, outcome.reason)
        kind = "" if outcome.kind == FAIL else "lost guest: "
        return Result(self.name, FAILED, outcome.seconds, kind + outcome.reason,
                      tuple(outcome.output[-SHOWN_LINES:] + outcome.dmesg[-SHOWN_LINES:]), is_grave(outcome))

    def outcome(self) -> Outcome:
        """All there is to know of one run, into `results`; the caller holds their lock."""
        began = time.monotonic()
        try:
            shape = self.shape
        except LabError as error:
            return Outcome(LOST, reason=str(error))
        for outcome, folder in Sitting(shape, self.machine, [self.part], self.results.parent).run():
            self.keep(outcome, folder)
        outcome.seconds = time.monotonic() - began
        return outcome

    def keep(self, outcome: Outcome, folder: Path) -> None:
        """Make `folder` the results of the last run, and of the last that failed if it has; the caller holds their lock."""
        shutil.rmtree(self.results, ignore_errors=True)
        folder.rename(self.results)
        (self.results / "output.log").write_text(outcome.log(), encoding="utf-8")
        (self.results / "dmesg.log").write_text("\n".join(outcome.dmesg) + "\n", encoding="utf-8")
        if outcome.kind not in (PASS, SKIP):
            shutil.rmtree(self.failed, ignore_errors=True)
            shutil.copytree(self.results, self.failed, symlinks=True)

    def _seconds(self) -> int:
        if "seconds" not in self.needs:
            return 0
        return self.length if self.length is not None else int(os.environ.get("HMK_E2E_SECONDS", self.needs["seconds"]))

    def _host_seconds(self) -> int:
        """What a busy second of the instructions' clock may take here."""
        return self._seconds() * (1 if self.clock == "host" else 5)

    def _environment(self) -> Dict[str, str]:
        env = {"HMK_BUILD": str(self.root / "build/release"), "HMK_SECONDS": str(self._seconds()), "HMK_CLOCK": self.clock,
               "HMK_TEST_BIN": str(compile_helpers(self.root, self.folder))}
        if self.needs.get("module", "yes") == "yes":
            env["HMK_MODULE"] = str(build_module(self.kernel, (), self.root))
        install_missing(self.needs.get("packages", "").split(), self.name)
        if self.needs.get("selftests") == "yes":
            env["HMK_SELFTESTS"] = str(selftests())
        if "defines" in self.needs:
            env["HMK_VARIANT"] = str(build_module(self.kernel, self.needs["defines"].split(), self.root))
        return env


def is_grave(outcome: Outcome) -> bool:
    """Whether memory was not whole, leaked, or the kernel broke: no test that passes later excuses that."""
    return any(line.startswith(DEFECT) or LOSS.search(line) for line in outcome.output) or broken(splats(outcome.dmesg))


def collect(root: Path, kernels: Optional[Tuple[str, ...]] = None) -> List[EndToEnd]:
    """All tests on all kernels they are for; `kernels` given explicitly wins over the gates."""
    found = []
    for folder in sorted((root / "tests/e2e").iterdir()):
        scripts = [folder / name for name in ("test.py", "test.sh") if (folder / name).is_file()]
        if not re.match(r"\d\d-", folder.name) or not scripts:
            continue
        needs = header(scripts[0].read_text(encoding="utf-8"), str(scripts[0]))
        able = needs.get("kernels", " ".join(GATES)).split()
        for kernel in kernels or needs.get("suite", " ".join(GATES)).split():
            if kernel in ("newest", *FRAGMENTS) or kernel in able:
                found += [EndToEnd(root, folder, scripts[0], kernel, needs, clock, qemu) for clock, qemu in _variants(needs)
                          if clock == "host" or kernel not in BOOT_BY_SPINNING or _machine(root, folder).cpus == 1]
    return found


def _variants(needs: Dict[str, str]) -> List[Tuple[str, str]]:
    """Clock and QEMU of each run."""
    by_clock = [(clock, "system") for clock in needs.get("clock", "host").split()]
    return by_clock + [("host", qemu) for qemu in needs.get("qemu", "").split() if qemu != "system"]


def _machine(root: Path, folder: Path, host_memory: Optional[int] = None) -> Machine:
    own = folder / "machine.yaml"
    return load_machine(str(own if own.exists() else root / "configs/lab/four-tier.yaml"), host_memory)


def header(text: str, place: str = "test") -> Dict[str, str]:
    """The `# key: value` comments at the top of a test.

    >>> header("#!/bin/sh\\n# timeout: 60\\n")
    {'timeout': '60'}
    """
    found: Dict[str, str] = {}
    for line in text.splitlines()[:HEADER_LINES]:
        match = re.match(r"^# ([a-z]+): (.*)$", line)
        if match and match.group(1) not in KEYS:
            raise LabError(f"{place}: unknown header '{match.group(1)}'; known are {', '.join(KEYS)}")
        if match:
            found[match.group(1)] = match.group(2).strip()
    return found


def compile_helpers(root: Path, folder: Path) -> Path:
    """Compile the test's own C programs; they include mark.h, the ABI and include/."""
    target = root / "build/e2e" / folder.name
    with locked(target):  # another kernel's guest may be about to look
        return _compiled(root, folder, target)


def _compiled(root: Path, folder: Path, target: Path) -> Path:
    target.mkdir(parents=True, exist_ok=True)
    sources = [*(root / "tests/e2e").glob("*/*.[ch]"), *(root / "tests/support").glob("*.h"),
               *(root / "include").rglob("*.[ch]"), *(root / "uapi").rglob("*.h")]  # some include each other's
    changed = max((source.stat().st_mtime for source in sources), default=0.0)
    for source in sorted(folder.glob("*.c")):
        program = target / source.stem
        if program.exists() and program.stat().st_mtime > changed:
            continue
        partial = target / f".{source.stem}.{os.getpid()}.{time.monotonic_ns()}"
        done = subprocess.run(["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread",
                               f"-I{root}/tools/lab.d/lab/plugin", f"-I{root}/uapi", f"-I{root}/include",
                               str(source), "-o", str(partial)], check=False, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise LabError(f"{source.name} does not compile: {first_error(done.stderr)}")
        partial.rename(program)
    return target
