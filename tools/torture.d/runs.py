# SPDX-License-Identifier: MIT
"""One run of a row, and the file of runs: what has been done need not be done again."""
import functools
import json
import re
import subprocess
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Dict, Iterable, List, Sequence, Set

from lab import LabError
from lab.apt import install_missing
from lab.cache import locked
from lab.outcome import PASS, Outcome
from lab.splat import splats
from suite import e2e

from rows import MODULE, USER, Row

Run = Dict[str, Any]
FUZZING = ("clang", "libclang-rt-dev", "libyaml-cpp-dev")  # libFuzzer
UNKNOWN = "unknown"  # the commit of runs from before each kept its own
DOCS = "docs/torture.jsonl", "docs/torture.md"  # what runs write: not a change of what is tortured
FIELDS = ("row", "kernel", "count", "lost", "splats", "leaked", "failed", "commit", "seconds")
SAME = ("same", "kernel", "code", "commit")
DETAIL = 40  # last lines of a run that failed
INSIDE = Path(__file__).with_name("inside.py")


class Store:
    """A file with a line per run, failed ones too; runs of one row and kernel add up, from whatever machine they are.

    A failed run whose cause is known has it in `explained`, written by hand: it is shown and counts for nothing. Of those
    that others read, a run of what has changed since is marked `older`, and counts for nothing either, unless a line with
    `same` says that on this kernel the code of both is the same.
    """

    def __init__(self, file: Path) -> None:
        self.file = file

    def runs(self, row: Row, kernel: str) -> List[Run]:
        lines = [line for line in self._lines() if line["kernel"] == kernel]
        found = [line for line in lines if line.get("row") == row.name]
        if not is_kept(self.file):
            return found
        root = self.file.parents[1]
        today = alike(subject(root, "HEAD", row.about), [line["same"] for line in lines if "same" in line])
        return [{**run, "older": is_older(root, run, row.about, today)} for run in found]

    def _lines(self) -> List[Run]:
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        return list(map(self._parsed, range(1, len(lines) + 1), lines))

    def add(self, run: Run) -> None:
        """A run, or what is the same. One write to the file's end: runs side by side do not mix. Raises LabError where it would name no commit."""
        if is_kept(self.file) and not is_commit(run["commit"]):
            raise LabError(f"{self.file}: a run of {run['commit']} is not kept: commit what has changed, or name another --store")
        with open(self.file, "ab", buffering=0) as file:
            file.write(f"{json.dumps(run)}\n".encode())

    def _parsed(self, number: int, line: str) -> Run:
        try:
            run: Run = json.loads(line)
            missing = [name for name in (SAME if "same" in run else FIELDS) if name not in run]
        except (ValueError, TypeError) as error:
            raise LabError(f"{self.file}:{number}: not a run: {error}; remove the line") from None
        if missing:
            raise LabError(f"{self.file}:{number}: a run without {', '.join(missing)}; remove the line")
        return run


def has_enough(row: Row, kernel: str, runs: List[Run]) -> bool:
    """Done, or failed and not explained: a failure is to be looked at, not repeated."""
    counted = counting(runs)
    return any(run["failed"] for run in counted) or is_reached(row, kernel, counted)


def is_reached(row: Row, kernel: str, counted: Sequence[Run]) -> bool:
    """As often as wanted, and each of its parts as well."""
    return sum(run["count"] for run in counted) >= row.wanted[kernel] and \
        all(sum(run.get(part, 0) for run in counted) >= least for part, least in row.least.items())


def length(row: Row, kernel: str, runs: Sequence[Run], longest: int) -> int:
    """Seconds of the next run: for what is left at the rate of earlier runs, of whatever commit, and as much again, from
    `row.seconds` to `longest`; `row.seconds`, or less where `longest` is, when there is none to go by."""
    done = [run for run in runs if run["count"] > 0 and run["seconds"] > 0]
    rate = sum(run["count"] for run in done) / max(sum(run["seconds"] for run in done), 1)
    left = row.wanted[kernel] - sum(run["count"] for run in counting(runs))
    needed = 2 * left / rate if rate else 0
    return min(longest, max(row.seconds, round(needed)))


def counting(runs: Sequence[Run]) -> List[Run]:
    """Those that say something of what ships: not the explained failures, nor what is older or of no known commit."""
    return [run for run in runs if is_commit(run["commit"]) and not run.get("explained") and not run.get("older")]


def is_older(root: Path, run: Run, about: Sequence[str], today: Set[str]) -> bool:
    """Whether what a run was about is none of `today`'s. A run that does not say what it was about is known by its commit, if
    that is to be found."""
    return (run.get("subject") or subject(root, run["commit"], about)) not in today


def alike(subject: str, links: Iterable[Sequence[str]]) -> Set[str]:
    """What is the same as `subject`, by one link or by several.

    >>> sorted(alike("c", [["a", "b"], ["b", "c"], ["d", "e"]]))
    ['a', 'b', 'c']
    """
    found, pairs = {subject}, [set(link) for link in links]
    while more := {name for pair in pairs if pair & found for name in pair - found}:
        found |= more
    return found


