# SPDX-License-Identifier: MIT
"""What `cmake --install` would put where, as CMake tells it before anything is built."""
import functools
import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Iterator, List

ROOT = Path(__file__).resolve().parents[2]
#: As debian/rules asks for it on Debian 12.
OPTIONS = ("-DBUILD_TESTING=OFF", "-DCMAKE_INSTALL_PREFIX=/usr", "-DCMAKE_INSTALL_SYSCONFDIR=/etc", "-DCMAKE_INSTALL_DOCDIR=share/doc/hmkd",
           "-DHMK_UNIT_DIR=/lib/systemd/system", "-DHMK_UDEV_DIR=/lib/udev")
#: Installed by code, unless it is there.
BY_CODE = "etc/hmk/hmkd.yaml"


@functools.lru_cache(maxsize=None)
def installed() -> List[str]:
    """Every path below the root of the system, without its first slash."""
    with TemporaryDirectory() as scratch:
        query = Path(scratch) / ".cmake/api/v1/query/codemodel-v2"
        query.parent.mkdir(parents=True)
        query.touch()
        done = subprocess.run(["cmake", "-S", str(ROOT), "-B", scratch, "-G", "Ninja", *OPTIONS], check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise AssertionError(f"cmake: {done.stdout[-2000:]}")
        reply = Path(scratch) / ".cmake/api/v1/reply"
        folders = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(reply.glob("directory-*.json"))]
        paths = [path for folder in folders for path in _of_folder(folder)]
    return sorted([*paths, BY_CODE])


def _of_folder(folder: dict) -> Iterator[str]:
    for installer in folder.get("installers", []):
        if installer["type"] == "code":
            continue
        where = Path("/usr", installer["destination"])
        for path in installer["paths"]:
            if installer["type"] == "directory":
                here = path if isinstance(path, str) else path["from"]
                top = where / (Path(here).name if isinstance(path, str) else path["to"])
                yield from (str(top / file.relative_to(ROOT / here))[1:] for file in sorted((ROOT / here).rglob("*"))
                            if file.is_file() and _is_source(file))
            else:
                name = Path(path).name if isinstance(path, str) else path["to"]
                yield str(where / name)[1:]


def _is_source(file: Path) -> bool:
    """The patterns of packaging/CMakeLists.txt."""
    return file.name == "probe.sh" or (file.suffix in (".c", ".h") and not file.name.endswith(".mod.c"))
