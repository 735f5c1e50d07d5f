# SPDX-License-Identifier: MIT
"""A guest from boot to power-off, and commands run inside it as root.

    with Guest(load_machine("configs/lab/four-tier.yaml"), "6.12", count=True, timeout=300) as guest:
        outcome = guest.run(["numactl", "-H"], on_line=print)
        print(outcome.kind, outcome.status, outcome.marks)

The verdict comes over a virtio-serial port of its own; silence means a lost guest, never a pass.
"""
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Callable, Collection, Dict, List, Optional, Sequence, Union

from . import boots
from . import pages as page_files
from . import plugin
from .emulator import emulator
from .errors import LabError, UsageError
from .initramfs import initramfs
from .kernels import kernel as find_kernel
from .machine import Machine
from .outcome import FAIL, LOST, PASS, SKIP, SKIP_STATUS, Mark, Outcome, read_marks
from .progress import say, step
from .qemu import INSTRUCTIONS_CMDLINE, SPACER_PAGE, accelerator, command, nr_spacers, spacer_ids
from .splat import splats, telling
from .vmlinux import quickest

BOOT_SECONDS = 120.0
BOOT_TRIES = 3      # TCG now and then breaks a kernel that patches itself during boot
GRACE_SECONDS = 15.0
ROOT = Path(__file__).resolve().parents[3]


class GuestLost(Exception):
    """The guest stopped talking: crash, power-off or hang."""


