# SPDX-License-Identifier: MIT
"""What every workload is: loaded, held, started, read, stopped; and how a program of ours is followed.

    load = WORKLOADS["gups-stable"](build, "4K", placed=False)
    load.prepare()              # all memory first-touched, nothing measured has begun
    load.start()
    load.ops(), load.truth()    # as often as one likes
    load.stop()                 # {"ops": ..., "wrong_values": ..., "gap_p99_us": ...}

Runs inside the guest as root; Python's library only. The application has CPU 0, clients and drivers CPU 1.
"""
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

sys.path.append(str(Path(__file__).resolve().parents[3]))
from guest.waiting import LOGS, Failed, wait_for  # noqa: E402

APPLICATION_CPU, CLIENT_CPU = 0, 1
LOAD_SECONDS = 36_000.0  # of the guest's time, which runs ahead while the guest waits for the host
MEBI = 1 << 20
TIER_1 = 480 * MEBI                  # that an application has of the guest's, for which the sizes of the workloads are made
LAUNCHER: List[str] = []         # what the system under test has every application's command line begin with
Range = Tuple[int, int, int]


def memory_by_node(field: str) -> List[int]:
    """A field of every node's meminfo, in bytes."""
    nodes = sorted(Path("/sys/devices/system/node").glob("node[0-9]*"), key=lambda p: int(p.name[4:]))
    return [_kilobytes((node / "meminfo").read_text(encoding="ascii"), field) << 10 for node in nodes]


def swap_in_memory(size: int) -> None:
    """So many bytes of swap, in zram."""
    subprocess.run(["modprobe", "zram"], check=True)
    Path("/sys/block/zram0/disksize").write_text(str(size), encoding="ascii")
    for command in ("mkswap", "swapon"):
        subprocess.run([command, "/dev/zram0"], check=True, stdout=subprocess.DEVNULL)


def on_cpu(cpu: int) -> List[str]:
    """The words before a command; the process they start becomes it by exec."""
    return [*(LAUNCHER if cpu == APPLICATION_CPU else []), "taskset", "-c", str(cpu)]


