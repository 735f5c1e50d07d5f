# SPDX-License-Identifier: MIT
"""PID 1 of a guest: runs the host's commands, one at a time, and reports over a dedicated port.

Stands alone: it is copied into the guest's results folder and started from there. Everything it
says is one JSON line; if it stops saying anything, the host calls the guest lost.
"""
import ctypes
import glob
import json
import mmap
import os
import select
import signal
import time
from typing import List

RESULTS = "/run/hmk-lab"
LAB = f"{RESULTS}/.lab"
HOST, OWN_ROOT = "/run/hmk-host", "/run/hmk-root"
PORT = "hmk.control"
# of unshare(2), mount(2), umount2(2), and a call the C library has no name for
NEW_MOUNTS, BIND, RECURSIVE, PRIVATE, DETACH, PIVOT_ROOT = 0x20000, 0x1000, 0x4000, 0x40000, 2, 155

# nop, 250 times; pause; jmp back. It runs while all others sleep, too, so its turn is long by the clock: by the host
# it takes no longer than one of two instructions.
SPACER = 250 * b"\x90" + b"\xf3\x90" + b"\xe9\x01\xff"


class Port:
    """The virtio-serial port to the host, line by line."""

    def __init__(self) -> None:
        self.fd = os.open(self._find(), os.O_RDWR)
        self._pending = b""

    @staticmethod
    def _find() -> str:
        while True:  # the host's limit ends this if the port never comes
            for name in glob.glob("/sys/class/virtio-ports/*/name"):
                if open(name, encoding="ascii").read().strip() == PORT:
                    return "/dev/" + name.split("/")[-2]
            time.sleep(0.01)

    def say(self, **message) -> None:
        data = (json.dumps(message) + "\n").encode()
        while data:
            data = data[os.write(self.fd, data):]

    def next(self):
        """The next request if one is complete."""
        line, newline, rest = self._pending.partition(b"\n")
        if newline:
            self._pending = rest
            return json.loads(line)
        return None

    def fill(self) -> None:
        self._pending += os.read(self.fd, 65536)


class KernelLog:
    """Every record of /dev/kmsg once."""

    def __init__(self) -> None:
        self.fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)

    def take(self) -> list:
        lines: List[str] = []
        while True:
            try:
                record = os.read(self.fd, 16384).decode(errors="replace")
            except BlockingIOError:
                return lines
            except BrokenPipeError:  # the ring overran us
                lines.append("hmk-lab: kernel log lines were lost")
                continue
            head, _, text = record.partition(";")
            micro = int(head.split(",")[2])
            lines.append(f"[{micro / 1e6:12.6f}] {text.splitlines()[0] if text else ''}")


class Leaks:
    """What kmemleak finds after a command; nothing at all on a kernel without it."""

    FILE = "/sys/kernel/debug/kmemleak"
    AGE = 6  # it does not report what is younger than 5 s

    def __init__(self) -> None:
        self.there = os.path.exists(self.FILE)
        self._scan()
        write(self.FILE, "clear")  # what was so before the first command

    def _scan(self) -> None:
        if self.there:
            write(self.FILE, "scan")

    def take(self, seconds: float) -> list:
        """Reports as lines of a log, each leak once; a command of no length is not worth a scan."""
        if not self.there or seconds < 2:
            return []
        time.sleep(self.AGE)
        self._scan()
        self._scan()  # an object that changed since the last scan waits for the next one
        with open(self.FILE, encoding="ascii", errors="replace") as file:
            lines = [f"kmemleak: {line}" for line in file.read().splitlines()]
        write(self.FILE, "clear")
        return lines