class Guest:
    """One running guest. Not thread-safe; any number of guests may run side by side."""

    def __init__(self, machine: Machine, kernel: str, *, timeout: float, count: bool = False,
                 extra_cmdline: str = "", l1: int = plugin.DEFAULT_L1, l2: int = plugin.DEFAULT_L2,
                 llc: int = plugin.DEFAULT_LLC, pages: bool = False, samples: int = 0, thp: str = "madvise",
                 pin: Union[bool, Collection[int]] = True, clock: str = "host", ns_per_instruction: int = 8,
                 qemu: str = "system", cpu: str = "", env: Optional[Dict[str, str]] = None, results: Optional[Path] = None) -> None:
        """`kernel` is a series; `timeout` bounds the whole life after boot, in seconds
        of a plain kernel: this limit and every other is longer for a debug kernel.

        `results` is the folder the guest sees writable at /run/hmk-lab (default: a temporary one,
        removed at the end). `pin` keeps everything on the CPUs it names except what asks for others
        with taskset: True means all but CPU 0, and CPU 1 alone where there are four. `l1`, `l2` and
        `llc` are bytes of the modelled caches, `pages` counts per page too (see pages.py), of `samples`
        loads one is sampled (README.md, "Samples"). `clock`
        is "host" or "instructions": then each instruction takes `ns_per_instruction` (a power of
        two up to 64) of the guest's time, however busy the host. `qemu` is "system" or "backports".
        `cpu` is a CPU model as QEMU's -cpu takes it, with the clock "host".
        """
        self.machine, self.count = machine, count
        self.extra_cmdline = f"{extra_cmdline} {INSTRUCTIONS_CMDLINE}" if clock == "instructions" else extra_cmdline
        self.thp = thp
        self.counting = plugin.Counting(l1, l2, llc, pages, samples)
        self.pinned = ordinary_cpus(machine, pin)
        self._cpu, self._driven_by = cpu, accelerator(clock, ns_per_instruction)
        self._spacers = nr_spacers(machine.cpus, clock)
        if self._spacers:
            self.extra_cmdline += f" maxcpus={machine.cpus}"  # the others are spacers
        self.kernel, self.emulator = find_kernel(kernel), emulator(qemu)
        why = self.emulator.cannot_take_turns(kernel, count) if clock == "instructions" and machine.cpus > 1 else ""
        if why:
            raise UsageError(f"clock=instructions: {why}")
        self._slowness = self.kernel.slowness
        self._boot_seconds = BOOT_SECONDS * self._slowness * (2 if clock == "instructions" else 1)  # one thread for all
        self.timeout = timeout * self._slowness
        self.env = {"HMK_SLOWNESS": f"{self._slowness:g}", **(env or {})}
        self._own = Path(tempfile.mkdtemp(prefix="hmk-lab."))
        self.results = Path(results).resolve() if results else self._own / "results"
        self.console = self.results / "console.log"
        self.marks_file = self.results / "marks.jsonl"
        self.boot_dmesg: List[str] = []
        self._qemu: Optional[subprocess.Popen] = None
        self._port: Optional[socket.socket] = None
        self._pending = b""
        self._deadline = 0.0

    def __enter__(self) -> "Guest":
        why = ""
        try:
            for attempt in range(1, BOOT_TRIES + 1):
                try:
                    with step(f"booting {self.kernel.release}"):
                        self._boot()
                    boots.ready()
                    return self
                except (GuestLost, TimeoutError) as lost:
                    why = str(lost) or "not ready in time"
                    self._kill()
                    boots.lost(why)
                    say(f"guest lost before it was ready, try {attempt} of {BOOT_TRIES}: {why}")
            raise LabError(f"kernel {self.kernel.release}: the guest was lost {BOOT_TRIES} times during boot: {why}")
        except BaseException:
            self._kill()
            shutil.rmtree(self._own, ignore_errors=True)
            raise

    def __exit__(self, *_exc) -> None:
        try:
            if self._qemu and self._qemu.poll() is None:
                self._say(verb="off")
                self._qemu.wait(GRACE_SECONDS * self._slowness)
        except (GuestLost, subprocess.TimeoutExpired):
            pass
        self._kill()
        shutil.rmtree(self._own, ignore_errors=True)

    def run(self, argv: Sequence[str], *, cwd: Path = ROOT, env: Optional[Dict[str, str]] = None,
            on_line: Optional[Callable[[str], None]] = None, timeout: Optional[float] = None,
            on_idle: Optional[Callable[[], None]] = None, own_root: Optional[str] = None) -> Outcome:
        """Run a command as root. `on_line` gets each line of output as it comes; `on_idle` is
        called about five times a second meanwhile (to draw, or to look at `marks()`).

        `own_root` is a folder below `results` ("." for itself): the command then sees that one at /run/hmk-lab,
        and what it and its children write or mount elsewhere is gone when they are.
        """
        began = time.monotonic()
        end = min(self._deadline, began + timeout * self._slowness if timeout else self._deadline)
        out = Outcome(LOST, results=self.results)
        try:
            self._say(verb="run", command=[str(a) for a in argv], cwd=str(cwd), env=dict(env or {}),
                      own_root=own_root)
            event, in_time = self._follow(out, end, on_line, on_idle)
            out.status, out.dmesg = event["status"], event["dmesg"]
            _judge(out, in_time)
        except GuestLost as lost:
            out.reason = f"guest lost: {lost}"
            out.dmesg = self.console.read_text(errors="replace").splitlines()[-60:]
        out.marks, out.seconds = self.marks(), time.monotonic() - began
        return out

    def marks(self) -> List[Mark]:
        """All marks written so far."""
        return read_marks(self.marks_file)

    def cpu_seconds(self) -> float:
        """What the guest has had of the host's CPUs since it was started."""
        assert self._qemu
        fields = Path(f"/proc/{self._qemu.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def load_module(self, path: Path, *parameters: str) -> Outcome:
        """insmod; /dev/hmk appears by devtmpfs."""
        return self.run(["insmod", str(path), *parameters])

    def _boot(self) -> None:
        lab = self.results / ".lab"
        lab.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(__file__).parent / "agent.py", lab / "agent.py")
        env = {"HMK_LAB_KERNEL": self.kernel.series, "HMK_LAB_ROOT": str(ROOT), **self.env}
        if self.count:
            _, programs = plugin.build(self.emulator.plugin_api)
            env["PATH"] = f"{programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        (lab / "config.json").write_text(json.dumps(
            {"pinned": self.pinned, "spacers": spacer_ids(self.machine.cpus, self._spacers), "spacer_page": SPACER_PAGE, "thp": self.thp, "modules": str(self.kernel.modules), "env": env}), encoding="utf-8")
        for stale in (self.marks_file, *self.results.glob(page_files.PATTERN)):
            stale.unlink(missing_ok=True)
        argument = None
        if self.count:
            argument = plugin.argument(self.machine, self._spacers, self.emulator, self.marks_file,
                                       self.counting)
        path = self._own / "control"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen(1)
            # Who asks for a CPU may ask for five levels of page tables, and those the part that unpacks the kernel switches on.
            image = self.kernel.image if self._cpu else quickest(self.kernel.image)
            args = command(self.emulator.command, self.machine, image, initramfs(self.kernel),
                           self.results, path, self.console, self.extra_cmdline, argument, self._driven_by, self._spacers, self._cpu)
            with open(self._own / "qemu.log", "wb") as log:
                self._qemu = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            self._accept(listener)
        self._deadline = time.monotonic() + self._boot_seconds
        ready = self._event(self._deadline)
        if ready["event"] != "ready":
            raise GuestLost(f"unexpected first word {ready['event']}")
        self.boot_dmesg = ready["dmesg"]
        for line in splats(self.boot_dmesg):
            say(f"during boot: {line}")
        self._deadline = time.monotonic() + self.timeout

    def _accept(self, listener: socket.socket) -> None:
        listener.settimeout(0.2)
        limit = time.monotonic() + self._boot_seconds
        while time.monotonic() < limit:
            try:
                self._port, _ = listener.accept()
                self._port.setblocking(False)
                return
            except TimeoutError:
                if self._qemu and self._qemu.poll() is not None:
                    text = (self._own / "qemu.log").read_text(errors="replace").strip().splitlines()
                    raise LabError(f"QEMU does not start: {text[-1] if text else 'no message'}") from None
        raise GuestLost("QEMU did not connect")

    def _follow(self, out: Outcome, end: float, on_line, on_idle):
        """Collect output until the end event; past the limit ask the guest to kill the command."""
        tail, in_time, began = "", True, time.monotonic()
        while True:
            try:
                event = self._event(end, on_idle)
            except TimeoutError:
                if not in_time:
                    raise GuestLost("no answer after the time limit") from None
                in_time, end = False, time.monotonic() + GRACE_SECONDS * self._slowness
                self._say(verb="cancel")
                continue
            if event["event"] == "output":
                *lines, tail = (tail + event["data"]).split("\n")
                _take(out, lines, time.monotonic() - began, on_line)
            elif event["event"] == "end":
                _take(out, [tail] if tail else [], time.monotonic() - began, on_line)
                return event, in_time

    def _event(self, end: float, on_idle: Optional[Callable[[], None]] = None) -> dict:
        """The next JSON line. Raises TimeoutError at `end`, GuestLost when the guest is gone."""
        while b"\n" not in self._pending:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            assert self._port
            if select.select([self._port], [], [], min(left, 0.2))[0]:
                data = self._port.recv(1 << 20)
                if not data:
                    raise GuestLost(lost_line(self.console))
                self._pending += data
            elif on_idle:
                on_idle()
        line, _, self._pending = self._pending.partition(b"\n")
        return json.loads(line)

    def _say(self, **request) -> None:
        assert self._port  # accepted before anything is said
        try:
            self._port.setblocking(True)
            self._port.sendall((json.dumps(request) + "\n").encode())
            self._port.setblocking(False)
        except OSError:
            raise GuestLost(lost_line(self.console)) from None

    def _kill(self) -> None:
        end(self._qemu, self._port)
        self._port, self._pending = None, b""


