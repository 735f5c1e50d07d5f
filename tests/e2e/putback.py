# SPDX-License-Identifier: MIT
"""Runs in a guest that several tests share, before the first of them ("note") and after each ("restore"): everything a test
may leave behind outside its own root is taken away, every knob is turned back, and what the kernel holds is compared.

A line "put back: WHAT" for each thing done, "NOT BACK: WHAT" for each that could not be, "DEFECT: WHAT" for a leak and for
taint; exit status 1 if there was one of the latter two.
"""
import functools
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Dict, Iterable, List, Optional

import lib

NOTE = Path("/run/hmk-note.json")
LIMIT, AT_ONCE = 20.0, 2.0  # seconds for what the kernel lets go of later, and for what is as it is
FEWEST = 3  # one setting may change another: of THP and min_free_kbytes the first one does
GROUPS, TRACING, DAMON = Path("/sys/fs/cgroup"), Path("/sys/kernel/tracing"), Path("/sys/kernel/mm/damon/admin/kdamonds")
KERNEL_THREAD = 0x00200000

#: Files that hold what they were told last. In this order: pools before their sum, what has side effects on sysctls before these.
KNOBS = (
    "/sys/devices/system/cpu/cpu*/online", "/sys/devices/system/memory/auto_online_blocks", "/sys/devices/system/memory/memory*/online",
    "/sys/devices/system/node/node*/hugepages/*/nr_hugepages", "/sys/kernel/mm/transparent_hugepage/**/*", "/sys/kernel/mm/ksm/*",
    "/sys/kernel/mm/lru_gen/*", "/sys/kernel/mm/numa/*", "/sys/kernel/mm/swap/*", "/sys/kernel/mm/damon/admin/kdamonds/nr_kdamonds",
    "/sys/devices/virtual/workqueue/cpumask", "/sys/power/pm_test", "/sys/kernel/debug/sched/**/*", "/sys/kernel/debug/fail*/*",
    "/sys/kernel/tracing/tracing_on", "/sys/kernel/tracing/current_tracer", "/sys/kernel/tracing/dynamic_events",
    "/sys/fs/cgroup/cgroup.subtree_control",
    "/proc/sys/vm/*", "/proc/sys/kernel/**/*", "/proc/sys/fs/**/*",
)
#: Looks like a knob, and does something, or changes by itself.
NO_KNOBS = re.compile(r"/(compact_memory|drop_caches|stat_refresh|tainted|ns_last_pid|random/.*|sched/features|sched/domains/.*)$")


def note() -> int:
    """How the machine is before the first test."""
    NOTE.write_text(json.dumps({"modules": modules(), "mounts": mounts(), "cpus": cpus(), "knobs": knobs(),
                                "books": lib.Books().noted()}), encoding="utf-8")
    return 0


def restore() -> int:
    """0 if all is as it was, or is so again."""
    before = json.loads(NOTE.read_text(encoding="utf-8"))
    cannot: List[str] = []
    for what, step, limit in (
            ("processes", kill_all, LIMIT), ("swap", swaps_off, LIMIT), ("loop devices", loops_off, LIMIT), ("shared memory", no_ipc, LIMIT),
            ("events", events_off, LIMIT), ("DAMON", damon_off, LIMIT), ("modules", lambda: unload(before["modules"]), LIMIT),
            ("control groups", groups_off, LIMIT), ("settings", lambda: turn_back(before["knobs"]), AT_ONCE),
            ("CPUs of the first process", lambda: differing(before["cpus"], cpus()), AT_ONCE),
            ("mounts", lambda: differing(before["mounts"], mounts()), AT_ONCE)):
        left = settled(step, limit)
        cannot += [f"{what}: {' '.join(left)}"] if left else []
    books = lib.Books(before["books"])
    leaked = [] if cannot else settled(lambda: [f"{name} {pages}" for name, pages in books.leaked().items()])
    defects = [f"pages more than before: {' '.join(leaked)}"] if leaked else []
    defects += [f"taint {books.tainted():#x}"] if books.tainted() else []
    for line in (*(f"NOT BACK: {what}" for what in cannot), *(f"DEFECT: {what}" for what in defects)):
        print(line, flush=True)
    return 1 if cannot or defects else 0


def settled(left: Callable[[], Iterable[str]], limit: float = LIMIT) -> List[str]:
    """What `left` still names after so many seconds of a plain kernel, and at least FEWEST looks: each undoes, the next one sees."""
    end = time.monotonic() + limit * float(os.environ.get("HMK_SLOWNESS", "1"))
    for looks in itertools.count(1):
        names = list(left())
        if not names or looks >= FEWEST and time.monotonic() > end:
            break
        time.sleep(0.05)
    return names


@functools.lru_cache(maxsize=None)
def said(what: str) -> None:
    """Once, however often it is tried."""
    print(f"put back: {what}", flush=True)


def read(path: Path) -> Optional[str]:
    """Nothing where nothing can be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def write(path: Path, text: str) -> None:
    """As far as it is taken: what is not, shows when it is compared."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError:
        pass


