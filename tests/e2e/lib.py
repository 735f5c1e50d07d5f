# SPDX-License-Identifier: MIT
"""What tests inside a guest share. A test starts with

    import sys; sys.path.insert(0, sys.path[0] + "/..")
    import lib

and ends with exit status 0 (pass), 77 (skip, last line says why) or anything else (fail).
The runner sets HMK_BUILD (user space), HMK_TEST_BIN (the test's own compiled *.c), HMK_MODULE
(hmk.ko of this kernel), HMK_VARIANT (the one built with the test's `# defines:`), HMK_LAB
(writable, shared with the host) and HMK_SLOWNESS (of a debug kernel beside a plain one).
"""
import bisect
import collections
import ctypes
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Callable, Dict, List, Optional, Set, Tuple, TypeVar, Union

T = TypeVar("T")
RESULTS = Path(os.environ.get("HMK_LAB", "/run/hmk-lab"))
LOG_LINES = 20
TOLD = re.compile(r"MemFree|FilePages|AnonPages|Slab")  # of a node, where a test fails
NOWHERE = 255  # where a node is told in a byte
MOVE_PAGES = 279  # its number on x86_64
LOGS: Set[Path] = set()  # of hmkd, where the test's own output does not have it


def build(name: str) -> str:
    """Path of a program or library of the user-space build, by its place in the build folder."""
    return str(Path(os.environ["HMK_BUILD"]) / name)


def helper(name: str) -> str:
    """Path of a program compiled from the test's own name.c."""
    return str(Path(os.environ["HMK_TEST_BIN"]) / name)


def skip(reason: str) -> None:
    """End the test as skipped."""
    print(reason, flush=True)
    sys.exit(77)


def intact(holds: bool, what: str) -> None:
    """As check(), of what memory holds. The suite forgives no LOST line: that another run loses nothing is no excuse."""
    check(holds, what, "LOST")


def check(holds: bool, what: str, otherwise: str = "NOT OK") -> None:
    """Go on only if `what` holds."""
    print(f"{'ok' if holds else otherwise}: {what}", flush=True)
    if not holds:
        for log in LOGS:
            print(f"the end of {log}:", *log.read_text(encoding="utf-8").splitlines()[-LOG_LINES:], sep="\n", flush=True)
        tell_of_memory()
        sys.exit(1)


def tell_of_memory() -> None:
    """What the nodes have, and what hmkd has counted, where one serves: why nothing has moved."""
    for node in sorted(Path("/sys/devices/system/node").glob("node[0-9]*/meminfo")):
        print(*filter(TOLD.search, node.read_text(encoding="ascii").splitlines()), sep="\n", flush=True)
    if is_served(CONTROL):
        print(run(build("tools/hmkctl/hmkctl"), "--socket", CONTROL, "--json", "stats", check_status=False, timeout=30).stdout, flush=True)


def run(*argv: object, check_status: bool = True, **options) -> subprocess.CompletedProcess:
    """Run a program to its end, output captured as text; print it if the program fails."""
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)
    if check_status and done.returncode:
        print(done.stdout, flush=True)
        check(False, f"{' '.join(str(a) for a in argv)} ends with 0, it ended with {done.returncode}")
    return done


def slowness() -> float:
    """How many times longer than in a plain kernel things may take in this one."""
    return float(os.environ.get("HMK_SLOWNESS", "1"))


def wait_for(condition: Callable[[], T], limit: float, what: str = "the condition") -> T:
    """The first true value of `condition`; the test fails after `limit` seconds of a plain kernel without one."""
    limit *= slowness()
    end = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            check(False, f"{what} within {limit:g} s")
        time.sleep(0.05)


def seed() -> str:
    """A number to draw from; printed, so that what failed can be drawn again."""
    number = str(int.from_bytes(os.urandom(4), "little"))
    print(f"seed {number}", flush=True)
    return number