def prepare(config: dict) -> None:
    """Make the overlay look like a booted system, and keep CPUs free for who asks for them."""
    if config["spacers"]:
        shorten_turns()
        start_spacers(config["spacers"], config["spacer_page"])
    if config["pinned"]:
        keep_to(set(config["pinned"]), max(os.sched_getaffinity(0)))
    os.environ.clear()
    os.environ.update({"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root",
                       "LANG": "C.UTF-8", "TERM": "dumb", "PYTHONUNBUFFERED": "1",
                       "HMK_LAB": RESULTS, **config["env"]})
    os.makedirs("/dev/pts", exist_ok=True)
    os.makedirs("/dev/shm", exist_ok=True)
    call("mount", "devpts", "/dev/pts", "devpts", 0, "mode=620,ptmxmode=666")
    call("mount", "tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777")
    call("mount", "cgroup2", "/sys/fs/cgroup", "cgroup2", 0, None)
    call("mount", "debugfs", "/sys/kernel/debug", "debugfs", 0, None)
    call("mount", "tracefs", "/sys/kernel/tracing", "tracefs", 0, None)
    os.makedirs(f"/lib/modules/{os.uname().release}", exist_ok=True)
    call("mount", config["modules"], f"/lib/modules/{os.uname().release}", None, BIND, None)
    write("/sys/kernel/mm/transparent_hugepage/enabled", config["thp"])
    write("/proc/sys/kernel/hostname", "hmk-lab")
    write("/proc/sys/kernel/printk", "4 4 1 4")


def shorten_turns() -> None:
    """End a vCPU's turn 8192 times a second of the guest's clock.

    On one thread QEMU runs a vCPU until some timer is due: 4 ms in a quiet guest, and that long waits
    whoever wants an answer of another vCPU, as in every TLB flush. The real-time clock's periodic
    timer is one; its interrupt stays raised because nobody reads register C, so no vCPU handles it twice.
    """
    select_register, data, rate_8192, enable = 0x70, 0x71, 0x23, 0x40
    fd = os.open("/dev/port", os.O_RDWR)
    for register, change in ((0x0A, lambda _: rate_8192), (0x0B, lambda old: old | enable)):
        os.pwrite(fd, bytes([register]), select_register)
        value = change(os.pread(fd, 1, data)[0])
        os.pwrite(fd, bytes([register]), select_register)
        os.pwrite(fd, bytes([value]), data)
    os.close(fd)


def start_spacers(apic_ids: List[int], page: int) -> None:
    """Have the spacers (qemu.py), which the kernel has never started, run SPACER, in this page.

    The kernel sends by the same two registers of the APIC: between the two writes no interrupt must come. One comes
    in 500,000 instructions, so they are two instructions of the processor's own; a guest that is hit is lost at boot
    and booted again.
    """
    apic_base, init, start_up = 0xfee00000, 0x4500, 0x4600
    # mov %esi,0x310(%rdi); mov %edx,0x300(%rdi); ret
    write_both = bytes.fromhex("89b710030000 899700030000 c3")
    fd = os.open("/dev/mem", os.O_RDWR | os.O_SYNC)
    with mmap.mmap(fd, mmap.PAGESIZE, offset=page) as reserved:
        reserved.write(SPACER)
        if reserved[:len(SPACER)] != SPACER:
            raise OSError(f"/dev/mem does not write to {page:#x}")
    apic = mmap.mmap(fd, mmap.PAGESIZE, offset=apic_base)
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(write_both)
    at, to = (ctypes.addressof(ctypes.c_char.from_buffer(memory)) for memory in (code, apic))
    send = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)(at)
    for apic_id in apic_ids:
        for message in (init, start_up | page >> 12):
            send(to, apic_id << 24, message)
    os.close(fd)


def keep_to(cpus: set, last: int) -> None:
    """Bind this process, its children to come and every kernel thread that lets itself be bound.

    With four CPUs reclaim and compaction, otherwise bound to their node's CPUs, get the last one:
    see configs/lab/bench-four-tier.yaml.
    """
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/comm", encoding="utf-8") as file:
                reclaims = last >= 3 and file.read().startswith(("kswapd", "kcompactd"))
            os.sched_setaffinity(int(name), {last} if reclaims else cpus)
        except OSError:
            continue  # it has ended, or belongs to one CPU for good
    mask = sum(1 << cpu for cpu in cpus)
    write("/sys/devices/virtual/workqueue/cpumask", f"{mask:x}")


def write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError:
        pass


