# SPDX-License-Identifier: MIT
"""The user-space build and its tests (unit, property, ABI, CLI), each counted by itself."""
import json
import re
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Iterator, List, Optional

from lab.progress import step
from suite.case import FAILED, PASSED, SKIPPED, Result

LAST_LINES = 25


def build(root: Path) -> Result:
    """Configure and build with the preset `release`."""
    began = time.monotonic()
    for what, command in (("configuring", ["cmake", "--preset", "release"]),
                          ("building user space", ["cmake", "--build", "--preset", "release"])):
        with step(what):
            done = subprocess.run(command, cwd=root, check=False, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            lines = done.stdout.splitlines()
            first = next((i for i, line in enumerate(lines) if re.search(r"error[: ]|FAILED|CMake Error", line)), 0)
            return Result("build/user-space", FAILED, time.monotonic() - began, f"{what} failed",
                          tuple(lines[first:first + LAST_LINES]))
    return Result("build/user-space", PASSED, time.monotonic() - began)


def names(folder: Path) -> List[str]:
    """What ctest knows."""
    done = subprocess.run(["ctest", "--test-dir", str(folder), "--show-only=json-v1"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return [test["name"] for test in json.loads(done.stdout).get("tests", [])] if done.returncode == 0 else []


def run(folder: Path, chosen: Optional[List[str]]) -> Iterator[Result]:
    """Run all tests, or those `chosen` by name, two at a time."""
    junit = (folder / "results.xml").resolve()  # ctest works in its own folder
    junit.unlink(missing_ok=True)
    command = ["ctest", "--test-dir", str(folder), "-j2", "--timeout", "120", "--output-junit", str(junit)]
    if chosen is not None:
        command += ["-R", "^(" + "|".join(re.escape(name) for name in chosen) + ")$"]
    with step("unit, property, ABI and CLI tests"):
        done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if not junit.exists():
        yield Result("ctest", FAILED, 0.0, "ctest gave no results", tuple(done.stdout.splitlines()[-LAST_LINES:]))
        return
    for test in ElementTree.parse(junit).getroot().iter("testcase"):
        yield _result(test)


def _result(test: ElementTree.Element) -> Result:
    name, seconds = f"ctest/{test.get('name')}", float(test.get("time") or 0)
    status = test.get("status")
    output = (test.findtext("system-out") or "").splitlines()
    if status == "run" and test.find("failure") is None:
        return Result(name, PASSED, seconds)
    skipped = test.find("skipped")
    if status == "disabled" or (skipped is not None and "SKIP" in (skipped.get("message") or "")):
        said = [line for line in output if line.strip()]
        return Result(name, SKIPPED, seconds, said[-1].strip() if said else status)
    failure = test.find("failure")
    reason = (failure.get("message") if failure is not None else "") or status or "no status"
    return Result(name, FAILED, seconds, reason, tuple(output[-LAST_LINES:]))
