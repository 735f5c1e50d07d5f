# SPDX-License-Identifier: MIT
"""clang-tidy over units of several sources, as the builds compile them: what they include is read once for all."""
import functools
import json
import os
import re
import shlex
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Tuple

from lab import cache
from lab.build import first_error, run_preset
from lab.errors import LabError

from tree import CPP, Tree, findings, lines_of

# In a source that a unit includes the analyzer follows paths only if the unit's path has this word (LLVM's AnalysisManager.h).
DATABASE = "build/UnifiedSource/compile_commands.json"
PLUGIN = Path(__file__).parent / "ours.cpp"
# States the analyzer looks at in a function, of 225000. Blocks it has not seen come first: mostly further rounds of loops are left out.
NODES = 30000
OPTIONS = ("--quiet", "--extra-arg=-Wno-unknown-warning-option",
           *(f"--extra-arg={word}" for word in ("-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={NODES}")))


@dataclass(frozen=True)
class Unit:
    """What the compiler is given, and the sources of ours that it includes: itself, where a target has but that."""

    entry: Dict[str, str]
    sources: Tuple[Path, ...]


def clang_tidy(tree: Tree) -> List[str]:
    """What .clang-tidy lists. A unit that was clean is looked at again when a file of ours in it changes.

    Those with the files changed last come first: where time is short, a defect is likeliest there.
    """
    if (tree.root / "CMakePresets.json").exists():
        (cache.root() / "static").mkdir(parents=True, exist_ok=True)
        run_preset(tree.root, cache.root() / "static", "tidy")
    ages = _ages(tree.root)
    units = sorted(_units(tree), key=lambda unit: min(_age(ages, file.relative_to(tree.root)) for file in unit.sources))
    end = time.monotonic() + tree.seconds
    with ThreadPoolExecutor(tree.jobs) as pool:
        found = list(pool.map(lambda unit: _look(tree, unit, end), units))
    left = {file for unit, lines in zip(units, found) if lines is None for file in unit.sources}
    if left:
        tree.notes.append(f"{len(left)} of {len({file for unit in units for file in unit.sources})} files are left for the "
                          f"next run: {tree.seconds:.0f} s are up")
    return list(dict.fromkeys(line for lines in found for line in lines or []))


def _units(tree: Tree) -> Iterator[Unit]:
    ours = set(tree.files(".cpp", ".c", below=CPP))
    for entry in json.loads((tree.root / DATABASE).read_text(encoding="utf-8")):
        file = Path(entry["file"])
        included = re.findall(r'^#include "(.+)"$', file.read_text(encoding="utf-8"), re.MULTILINE)
        sources = tuple(source for source in (file, *map(Path, included)) if source in ours)
        if sources:
            yield Unit(entry, sources)


def _ages(root: Path) -> Dict[str, int]:
    """Paths by how long ago they changed: 0 for what is not committed, then commit by commit."""
    ages: Dict[str, int] = {}
    for command in (["diff", "HEAD", "--name-only"], ["log", "--format=", "--name-only"]):
        for path in lines_of(["git", "-C", root, *command]):
            ages.setdefault(path, len(ages))
    return ages


def _age(ages: Dict[str, int], file: Path) -> int:
    """Of a file or the header beside it; new ones are the youngest."""
    return min(ages.get(str(name), -1) for name in (file, file.with_suffix(".hpp")) if name == file or str(name) in ages)


def _look(tree: Tree, unit: Unit, end: float) -> Optional[List[str]]:
    """None: not looked at, there is no time left."""
    clean = cache.root() / "static" / "clean" / _content(tree, unit)
    if clean.exists():
        return []
    if time.monotonic() > end:
        return None
    done = subprocess.run(["clang-tidy", *OPTIONS, f"--load={_plugin()}", "-p", str(tree.root / DATABASE),
                           f"--config-file={tree.root / '.clang-tidy'}", unit.entry["file"]], check=False,
                          cwd=unit.entry["directory"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace")
    lines = done.stdout.splitlines()
    if done.returncode not in (0, 1) or done.returncode and not any(line.endswith("-warnings-as-errors]") for line in lines):
        raise LabError(f"clang-tidy ended with {done.returncode} over {unit.sources[0].relative_to(tree.root)}: {lines[-1:]}")
    found = _told(tree, unit, lines)
    if not found:
        clean.parent.mkdir(parents=True, exist_ok=True)
        clean.touch()
    return found


def _told(tree: Tree, unit: Unit, lines: List[str]) -> List[str]:
    """The findings in files of ours; the unit itself, which includes sources, is none."""
    found, notes = ([line for line in findings(lines, tree.root, kind) if not line.startswith("build/")]
                    for kind in (r"(warning|error): ", "note: "))
    broken = next((line for line in lines if line.endswith("[clang-diagnostic-error]")), None)
    if broken and not any(line.endswith("[clang-diagnostic-error]") for line in found):  # in a header that is not ours
        place = notes[0].split(" ")[0] if notes else f"{unit.sources[0].relative_to(tree.root)}:1:"
        found.append(f"{place} error: clang cannot compile it, so not all was checked: {broken}")
    return found


def _content(tree: Tree, unit: Unit) -> str:
    """What the verdict depends on: the command, the checks, the unit, every file of the project in it, and how it is told here.

    Not where the tree lies: a clean clone takes what another found clean.
    """
    entry = unit.entry
    words = shlex.split(entry["command"])
    words = words[words.index("ccache") + 1:] if "ccache" in words else words
    plain = [word for word in words[:-1] if word not in ("-c", "-o") and not word.endswith(".o")]
    rule = " ".join(lines_of([*plain, "-MM", entry["file"]], cwd=entry["directory"])).replace("\\", " ")
    named = [Path(os.path.normpath(Path(entry["directory"]) / word)) for word in rule.split()[1:]]
    texts = [file.read_bytes() for file in [*named, tree.root / ".clang-tidy", Path(__file__), PLUGIN] if file.is_file()]
    return sha256(b"\0".join([" ".join(plain).encode(), *texts]).replace(f"{tree.root}/".encode(), b"")).hexdigest()


@functools.lru_cache(maxsize=None)
def _plugin() -> Path:
    """Compiled for the clang-tidy that is installed, whose LLVM has its headers beside it."""
    llvm = Path(os.path.realpath("/usr/bin/clang-tidy")).parents[1]
    command = ["c++", "-std=c++17", "-O1", "-fno-rtti", "-fPIC", "-shared", f"-I{llvm / 'include'}", str(PLUGIN)]
    key = sha256("\0".join([*lines_of(["clang-tidy", "--version"]), PLUGIN.read_text(encoding="utf-8")]).encode()).hexdigest()
    folder = cache.root() / "static" / f"ours-{key[:12]}"
    with cache.locked(folder):
        if not folder.is_dir():
            with cache.filled(folder) as partial:
                said = lines_of([*command, "-o", partial / "ours.so"])
                if not (partial / "ours.so").exists():
                    why = first_error("\n".join(said))
                    raise LabError(f"what clang-tidy shall load cannot be compiled: {why}")
    return folder / "ours.so"
