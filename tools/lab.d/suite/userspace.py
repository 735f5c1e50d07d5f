# SPDX-License-Identifier: MIT
"""The user-space build and its tests (unit, property, ABI, CLI), each counted by itself; also under the sanitizers."""
import json
import os
import re
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Sequence, Tuple

from lab.build import remembering
from lab.progress import step
from suite import gtest
from suite.case import FAILED, PASSED, SKIPPED, Result

LAST_LINES = 25
SANITIZED = ("asan", "tsan")  # presets of CMakePresets.json
PRODUCT = ("include/all", "daemon/all", "tools/hmkctl/all", "packaging/all")  # folders
#: What guests run; of the tests only their programs.
PROGRAMS = (*PRODUCT, "tools/all", "tests/programs/all")
#: In the gate each test is compiled once: what counts over millions with -O2, all else for ASan. Targets, and labels of ctest.
ONCE = {"release": ((*PROGRAMS, "figure_tests"), "^(figures|bench)$"), "asan": ((*PRODUCT, "hmk-sim", "memory_tests"), "^(unit|property|abi|cli|fuzz)$")}


def build(root: Path, preset: str = "release", jobs: Optional[int] = None, targets: Sequence[str] = ()) -> Result:
    """Configure and build with a preset: all, or these targets."""
    began = time.monotonic()
    name = "build/user-space" if preset == "release" else f"build/user-space [{preset}]"
    for what, command in ((f"configuring {preset}", ["cmake", "--preset", preset]),
                          (f"building user space ({preset})",
                           ["cmake", "--build", "--preset", preset, *([] if jobs is None else [f"-j{jobs}"]),
                            *(["--target", *targets] if targets else [])])):
        with step(what):
            done = subprocess.run(command, cwd=root, check=False, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=remembering(root))
        if done.returncode:
            lines = done.stdout.splitlines()
            first = next((i for i, line in enumerate(lines) if re.search(r"error[: ]|FAILED|CMake Error", line)), -LAST_LINES)
            return Result(name, FAILED, time.monotonic() - began, f"{what} failed", tuple(lines[first:][:LAST_LINES]))
    return Result(name, PASSED, time.monotonic() - began)


def names(folder: Path) -> List[str]:
    """What ctest knows."""
    return [test["name"] for test in _listed(["ctest", "--test-dir", str(folder)])]


def run(root: Path, preset: str, chosen: Optional[List[str]], jobs: int = 2, label: str = "") -> Iterator[Result]:
    """Run all tests of a preset, or those `chosen` by name, or by `label`, a regular expression."""
    prefix = "ctest" if preset == "release" else preset
    choice = [*(_only(chosen) if chosen is not None else ()), *(["-L", label] if label else ())]
    listed = _listed(["ctest", "--preset", preset, *choice], root)
    if not listed:
        yield Result(prefix, FAILED, 0.0, "ctest lists no test")
        return
    cases, others = by_program(listed)
    environment = dict(os.environ, TSAN_OPTIONS="halt_on_error=1", UBSAN_OPTIONS="print_stacktrace=1")
    with step(f"unit, property, ABI and CLI tests ({preset})"):
        for (program, folder, limit), named in cases.items():
            as_told = {case: f"{prefix}/{name}" for case, name in named.items()}
            yield from gtest.Program(Path(program), Path(folder), environment, limit).run(as_told, prefix)
        if others:
            yield from _ctest(root, preset, prefix, jobs, others, environment)


def by_program(listed: List[dict]) -> "tuple[Dict[Tuple[str, str, float], Dict[str, str]], List[str]]":
    """Of what ctest lists, the cases of each GoogleTest program, folder and time limit with ctest's names, and the names of other tests."""
    cases: Dict[Tuple[str, str, float], Dict[str, str]] = {}
    others = []
    for test in listed:
        program, *words = test.get("command", [""])
        about = {one["name"]: one["value"] for one in test.get("properties", [])}
        case = next((word.partition("=")[2] for word in words if word.startswith("--gtest_filter=")), "")
        if case and not about.get("DISABLED"):
            cases.setdefault((program, about["WORKING_DIRECTORY"], about["TIMEOUT"]), {})[case] = test["name"]
        else:
            others.append(test["name"])
    return cases, others


def _only(named: Sequence[str]) -> List[str]:
    """What makes ctest take these tests and no other."""
    return ["-R", "^(" + "|".join(map(re.escape, named)) + ")$"]


def _listed(command: Sequence[str], folder: Optional[Path] = None) -> List[dict]:
    done = subprocess.run([*command, "--show-only=json-v1"], cwd=folder, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(done.stdout).get("tests", []) if done.returncode == 0 else []


def _ctest(root: Path, preset: str, prefix: str, jobs: int, named: Sequence[str], environment: Dict[str, str]) -> Iterator[Result]:
    """The tests `named`, each in a process of its own."""
    junit = root.resolve() / "build" / preset / "results.xml"
    junit.unlink(missing_ok=True)
    command = ["ctest", "--preset", preset, f"-j{jobs}", "--timeout", "120", "--output-junit", str(junit), *_only(named)]
    done = subprocess.run(command, cwd=root, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    if not junit.exists():
        yield Result(prefix, FAILED, 0.0, "ctest gave no results", tuple(done.stdout.splitlines()[-LAST_LINES:]))
        return
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        yield _result(test, prefix)


def _result(test: ElementTree.Element, prefix: str) -> Result:
    name, seconds = f"{prefix}/{test.get('name')}", float(test.get("time") or 0)
    status = test.get("status")
    output = (test.findtext("system-out") or "").splitlines()
    if status == "run" and test.find("failure") is None:
        return Result(name, PASSED, seconds)
    skipped = test.find("skipped")
    if status == "disabled" or (skipped is not None and "SKIP" in (skipped.get("message") or "")):
        said = [line for line in output if line.strip()]
        return Result(name, SKIPPED, seconds, said[-1].strip() if said else status or "no reason given")
    failure = test.find("failure")
    reason = (failure.get("message") if failure is not None else "") or status or "no status"
    return Result(name, FAILED, seconds, reason, tuple(output[-LAST_LINES:]))
