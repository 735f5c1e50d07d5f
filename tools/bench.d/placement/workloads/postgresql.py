# SPDX-License-Identifier: MIT
"""TPC-C-like transactions on Debian's PostgreSQL: the shared buffer pool is what is managed."""
import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence

from .base import (APPLICATION_CPU, CLIENT_CPU, LOAD_SECONDS, LOGS, MEBI, Failed, Workload, memory_by_node, on_cpu, quantiles,
                   wait_for)

HERE = Path(__file__).resolve().parent / "tpcc"
DATA, SOCKETS, SLOWEST_NODE = Path("/run/postgresql-data"), Path("/run/postgresql-sockets"), 3
SCRIPTS = ("load.sql", "transactions.sql")
WAREHOUSES = 8
# Transactions before memory is filled. Half of all misses are of the few MiB that backends keep for themselves: in the last free
# pages of full nodes these were in tier 1 of one run and in tier 2 of the next, 84 and 35 % of the misses served by tier 1.
WARM = 100
MIX = (("new_order(:w, :d)", 45), ("payment(:w, :d)", 43), ("order_status(:w, :d)", 4), ("delivery(:w)", 4), ("stock_level(:w, :d)", 4))
SETTINGS = {
    "huge_pages": "off", "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "wal_level": "minimal",
    "max_wal_senders": "0", "wal_init_zero": "off", "min_wal_size": "32MB", "max_wal_size": "128MB",
    "checkpoint_timeout": "1d", "autovacuum": "off", "bgwriter_lru_maxpages": "0", "jit": "off", "listen_addresses": "",
    "max_parallel_workers": "0", "max_parallel_workers_per_gather": "0", "max_connections": "60", "logging_collector": "off",
}


