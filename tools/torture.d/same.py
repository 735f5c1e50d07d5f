# SPDX-License-Identifier: MIT
"""Whether another commit's module is the same to the machine: then what has been done to it counts for today's."""
import io
import shutil
import subprocess
import tarfile
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Dict

from lab import LabError
from lab.module import build_module

import runs
from rows import MODULE

DATA = (".data", ".data..read_mostly", ".data..ro_after_init", ".init.data", ".rodata", ".rodata.str1.1",
        ".rodata.str1.8", "__param")  # not: line numbers of warnings, hash of the sources


def code(module: Path) -> str:
    """Hash of its instructions and its data, with what they refer to."""
    what = [["-dr", "--no-show-raw-insn"], ["-sr", *(word for section in DATA for word in ("-j", section))]]
    said = [subprocess.run(["objdump", *words, str(module)], check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            for words in what]
    lines = [line for line in "".join(said).splitlines() if str(module) not in line]
    return sha256("\n".join(lines).encode()).hexdigest()[:16]


def compare(root: Path, commit: str, kernel: str) -> Dict[str, Any]:
    """A line of the store that tells it of one kernel; no `same` where the code differs. Raises LabError for an unknown commit."""
    with TemporaryDirectory() as folder:  # one for both: the paths of their sources are data
        codes = [_code_of(root, each, kernel, Path(folder)) for each in (commit, "HEAD")]
    same = {"same": [runs.subject(root, each) for each in (commit, "HEAD")]} if codes[0] == codes[1] else {}
    return {**same, "kernel": kernel, "code": codes[1], "commit": runs.state(root)}


def _code_of(root: Path, commit: str, kernel: str, folder: Path) -> str:
    packed = subprocess.run(["git", "-C", str(root), "archive", commit, *MODULE], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if packed.returncode:
        raise LabError(f"--same {commit}: {packed.stderr.decode().strip()}")
    for name in MODULE:
        shutil.rmtree(folder / name, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
        files.extractall(folder)
    module = build_module(kernel, root=folder)
    try:
        return code(module)
    finally:
        shutil.rmtree(module.parent)