def end(qemu: "Optional[subprocess.Popen[bytes]]", port: Optional[socket.socket]) -> None:
    """Of a QEMU that may have ended by itself, and of the connection to it."""
    if qemu and qemu.poll() is None:
        qemu.kill()
        qemu.wait()
    if port:
        port.close()


def run_once(machine: Machine, series: str, argv: Sequence[str], *, modules: Sequence[Path] = (),
             on_line: Optional[Callable[[str], None]] = None, **options) -> Outcome:
    """Boot, load modules, run one command, power off."""
    try:
        with Guest(machine, series, **options) as guest:
            for module in modules:
                loaded = guest.load_module(module)
                if loaded.kind != PASS:
                    loaded.reason = f"insmod {module.name}: {loaded.reason} {' '.join(loaded.output)}".strip()
                    return loaded
            return guest.run(argv, on_line=on_line)
    except UsageError:
        raise
    except LabError as error:
        return Outcome(LOST, reason=str(error))


def ordinary_cpus(machine: Machine, pin: Union[bool, Collection[int]]) -> List[int]:
    """CPUs that everything starts on; empty: no pinning. Raises UsageError for a CPU that is not there."""
    if pin is False or machine.cpus == 1:
        return []
    cpus = sorted(pin) if pin is not True else [1] if machine.cpus >= 4 else list(range(1, machine.cpus))
    if not cpus or not set(cpus) <= set(range(machine.cpus)):
        raise UsageError(f"pin={cpus}: {machine.name} has CPUs 0 to {machine.cpus - 1}; name at least one of them")
    return cpus


def lost_line(console: Path) -> str:
    """Why a guest died, as far as its console tells."""
    text = console.read_text(errors="replace").splitlines() if console.exists() else []
    found = splats(text) or [line for line in text if line.strip()][-1:]
    return telling(found) if found else "silence"


def _take(out: Outcome, lines: List[str], seconds: float, on_line: Optional[Callable[[str], None]]) -> None:
    for line in lines:
        out.output.append(line)
        out.times.append(seconds)
        if on_line:
            on_line(line)


def _judge(out: Outcome, in_time: bool) -> None:
    found = splats(out.dmesg)
    last = next((line for line in reversed(out.output) if line.strip()), "")
    if not in_time:
        out.kind, out.reason = FAIL, "time limit exceeded"
    elif found:
        out.kind, out.reason = FAIL, f"kernel log: {telling(found)}"
    elif out.status == 0:
        out.kind = PASS
    elif out.status == SKIP_STATUS:
        out.kind, out.reason = SKIP, last or "no reason given"
    else:
        out.kind, out.reason = FAIL, f"exit status {out.status}"