def tell(*command: str) -> None:
    """As write()."""
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_all() -> List[str]:
    """Every program but the first and this one."""
    left = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        stat = read(Path("/proc", name, "stat"))
        if int(name) in (1, os.getpid()) or stat is None:
            continue
        fields = stat.rpartition(")")[2].split()
        if int(fields[6]) & KERNEL_THREAD or fields[0] in "ZX" and fields[1] == "1":
            continue
        left.append(stat[stat.index("("):stat.rindex(")") + 1])
        try:
            os.kill(int(name), signal.SIGKILL)
            said(f"process {left[-1]}, killed")
        except ProcessLookupError:
            pass
    return left


def swaps_off() -> List[str]:
    left = [line.split()[0] for line in Path("/proc/swaps").read_text(encoding="utf-8").splitlines()[1:]]
    for name in left:
        said(f"swap {name}, off")
        tell("swapoff", f"/dev/{Path(name).name}")  # the /dev of its test is gone, and its name there
    return left


def loops_off() -> List[str]:
    left = [str(file.parent.parent.name) for file in Path("/sys/block").glob("loop*/loop/backing_file")]
    for device in left:
        said(f"{device}, detached")
        tell("losetup", "--detach", f"/dev/{device}")
    return left


def no_ipc() -> List[str]:
    """Segments, semaphores and queues of System V."""
    left = [f"{kind} {line.split()[1]}" for kind in ("shm", "sem", "msg")
            for line in (read(Path("/proc/sysvipc", kind)) or "").splitlines()[1:]]
    if left:
        said(f"System V {', '.join(left)}, removed")
        tell("ipcrm", "--all")
    return left


def events_off() -> List[str]:
    left = (read(TRACING / "set_event") or "").split()
    if left:
        said(f"events {' '.join(left)}, off")
        write(TRACING / "set_event", "")
    if re.search(r"entries-in-buffer/entries-written: [1-9]|entries-in-buffer/entries-written: 0/[1-9]", head(TRACING / "trace")):
        write(TRACING / "trace", "")
    return left


def head(path: Path) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return "".join(line for _, line in zip(range(12), file))
    except OSError:
        return ""


def damon_off() -> List[str]:
    left = [str(state) for state in DAMON.glob("*/state") if (read(state) or "").strip() == "on"]
    for state in left:
        said(f"{state}, off")
        write(Path(state), "off")
    return left


def modules() -> List[str]:
    return [line.split()[0] for line in Path("/proc/modules").read_text(encoding="ascii").splitlines()]


def unload(before: List[str]) -> List[str]:
    left = [name for name in modules() if name not in before]
    for name in left:  # the last one loaded comes first
        tell("rmmod", name)
    gone = [name for name in left if name not in modules()]
    if gone:
        said(f"modules {' '.join(gone)}, unloaded")
    return [name for name in left if name not in gone]


def groups_off() -> List[str]:
    left = []
    for folder, _, _ in os.walk(GROUPS, topdown=False):
        if Path(folder) == GROUPS:
            continue
        try:
            os.rmdir(folder)
            said(f"{folder}, removed")
        except OSError:
            left.append(folder)
    return left


def mounts() -> List[str]:
    """Without their numbers; those of the tests went with their roots."""
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return sorted(" ".join(line.split()[3:]) for line in lines)


def differing(before: List[str], now: List[str]) -> List[str]:
    return [f"'{line}'" for line in sorted(set(before) ^ set(now))]


def cpus() -> List[str]:
    """Whoever was bound to a CPU that was away meanwhile is so no longer, the first process among them."""
    return [str(cpu) for cpu in sorted(os.sched_getaffinity(1))]


def knobs() -> Dict[str, str]:
    found = {}
    for pattern in KNOBS:
        for path in sorted(Path("/").glob(pattern[1:])):
            if not NO_KNOBS.search(str(path)) and path.is_file() and path.stat().st_mode & 0o600 == 0o600:
                text = read(path)
                if text is not None:
                    found[str(path)] = chosen(text)
    return found


def chosen(text: str) -> str:
    """Of "always [madvise] never" what holds."""
    match = re.search(r"\[(\S+)\]", text)
    return match.group(1) if match else text.strip()


def turn_back(before: Dict[str, str]) -> List[str]:
    left = []
    for name, wanted in before.items():
        now = read(Path(name))
        if now is None or chosen(now) == wanted:
            if now is None:
                left.append(f"{name} is gone")
            continue
        said(f"{name}, was {wanted}, is {chosen(now)}")
        write(Path(name), without(chosen(now), wanted) if name.endswith("subtree_control") else wanted)
        left.append(f"{name} is {chosen(now)}, was {wanted}")
    return left


def without(now: str, wanted: str) -> str:
    """How a control group is told to have these controllers alone."""
    return " ".join([f"-{word}" for word in now.split() if word not in wanted.split()] +
                    [f"+{word}" for word in wanted.split() if word not in now.split()])


if __name__ == "__main__":
    sys.exit(note() if sys.argv[1] == "note" else restore())