def _kilobytes(text: str, field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", text)
    if found is None:
        raise Failed(f"meminfo: no {field}; the kernel does not tell it")
    return int(found[1])


class Workload:
    """One instance per run. The runner sets `window_seconds` before prepare()."""

    name = ""
    packages: Tuple[str, ...] = ()
    programs: Tuple[str, ...] = ()      # targets of our build
    has_truth = has_jump = False
    checked = True                      # reads all it has written in the end; the runner asks for it where we move memory
    shared = False                      # its memory is shared between processes: moving it needs to say so
    fits = False                        # into tier 1, all of it
    page_sizes: Tuple[str, ...] = ("4K", "THP")
    application_cpus: Tuple[int, ...] = (APPLICATION_CPU,)  # it may have the clients' too, if it has no clients
    memory_bytes = 0
    ns_per_instruction = 8              # of the guest's clock
    window_seconds = 12.0               # length of the measured load unless told otherwise; a jump comes in its middle

    def __init__(self, build: Path, page_size: str, placed: bool) -> None:
        if page_size not in self.page_sizes:
            raise Failed(f"{self.name} has no variant with pages of {page_size}; it has {', '.join(self.page_sizes)}")
        if placed and not self.has_truth:
            raise Failed(f"{self.name} does not know its hot set, so it cannot place it")
        self.build, self.page_size, self.placed = build, page_size, placed

    @classmethod
    def host_prepare(cls, build: Path) -> None:
        """What the host has to make once, before the guest is booted; nothing for most."""

    def prepare(self) -> None:
        raise NotImplementedError

    def pids(self) -> List[int]:
        raise NotImplementedError

    def shared_bytes(self) -> List[int]:
        """By node, what its processes share and no page table of theirs shows completely; none for most."""
        return []

    def start(self) -> None:
        raise NotImplementedError

    def ops(self) -> int:
        raise NotImplementedError

    def reports(self) -> List[Tuple[float, int]]:
        """When it told its operations of its own accord, and how many there were; none where ops() knows at any time."""
        return []

    def truth(self) -> List[Range]:
        return []

    def extent(self) -> Range:
        """All memory the truth speaks of, as one range: (pid, start, length)."""
        raise NotImplementedError

    def jumps(self) -> List[float]:
        return []

    def stop(self) -> Dict[str, Any]:
        raise NotImplementedError


def along(seconds: Sequence[float], ops: Sequence[float], when: float) -> float:
    """Operations done by then: on the straight line through the two of at least two counts nearest to it."""
    after = next((i for i, at in enumerate(seconds) if i and at >= when), len(seconds) - 1)
    slope = (ops[after] - ops[after - 1]) / (seconds[after] - seconds[after - 1])
    return ops[after - 1] + slope * (when - seconds[after - 1])


class Follower:
    """A program that prints JSON lines: "ready", "truth", "run" {"ops"}, "end" {"ops", "wrong_values", ...}."""

    def __init__(self, command: Sequence[Any], cpu: int) -> None:
        self.name = Path(str(command[0])).name
        self.ops = 0
        self.reports: List[Tuple[float, int]] = []         # as Workload.reports()
        self.truths: List[Tuple[float, List[Range]]] = []  # when told, and what is hot since
        self._seen: Dict[str, Dict[str, Any]] = {}         # the last line of each verb
        self._last_words = LOGS / f"{self.name}.log"
        with open(self._last_words, "wb") as log:
            self._process = subprocess.Popen([*on_cpu(cpu), *map(str, command)], stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE, stderr=log, text=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid  # on_cpu()

    def _read(self) -> None:
        assert self._process.stdout  # a pipe, above
        for line in self._process.stdout:
            try:
                report = json.loads(line)
                self.take(report)
            except (ValueError, KeyError, TypeError):
                self._seen["odd"] = {"line": line.strip()}

    def take(self, report: Dict[str, Any]) -> None:
        """One line; "run" and "end" carry how much was done since the start."""
        verb = report["verb"]
        if verb == "truth":
            self.truths.append((time.monotonic(), [(report["pid"], start, length) for start, length in report["hot"]]))
        elif verb in ("run", "end"):
            self.ops = report["ops"]
            self.reports.append((time.monotonic(), self.ops))
        self._seen[verb] = report

    def wait(self, verb: str, limit: float = LOAD_SECONDS) -> Dict[str, Any]:
        """Its first line of that kind."""
        wait_for(lambda: verb in self._seen or not self._reader.is_alive(), limit, f"{self.name} says \"{verb}\"")
        if verb not in self._seen:
            raise Failed(f"{self.name} ended with {self._process.wait(10)} before \"{verb}\": {self.last_words()}")
        return self._seen[verb]

    def go(self) -> None:
        """Let a program that was told to --hold begin."""
        assert self._process.stdin
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    def stop(self) -> Dict[str, Any]:
        """End it; the common part of its last line."""
        self._process.terminate()
        end = self.wait("end")
        self._process.wait(LOAD_SECONDS)
        return {key: end[key] for key in ("ops", "wrong_values", "gap_p50_us", "gap_p99_us", "gap_max_us")}

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(10)
        self._reader.join(10)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe
            pipe.close()

    def last_words(self) -> str:
        odd = self._seen.get("odd", {}).get("line", "")
        lines = self._last_words.read_text(errors="replace").strip().splitlines()
        return (lines[-1] if lines else odd) or "no message"


def quantiles(gaps_us: List[float]) -> Dict[str, float]:
    """What the programs of ours say about their gaps, for one that only lists them."""
    ordered = sorted(gaps_us) or [0.0]
    last = len(ordered) - 1
    return {"gap_p50_us": ordered[last // 2], "gap_p99_us": ordered[99 * last // 100], "gap_max_us": ordered[last]}


class OneProgram(Workload):
    """A workload that is one program of ours, application and driver in one process."""

    def __init__(self, build: Path, page_size: str, placed: bool) -> None:
        super().__init__(build, page_size, placed)
        self.program: Follower

    def command(self) -> List[Any]:
        raise NotImplementedError

    def prepare(self) -> None:
        self.program = Follower(self.command(), APPLICATION_CPU)
        self.program.wait("truth" if self.has_truth else "ready")

    def pids(self) -> List[int]:
        return [self.program.pid]

    def start(self) -> None:
        self.program.go()

    def ops(self) -> int:
        return self.program.ops

    def reports(self) -> List[Tuple[float, int]]:
        return self.program.reports

    def truth(self) -> List[Range]:
        return self.program.truths[-1][1] if self.program.truths else []

    def extent(self) -> Range:
        told = self.program.wait("ready")
        return told["pid"], told["start"], told["length"]

    def jumps(self) -> List[float]:
        return [when for when, _ in self.program.truths[1:]]

    def stop(self) -> Dict[str, Any]:
        return self.program.stop()