class Touch:
    """hmk-touch, asked line by line; on the memory of a node (or "1,2") first where one is named, `bind` for no other."""

    def __init__(self, node: Union[int, str, None] = None, bind: bool = False) -> None:
        where = [] if node is None else ["numactl", f"--{'membind' if bind else 'preferred'}={node}"]
        self.process = subprocess.Popen([*where, build("tests/programs/hmk-touch")], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        check(self.process.stdout.readline().startswith("ready"), "hmk-touch is ready")
        self.pid = self.process.pid

    def tell(self, command: str) -> List[str]:
        """The words of its answer behind "ok"."""
        self.process.stdin.write(command + "\n")
        answer = self.process.stdout.readline().split()
        check(answer[:1] == ["ok"], f"{command}: {' '.join(answer)}")
        return answer[1:]

    def map(self, pages: int, kind: str = "") -> Tuple[int, int]:
        """Number and address of a new area whose pages are all written."""
        area, start = (int(word) for word in self.tell(f"map {pages} {kind}".strip())[:2])
        self.tell(f"write {area} 0 {pages} 1")
        return area, start

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def nodes_of(pid: int, start: int, pages: int) -> List[int]:
    """The node of each page, as move_pages(2) tells it; below 0: an errno, of a page that is not there."""
    at = (ctypes.c_void_p * pages)(*range(start, start + pages * 4096, 4096))
    status = (ctypes.c_int * pages)()
    failed = ctypes.CDLL(None, use_errno=True).syscall(MOVE_PAGES, pid, ctypes.c_ulong(pages), at, None, status, 0)
    if failed:
        check(False, f"move_pages of {pid}: {os.strerror(ctypes.get_errno())}")
    return list(status)


def nodes_of_frames() -> Tuple[List[int], List[int]]:
    """Frame numbers at which a zone begins or ends, rising, and the node of what lies behind each, NOWHERE beyond its end."""
    zones = []
    for zone in Path("/proc/zoneinfo").read_text(encoding="ascii").split("Node ")[1:]:
        node, spanned, start = (re.search(pattern, zone) for pattern in (r"^\d+", r"\bspanned +(\d+)", r"\bstart_pfn: +(\d+)"))
        if node and spanned and start:  # a zone without pages has no start
            zones.append((int(start[1]), int(start[1]) + int(spanned[1]), int(node[0])))
    marks = [mark for start, end, node in sorted(zones) for mark in ((start, node), (end, NOWHERE))]
    return [frame for frame, _ in marks], [node for _, node in marks]


class Threads:
    """hmk-threads: a thread on each of some CPUs with memory of its own, of which `CHUNK` pages in each MiB are looked at."""

    CHUNK, ENTRY, PRESENT, FRAME = 16, 8, 1 << 63, (1 << 55) - 1  # Documentation/admin-guide/mm/pagemap.rst

    def __init__(self, size_mib: int, hot_mib: int, *places: str) -> None:
        self.process = subprocess.Popen([build("tests/programs/hmk-threads"), str(size_mib), str(hot_mib), *places],
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        areas = []
        for line in self.process.stdout:
            if line.startswith("ready"):
                break
            areas.append([int(word) for word in line.split()[1:]])
        check(len(areas) == len(places), "the threads have filled their memory")
        self._cpus = [cpu for cpu, *_ in areas]
        self.looked_at = size_mib * self.CHUNK  # pages of each thread
        self._chunks = [at for _, start, length, _ in areas for at in range(start, start + length, 1 << 20)]
        self.is_hot = bytes(at >= first_hot for _, start, length, first_hot in areas
                            for at in range(start, start + length, 1 << 20) for _ in range(self.CHUNK))
        self._seen = [(b"", b"")] * len(self._chunks)  # of each chunk its entries and the nodes they mean
        self._borders, self._behind = nodes_of_frames()
        self._pagemap = os.open(f"/proc/{self.pid}/pagemap", os.O_RDONLY)

    def _node(self, entry: int) -> int:
        if not entry & self.PRESENT:
            return NOWHERE
        return self._behind[bisect.bisect_right(self._borders, entry & self.FRAME) - 1]

    def places(self) -> bytes:
        """The node of each page that is looked at, thread by thread; NOWHERE while it is on its way."""
        for number, at in enumerate(self._chunks):
            entries = os.pread(self._pagemap, self.CHUNK * self.ENTRY, at // 4096 * self.ENTRY)
            if entries != self._seen[number][0]:
                self._seen[number] = (entries, bytes(map(self._node, struct.unpack(f"={self.CHUNK}Q", entries))))
        return b"".join(nodes for _, nodes in self._seen)

    def nodes(self) -> Dict[int, Dict[int, int]]:
        """By CPU, how many of its pages are on each node."""
        seen = self.places()
        return {cpu: dict(collections.Counter(seen[number * self.looked_at:][:self.looked_at])) for number, cpu in enumerate(self._cpus)}

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


def get(control: str, path: str) -> str:
    """What hmkd's control socket answers to `GET path`."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(30)
        link.connect(control)
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: hmkd\r\n\r\n".encode("ascii"))
        return b"".join(iter(lambda: link.recv(65536), b"")).decode("utf-8")


def load_module(path: Optional[str] = None, **parameters: object) -> None:
    """insmod hmk.ko and wait for its device."""
    run("insmod", path or os.environ["HMK_MODULE"], *[f"{k}={v}" for k, v in parameters.items()])
    wait_for(lambda: os.path.exists("/dev/hmk"), 5, "/dev/hmk appears")


def unload_module() -> None:
    """rmmod; fails the test if something still holds the module."""
    run("rmmod", "hmk")
    check(not os.path.exists("/dev/hmk"), "/dev/hmk is gone after rmmod")


def free_pages(text: Optional[str] = None) -> int:
    """Free pages over all zones, per-CPU lists included: MemFree alone wanders by tens of MB."""
    text = Path("/proc/zoneinfo").read_text(encoding="ascii") if text is None else text
    free = sum(int(n) for n in re.findall(r"^\s+nr_free_pages (\d+)$", text, re.M))
    return free + sum(int(n) for n in re.findall(r"^\s+count:\s+(\d+)$", text, re.M))


def held(pid: int) -> Tuple[int, int]:
    """Resident kB of its own and descriptors of hmkd, without that of a control connection which is just being closed.

    Pages of files are not its own: the first exception alone reads 300 kB of libraries' tables.
    """
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    own = sum(int(line.split()[1]) for line in status.splitlines() if line.startswith(("RssAnon:", "RssShmem:")))
    return own, min(len(os.listdir(f"/proc/{pid}/fd")) for _ in range(50))


def resident_of_files(pid: int) -> int:
    """In kB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssFile:"))


class Books:
    """What the kernel holds and for whom, before; balanced() compares. For tests that end with the module unloaded.

    Pages of programs and files are in the books as such, so what programs and the page cache take does not matter.
    """

    SHARE = 100  # a hundredth of the memory is noise: per-CPU counts, what the kernel keeps for next time

    def __init__(self, noted: Optional[Tuple[int, Dict[str, int]]] = None) -> None:
        """As of now, or of when another one was noted()."""
        self._taint: int = noted[0] if noted else self._read_taint()
        self._before: Dict[str, int] = noted[1] if noted else self._settled()

    def noted(self) -> Tuple[int, Dict[str, int]]:
        """For a Books of another process, also by way of JSON."""
        return self._taint, self._before

    @staticmethod
    def _read_taint() -> int:
        return int(Path("/proc/sys/kernel/tainted").read_text(encoding="ascii"))

    @staticmethod
    def _settled() -> Dict[str, int]:
        Path("/proc/sys/vm/drop_caches").write_text("3", encoding="ascii")
        Path("/proc/sys/vm/stat_refresh").write_text("1", encoding="ascii")
        rows = (line.split() for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
        kb = {row[0].rstrip(":"): int(row[1]) for row in rows}
        known = sum(kb.get(name, 0) for name in ("Buffers", "Cached", "SwapCached", "AnonPages", "Slab", "KernelStack",
                                                 "PageTables", "SecPageTables"))
        return {"unaccounted": kb["MemTotal"] // 4 - free_pages() - known // 4, "vmalloc": kb["VmallocUsed"] // 4,
                "slab": kb["Slab"] // 4, "noise": kb["MemTotal"] // 4 // Books.SHARE}

    def grown(self, limit: float = 0) -> Dict[str, int]:
        """Pages more than before by kind; those beyond the noise the kernel may free within `limit` seconds."""
        end = time.monotonic() + limit
        while True:
            now = self._settled()
            grown = {name: now[name] - self._before[name] for name in now if name != "noise"}
            if not self._beyond_noise(grown) or time.monotonic() >= end:
                return grown
            time.sleep(0.2)

    def _beyond_noise(self, grown: Dict[str, int]) -> Dict[str, int]:
        # With KASAN slab holds what was freed; there kmemleak tells what is leaked.
        apart = {"slab"} if os.path.exists("/sys/kernel/debug/kmemleak") else set()
        return {name: pages for name, pages in grown.items() if pages > self._before["noise"] and name not in apart}

    def leaked(self, limit: float = 0) -> Dict[str, int]:
        """Of what has grown(), what is beyond the noise."""
        return self._beyond_noise(self.grown(limit))

    def balanced(self, limit: float = 30) -> Dict[str, int]:
        """Check them, and say what has grown()."""
        grown = self.grown(limit)
        print(f"pages more than before: {grown}, of which {self._before['noise']} of a kind are noise", flush=True)
        leaked = self._beyond_noise(grown)
        intact(not leaked, f"slab, vmalloc and free pages are back, but {leaked}")
        check(not self.tainted(), f"taint {self._taint:#x} as before, but for {self.tainted():#x}")
        return grown

    def tainted(self) -> int:
        """New bits of taint, without the module's own: out of tree, unsigned."""
        return self._read_taint() & ~self._taint & ~0x3000


def start_gups(*arguments: object, under: Tuple[str, ...] = ()) -> subprocess.Popen:
    """hmk-load-gups, which has filled its memory; `under` is what starts it, as numactl. Ends by end_load()."""
    load = subprocess.Popen([*under, build("tools/load/hmk-load-gups"), *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    check(any('"ready"' in line for line in load.stdout), "the load has filled its memory")
    return load


def integrity(*arguments: object, until: Callable[[dict], bool], limit: float = 60, turn: int = 5) -> dict:
    """What hmk-integrity counts, summed over turns of so many seconds until that is enough; none begins after `limit` seconds.

    How often writers and mover meet in a second is the host's business, so counts are waited for.
    """
    sums: Dict[str, int] = {"turns": 0}
    end = time.monotonic() + limit
    while not sums["turns"] or time.monotonic() < end and not until(sums):
        done = run(build("tests/programs/hmk-integrity"), "--for", f"{turn}s", *arguments, check_status=False)
        print(" ".join(map(str, arguments)), done.stdout, end="", flush=True)
        check(done.returncode in (0, 1), f"hmk-integrity has looked, it ended with {done.returncode}")
        seen = json.loads(done.stdout.splitlines()[-1])
        check(done.returncode == (seen["corrupt"] > 0), f"hmk-integrity ends with {done.returncode} after {seen['corrupt']} corrupt visits")
        for key, value in seen.items():
            each = {f"{key} {name}": number for name, number in value.items()} if isinstance(value, dict) else {key: value}
            for name, number in each.items():
                sums[name] = sums.get(name, 0) | number if name == "paths" else sums.get(name, 0) + number
        sums["turns"] += 1
    return sums


def swap_in_memory(size: int) -> None:
    """So many bytes of swap, in zram, until swapoff."""
    run("modprobe", "zram")
    Path("/sys/block/zram0/disksize").write_text(str(size), encoding="ascii")
    for command in ("mkswap", "swapon"):
        run(command, "/dev/zram0")


CONTROL, CONFIG = "/run/hmk.sock", "/run/hmkd.yaml"
# A page's price by tools/lab.d/lab/prices.py. By the guest's clock a move takes 16 to 58 times what it does on a server
# beside the program's misses, so that none would ever pay.
MOVE_COST = "move_cost: 1154ns\n"


def is_served(control: str) -> bool:
    """Whether somebody listens there. The file alone says little: it is there before that."""
    with socket.socket(socket.AF_UNIX) as link:
        return link.connect_ex(control) == 0


def start_hmkd(config: str, log: Optional[Path] = None, options: Tuple[object, ...] = (), under: Tuple[str, ...] = (),
               control: str = CONTROL) -> subprocess.Popen:
    """hmkd with these lines of configuration, which serves at `control`; its log is the test's own if none is named, and is told
    where the test fails if one is."""
    Path(CONFIG).write_text(config if "move_cost:" in config else MOVE_COST + config, encoding="ascii")
    Path(control).unlink(missing_ok=True)  # of one that was killed
    daemon = subprocess.Popen([*under, build("daemon/hmkd"), "--config", CONFIG, "--socket", control, *map(str, options)],
                              stderr=log.open("wb") if log else None)
    if log:
        LOGS.add(log)
    wait_for(lambda: is_served(control) or daemon.poll() is not None, 30, "hmkd serves")
    check(daemon.poll() is None, "hmkd runs")
    return daemon


def ask_hmkd(*words: str, check_status: bool = True) -> dict:
    """What hmkctl tells, as JSON."""
    return json.loads(run(build("tools/hmkctl/hmkctl"), "--socket", CONTROL, "--json", *words, check_status=check_status).stdout)


def target_of(pid: int) -> dict:
    """Its row of the status; {} when it is not managed."""
    return next((row for row in ask_hmkd("status")["targets"] if row["pid"] == pid), {})


def intervals() -> int:
    """How many have ended of the one process that is managed."""
    return int(ask_hmkd("stats")["targets"][0]["intervals"])


def end_hmkd(daemon: subprocess.Popen, limit: float = 60) -> None:
    """Ask it to end; it does, and well, within `limit` seconds of a plain kernel."""
    daemon.terminate()
    wait_for(lambda: daemon.poll() is not None, limit, "hmkd ends by itself on SIGTERM")
    check(daemon.returncode == 0, f"hmkd ends well, with {daemon.returncode}")


def end_load(load: subprocess.Popen) -> None:
    """Ask one of tools/load to end; it has found every value right."""
    load.terminate()
    last_line = json.loads(load.communicate(timeout=120)[0].splitlines()[-1])
    intact(last_line["wrong_values"] == 0, f"no value is wrong: {last_line}")
    check(load.returncode == 0, f"it ends with 0, it ended with {load.returncode}")


def values_are_right(load: object, socket: object, state: object) -> None:
    """hmk-load-kv reads every value that it has written to the server, and finds it right."""
    done = run(load, "check", "--socket", socket, "--state", state, check_status=False)
    print(done.stdout, end="", flush=True)
    intact(json.loads(done.stdout.splitlines()[-1])["wrong_values"] == 0, "every value is right")
    check(done.returncode == 0, f"the check ends with 0, it ended with {done.returncode}")


def figures(**values: Union[int, Dict[str, int]]) -> None:
    """What tools/torture shows of this run: `count`, `lost` where writes could be, and what they are made `of`."""
    (RESULTS / "figures.json").write_text(json.dumps(values), encoding="ascii")


def node_bytes(node: int, row: str) -> int:
    """A row of its meminfo, such as MemFree."""
    text = Path(f"/sys/devices/system/node/node{node}/meminfo").read_text(encoding="ascii")
    match = re.search(rf"{re.escape(row)}:\s+(\d+) kB", text)
    assert match, text
    return int(match.group(1)) * 1024


def node_free_bytes(node: int) -> int:
    return node_bytes(node, "MemFree")


def resident_bytes(pid: int, text: Optional[str] = None) -> Dict[int, int]:
    """Resident bytes of a process by node, from numa_maps."""
    text = Path(f"/proc/{pid}/numa_maps").read_text(encoding="utf-8") if text is None else text
    total: Dict[int, int] = {}
    for line in text.splitlines():
        size = re.search(r"kernelpagesize_kB=(\d+)", line)
        for node, pages in re.findall(r"\bN(\d+)=(\d+)", line):
            bytes_ = int(pages) * int(size.group(1) if size else 4) * 1024
            total[int(node)] = total.get(int(node), 0) + bytes_
    return total


def huge_pool(node: int, pages: int) -> None:
    """So many pages of 2 MiB in the pool of a node."""
    pool = f"/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages"
    Path(pool).write_text(f"{pages}", encoding="ascii")


def swap_on(size: int) -> str:
    """The device of a new swap of `size` bytes that lies in memory and has a swap cache, as one on a disk has."""
    Path("/dev/shm/swap").write_bytes(bytes(size))
    run("modprobe", "loop")
    device = run("losetup", "--find", "--show", "/dev/shm/swap").stdout.strip()
    run("mkswap", device)
    run("swapon", device)
    return device


TRACING = Path("/sys/kernel/tracing")


def trace_module() -> None:
    """Record the module's events from now on."""
    if not (TRACING / "events").exists():
        run("mount", "-t", "tracefs", "tracefs", TRACING)
    (TRACING / "events/hmk/enable").write_text("1", encoding="ascii")


def traced(event: str) -> List[str]:
    """Lines of one of the module's events."""
    text = (TRACING / "trace").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if f" {event}: " in line]


def mark(number: int) -> None:
    """Execute a mark of the counting plugin: 0 resets, others append a line (needs # count: yes)."""
    run("hmk-mark", number)


def marks() -> List[dict]:
    """The lines the plugin has written so far."""
    text = (RESULTS / "marks.jsonl").read_text(encoding="ascii")
    return [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]


def misses(row: dict, cpu: int, mode: str = "user", kinds: str = "read write") -> List[int]:
    """LLC misses of one vCPU by node in a line of `marks()`."""
    return [sum(row["vcpus"][cpu][mode][kind][node] for kind in kinds.split()) for node in range(row["nodes"])]