@functools.lru_cache(maxsize=None)
def subject(root: Path, commit: str, about: Sequence[str] = MODULE) -> str:
    """The content of these files and folders, but for what is read by people: the same on whatever commit it lies.
    "" for a commit that is not to be found."""
    listed = subprocess.run(["git", "-C", str(root), "ls-tree", "-r", commit, "--", *about], check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = [line for line in listed.stdout.splitlines() if not line.endswith(".md")]
    return "" if listed.returncode else sha256("\n".join(lines).encode()).hexdigest()[:16]


def is_commit(text: str) -> bool:
    """Of one commit, and nothing changed since.

    >>> [is_commit(text) for text in ("152b164", "152b164-dirty", "unknown", "18de5e2 to a8fd77e")]
    [True, False, False, False]
    """
    return re.fullmatch(r"[0-9a-f]{7,40}", text) is not None


def is_kept(store: Path) -> bool:
    """Whether it is for others to read."""
    return store.resolve() == Path(__file__).resolve().parents[2] / DOCS[0]


def perform(root: Path, row: Row, kernel: str, seconds: int) -> Run:
    """Do it once. Whatever cannot be done is a failed run."""
    began, commit = time.monotonic(), state(root)
    try:
        run = _fuzz(root, row, seconds) if kernel == USER else _guest(root, row, kernel, seconds)
    except LabError as error:
        run = {"count": 0, "failed": str(error)}
    return whole(root, row, kernel, run, time.monotonic() - began, commit)


def whole(root: Path, row: Row, kernel: str, run: Run, seconds: float, commit: str = "") -> Run:
    """A run with all its FIELDS; `commit` is what the tree was when it began, where that is known."""
    now = state(root)
    return {"row": row.name, "kernel": kernel, "count": 0, "lost": 0, "splats": 0, "leaked": 0, "failed": "",
            "commit": now if commit in ("", now) else f"{commit}-changed", "subject": subject(root, "HEAD", row.about), **run,
            "seconds": round(seconds)}


def guest_test(root: Path, row: Row, kernel: str, seconds: int) -> e2e.EndToEnd:
    """The test of a row, by the host's clock where it has that, with the check around it. Raises LabError where there is none."""
    tests = [test for test in e2e.collect(root, (kernel,)) if test.folder.name.startswith(f"{row.test}-")]
    if not tests:
        raise LabError(f"tests/e2e/{row.test}-* is not for {kernel}")
    by_clock = min(tests, key=lambda test: test.clock != "host")
    return replace(by_clock, length=seconds, wrapper=("/usr/bin/python3", "-B", str(INSIDE)))


def _guest(root: Path, row: Row, kernel: str, seconds: int) -> Run:
    test = guest_test(root, row, kernel, seconds)
    with locked(test.results):  # until they are read
        return figures(row, test, test.outcome())


def figures(row: Row, test: e2e.EndToEnd, outcome: Outcome) -> Run:
    """What is known of a run; the caller holds the lock of the test's results."""
    file = test.results / "figures.json"
    told = json.loads(file.read_text(encoding="ascii")) if file.exists() else {}
    return {"count": sum(1 for line in outcome.output if re.search(row.counted, line)),
            "lost": sum(1 for line in outcome.output if e2e.LOSS.match(line)), **told,
            "splats": len(splats(outcome.dmesg)), "failed": _why(outcome),
            **({} if outcome.kind == PASS else {"detail": (outcome.output + outcome.dmesg)[-DETAIL:]})}


def _why(outcome: Outcome) -> str:
    """One line, or nothing where all is well."""
    if outcome.kind == PASS:
        return ""
    wrong = [line for line in outcome.output if "NOT OK" in line or e2e.LOSS.match(line)]
    return f"{outcome.kind}: {outcome.reason}{': ' + wrong[0] if wrong else ''}"


def _fuzz(root: Path, row: Row, seconds: int) -> Run:
    """Counted are seconds; a crash leaves its input beside the corpus."""
    install_missing(FUZZING, "tests/fuzz/run")
    done = subprocess.run([str(root / "tests/fuzz/run"), row.test, str(seconds)], check=False, cwd=root, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = [line for line in done.stdout.splitlines() if "ERROR" in line or "SUMMARY" in line or line.strip()]
    shown = next((line for line in said if "SUMMARY" in line or "ERROR" in line), said[-1] if said else "no word")
    calls = re.search(r"Done (\d+) runs", done.stdout)
    return {"count": seconds, "failed": shown if done.returncode else "", "inputs": int(calls.group(1)) if calls else 0}


def state(root: Path) -> str:
    """The commit of the whole tree, with -dirty where a file differs from it or is new."""
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(root), *words], check=False, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.strip()
    commit = git("rev-parse", "--short=12", "HEAD")
    changed = git("status", "--porcelain", "--", ".", *(f":!{file}" for file in DOCS))
    return (commit or UNKNOWN) + ("-dirty" if changed else "")
