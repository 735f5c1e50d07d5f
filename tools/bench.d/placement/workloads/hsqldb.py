# SPDX-License-Identifier: MIT
"""TPC-C-like transactions on an in-memory Java database."""
import subprocess
from pathlib import Path
from typing import Any, List

from .base import MEBI, Failed, OneProgram

SOURCE = Path(__file__).resolve().parents[3] / "load/java/TpccHsqldb.java"
LIBRARY = Path("/usr/share/java/hsqldb.jar")
HEAP_MIB, YOUNG_MIB = 1300, 32
ITEMS, CUSTOMERS = 25_000, 1_000  # in each of 2 warehouses, in each of 10 districts


class Hsqldb(OneProgram):
    """Debian's HSQLDB and its driver in one JVM; stands in for VoltDB.

    Rows are Java objects: the young generation's are moved by each collection, the old one's by a full one. The large
    texts of the rows are allocated where they stay, or loading would copy all of them.
    """

    name = "tpcc-hsqldb"
    packages = ("libhsqldb-java", "default-jdk-headless")
    memory_bytes = 1400 * MEBI

    @staticmethod
    def _classes(build: Path) -> Path:
        return build / "tools/load/java"

    @classmethod
    def host_prepare(cls, build: Path) -> None:
        """Compile the driver if it is older than its source."""
        classes = cls._classes(build)
        made = classes / f"{SOURCE.stem}.class"
        if made.exists() and made.stat().st_mtime > SOURCE.stat().st_mtime:
            return
        classes.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["javac", "-XDignore.symbol.file", "-Xlint:all", "-Werror", "-cp", LIBRARY, "-d", classes, SOURCE],
                              check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if done.returncode:
            raise Failed(f"{SOURCE.name} does not compile: {done.stdout.strip().splitlines()[0]}")

    def command(self) -> List[Any]:
        return ["java", f"-Xms{HEAP_MIB}m", f"-Xmx{HEAP_MIB}m", f"-Xmn{YOUNG_MIB}m", "-XX:+UseSerialGC",
                "-XX:PretenureSizeThreshold=3k", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData",
                "-cp", f"{self._classes(self.build)}:{LIBRARY}", SOURCE.stem, ITEMS, CUSTOMERS]