def reap(main: int):
    """Collect every dead child (PID 1 inherits orphans); the status of `main` if it is among them."""
    status = None
    while True:
        try:
            pid, code = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == main:
            status = os.waitstatus_to_exitcode(code)


def enter_own_root(results: str) -> None:
    """The host's root below a tmpfs once more, with a /run and a /dev/shm of its own, and `results` in place of the guest's.

    What is written or mounted there is gone with the last process that was in it.
    """
    modules = f"/lib/modules/{os.uname().release}"
    root, data, work = (f"{OWN_ROOT}/{name}" for name in ("root", "data", "work"))
    call("unshare", NEW_MOUNTS)
    call("mount", None, "/", None, RECURSIVE | PRIVATE, None)
    os.makedirs(OWN_ROOT, exist_ok=True)
    call("mount", "tmpfs", OWN_ROOT, "tmpfs", 0, None)
    for folder in (root, data, work):
        os.mkdir(folder)
    call("mount", "overlay", root, "overlay", 0, f"lowerdir={HOST},upperdir={data},workdir={work}")
    for shared in ("/proc", "/sys", "/dev", modules):
        os.makedirs(root + shared, exist_ok=True)
        call("mount", shared, root + shared, None, BIND | RECURSIVE, None)
    call("mount", "tmpfs", f"{root}/dev/shm", "tmpfs", 0, "mode=1777")
    call("mount", "tmpfs", f"{root}/run", "tmpfs", 0, "mode=755")
    os.mkdir(root + RESULTS)
    call("mount", results, root + RESULTS, None, BIND, None)
    os.chdir(root)
    call("syscall", PIVOT_ROOT, ".", ".")  # the old one lies on top of the new one then
    call("umount2", ".", DETACH)


def call(name: str, *arguments) -> None:
    """A function of the C library that gives 0 when all is well."""
    encoded = [word.encode() if isinstance(word, str) else word for word in arguments]
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*encoded):
        raise OSError(ctypes.get_errno(), f"{name} {arguments}: {os.strerror(ctypes.get_errno())}")


def start(request: dict, output: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.closerange(3, 256)
        if request["own_root"] is not None:
            enter_own_root(f"{RESULTS}/{request['own_root']}")
        os.chdir(request["cwd"])
        os.environ.update(request["env"])
        os.execvp(request["command"][0], request["command"])
    except OSError as error:
        os.write(2, f"{request['command'][0]}: {error.strerror}\n".encode())
    os._exit(127)


def run(port: Port, request: dict):
    """Run one command to its end; its output goes out as it comes."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    child = start(request, writer)
    os.close(writer)
    status, open_end = None, True
    while status is None:
        ready, _, _ = select.select(([reader] if open_end else []) + [port.fd], [], [], 0.02 if not open_end else 0.2)
        if reader in ready:
            open_end = forward(port, reader)
        if port.fd in ready:
            port.fill()
            if (port.next() or {}).get("verb") == "cancel":
                os.killpg(child, signal.SIGKILL)
        status = reap(child)
    while open_end and select.select([reader], [], [], 0)[0]:
        open_end = forward(port, reader)
    os.close(reader)
    return status if status >= 0 else 128 - status


def forward(port: Port, reader: int) -> bool:
    data = os.read(reader, 65536)
    if data:
        port.say(event="output", data=data.decode(errors="replace"))
    return bool(data)


def main() -> None:
    with open(f"{LAB}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    port, log = Port(), KernelLog()
    prepare(config)
    leaks = Leaks()
    port.say(event="ready", dmesg=log.take(), release=os.uname().release)
    while True:
        request = port.next()
        if request is None:
            select.select([port.fd], [], [], 0.5)
            reap(-1)
            if select.select([port.fd], [], [], 0)[0]:
                port.fill()
        elif request["verb"] == "run":
            began = time.monotonic()
            status = run(port, request)
            found = leaks.take(time.monotonic() - began)
            port.say(event="end", status=status, dmesg=log.take() + found)
        elif request["verb"] == "off":
            os.sync()
            port.say(event="off")
            write("/proc/sysrq-trigger", "o")
            signal.pause()


main()