def programs() -> Path:
    """Debian's folder of server programs, which is not in the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found:
        raise Failed("postgresql: no initdb below /usr/lib/postgresql; run: apt-get install postgresql")
    return found[-1].parent


def as_postgres(command: Sequence[Any], said: str = "", **options: Any) -> subprocess.CompletedProcess:
    """Run it as the user postgres, which the server insists on, when we are root; Failed with its last words.

    That user may not read files of ours: what it is to read is said to it.
    """
    words = [str(word) for word in command]
    if os.geteuid() == 0:
        words = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *words]
    done = subprocess.run(words, check=False, input=said, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=LOAD_SECONDS, **options)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        raise Failed(f"postgresql: {Path(str(command[0])).name} ended with {done.returncode}: {''.join(last) or 'no message'}")
    return done


class Server:
    """A postmaster on a data folder, reached over a unix socket."""

    def __init__(self, data: Path, sockets: Path, shared_buffers: str, cpu: Optional[int] = None) -> None:
        self.data, self.sockets = data, sockets
        settings = {**SETTINGS, "shared_buffers": shared_buffers, "unix_socket_directories": str(sockets)}
        flags = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        pin = on_cpu(cpu) if cpu is not None else []
        as_postgres([*pin, programs() / "pg_ctl", "start", "-w", "-t", int(LOAD_SECONDS), "-D", data,
                     "-l", data / "server.log", "-o", " ".join(f"'{flag}'" for flag in flags)], cwd=data)

    def sql(self, text: str, **variables: Any) -> str:
        """Run SQL as the database's owner; what it prints."""
        command = [programs() / "psql", "-h", self.sockets, "-U", "postgres", "-d", "postgres", "-XAtq",
                   "-v", "ON_ERROR_STOP=1"]
        command += [word for key, value in variables.items() for word in ("-v", f"{key}={value}")]
        return as_postgres(command, text, cwd=self.data).stdout.strip()

    def pids(self) -> List[int]:
        postmaster = int((self.data / "postmaster.pid").read_text(encoding="ascii").split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text(encoding="ascii")
        return [postmaster, *map(int, children.split())]

    def stop(self) -> None:
        as_postgres([programs() / "pg_ctl", "stop", "-w", "-t", int(LOAD_SECONDS), "-m", "fast", "-D", self.data], cwd=self.data)


class Postgresql(Workload):
    """8 warehouses, all of it in the buffer pool before the clock starts; a few clients, as fast as they can.

    The data folder is made once on the host and copied to a tmpfs on the slowest node, so that its pages take no
    room that is measured. An operation is a transaction; a gap is the time a client waited for one.
    """

    name = "tpcc-postgresql"
    packages = ("postgresql",)
    shared = True
    memory_bytes = 1024 * MEBI
    shared_buffers, clients = "960MB", 4

    @classmethod
    def host_prepare(cls, build: Path) -> None:
        """Make the data folder in the lab's cache; the build folder says where it is, for the guest."""
        sys.path.append(str(Path(__file__).resolve().parents[3] / "lab.d"))
        from lab import cache  # pylint: disable=import-outside-toplevel
        contents = b"".join(file.read_bytes() for file in sorted(HERE.iterdir())) + repr(SETTINGS).encode()
        made_by = hashlib.sha256(contents).hexdigest()[:12]
        made = cache.root() / f"tpcc-postgresql-{programs().parent.name}-{WAREHOUSES}-{made_by}"
        with cache.locked(made):
            if not made.exists():
                _make(made, cache)
        link = cls._source(build)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(made / "data")

    @staticmethod
    def _source(build: Path) -> Path:
        return build / "tools/load/tpcc-postgresql"

    def prepare(self) -> None:
        SOCKETS.mkdir()
        shutil.chown(SOCKETS, "postgres")
        DATA.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=0700,mpol=bind:{SLOWEST_NODE}", "tmpfs", DATA], check=True)
        subprocess.run(["cp", "-r", f"{self._source(self.build)}/.", DATA], check=True)
        subprocess.run(["chown", "-R", "postgres:postgres", DATA], check=True)
        Path("/proc/sys/vm/drop_caches").write_text("1\n", encoding="ascii")  # the copy's source
        self._shared_before = memory_by_node("Shmem")  # the data folder's files
        self._server = Server(DATA, SOCKETS, self.shared_buffers, APPLICATION_CPU)
        self._connect()
        there = self._server.pids()
        self._server.sql("SELECT count(pg_prewarm(oid)) FROM pg_class WHERE relkind IN ('r', 'i')")
        wait_for(lambda: self._server.pids() == there, 30, "the server's processes are those that stay")

    def _connect(self) -> None:
        """pgbench holds its connections, and has done WARM transactions and a few on each, when it is stopped."""
        folder = SOCKETS / "pgbench"
        folder.mkdir()
        draw = f"\\set w random(1, {WAREHOUSES})\n\\set d random(1, 10)\n"
        scripts: List[str] = []
        for number, (call, weight) in enumerate(MIX):
            file = folder / f"{number}.sql"
            file.write_text(f"{draw}SELECT {call};\n", encoding="ascii")
            scripts += ["-f", f"{file}@{weight}"]
        self._transactions = Transactions(folder / "log")
        with open(LOGS / "pgbench.log", "wb") as log:
            self._client = subprocess.Popen(
                ["taskset", "-c", str(CLIENT_CPU), programs() / "pgbench", "-h", SOCKETS, "-U", "postgres", "-n", "-M",
                 "prepared", "-c", str(self.clients), "-T", "1000000", "--random-seed=1", "--log", f"--log-prefix={folder}/log", *scripts,
                 "postgres"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=self._transactions.attach)
        wait_for(lambda: len(self._transactions.waited_us) > WARM + 3 * self.clients or self._client.poll() is not None, LOAD_SECONDS,
                 "pgbench's first transactions")
        self._client.send_signal(signal.SIGSTOP)
        self._check_alive()
        self._transactions.waited_us.clear()

    def _check_alive(self) -> None:
        if self._client.poll() is not None:
            last = (LOGS / "pgbench.log").read_text(errors="replace").strip().splitlines()[-1:]
            raise Failed(f"pgbench ended by itself with {self._client.returncode}: {''.join(last)}; see pgbench.log")

    def pids(self) -> List[int]:
        return self._server.pids()

    def shared_bytes(self) -> List[int]:
        return [now - before for now, before in zip(memory_by_node("Shmem"), self._shared_before)]

    def start(self) -> None:
        self._client.send_signal(signal.SIGCONT)

    def ops(self) -> int:
        self._check_alive()
        return len(self._transactions.waited_us)

    def stop(self) -> Dict[str, Any]:
        self._check_alive()
        self._client.kill()
        self._client.wait(60)
        self._transactions.close()
        wrong = int(self._server.sql("SELECT wrong_values()"))
        self._server.stop()
        subprocess.run(["umount", DATA], check=True)
        waited_us = self._transactions.waited_us
        return {"ops": len(waited_us), "wrong_values": wrong, **quantiles(waited_us)}


class Postgresql40(Postgresql):
    """A backend for each of 40 clients, each with page tables of its own of the one buffer pool."""

    name, clients = "tpcc-postgresql-40", 40


class Transactions:
    """pgbench's log of transactions. It would write a file a hundred lines at a time, so it gets a terminal."""

    def __init__(self, prefix: Path) -> None:
        self._prefix = prefix
        self._ours, self._theirs = os.openpty()
        self.waited_us: List[float] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def attach(self) -> None:
        """In the child that becomes pgbench: under the name it will open, PREFIX.PID."""
        Path(f"{self._prefix}.{os.getpid()}").symlink_to(os.ttyname(self._theirs))

    def _read(self) -> None:
        with open(self._ours, encoding="ascii") as lines, contextlib.suppress(OSError):  # EIO: nobody writes any more
            for line in lines:
                self.waited_us.append(float(line.split()[2]))

    def close(self) -> None:
        os.close(self._theirs)
        self._reader.join(60)


def _make(made: Path, cache: ModuleType) -> None:
    """Where the user postgres can write, then into the cache as a whole."""
    with tempfile.TemporaryDirectory(prefix="hmk-tpcc.") as folder:
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
        _fill(Path(folder) / "data", Path(folder))
        with cache.filled(made) as place:
            shutil.copytree(Path(folder) / "data", place / "data")


def _fill(data: Path, sockets: Path) -> None:
    """A new database with everything loaded, shut down cleanly."""
    as_postgres([programs() / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-locale", "-E", "UTF8", "--no-sync"],
                cwd=sockets)
    server = Server(data, sockets, "512MB")
    try:
        for name in SCRIPTS:
            server.sql((HERE / name).read_text(encoding="utf-8"), warehouses=WAREHOUSES)
        server.sql("VACUUM FREEZE ANALYZE")
    finally:
        server.stop()
    as_postgres([programs() / "pg_resetwal", "-D", data], cwd=sockets)  # drops 100 MiB that would be copied for nothing
