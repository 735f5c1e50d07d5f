#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Fills a man page: what a program's --help or the annotated configuration says is copied from there.

    fill.py TEMPLATE OUT VERSION DOCDIR [PROGRAM | CONFIG]

A line of the template that is `@OPTIONS@` becomes the options of PROGRAM, `@COMMANDS@` its commands with theirs, `@KEYS@` the
keys of CONFIG with their comments and defaults. `@VERSION@` and `@DOCDIR@` are replaced everywhere.
"""
import re
import subprocess
import sys
from pathlib import Path
from typing import Callable, Dict, List, Tuple


def escaped(text: str) -> str:
    """Text that roff shows as it is.

    >>> escaped(".5 or -1")
    '\\\\&.5 or \\\\-1'
    """
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith((".", "\\(aq")) else text


def section(text: str, name: str) -> List[Tuple[str, str]]:
    """The entries of one section of CLI11's help: what is typed, and what it does."""
    found = re.search(rf"^{name}:\n((?:  .*\n?)+)", text, re.MULTILINE)
    entries: List[Tuple[str, str]] = []
    for line in (found.group(1).splitlines() if found else []):
        words, does = line[:30].strip(), line[30:].strip()
        if line[2] == " ":              # the rest of an entry whose first words were too long
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {line.strip()}".strip())
        elif re.search(r"\s{2,}", line.strip()):
            words, does = re.split(r"\s{2,}", line.strip(), maxsplit=1)
            entries.append((words, does))
        elif does and line[29] == " ":
            entries.append((words, does))
        else:
            entries.append((line.strip(), ""))
    return entries


def _help(*words: str) -> str:
    return subprocess.run([*words, "--help"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout


def _listed(entries: List[Tuple[str, str]]) -> List[str]:
    return [line for words, does in entries for line in (".TP", f".B {escaped(words)}", escaped(does))]


def options(program: str) -> List[str]:
    """The options of a program."""
    return _listed(section(_help(program), "Options"))


def commands(program: str, *before: str) -> List[str]:
    """Each command, its arguments and its own options; behind it the commands that it has itself."""
    lines: List[str] = []
    for verb, does in section(_help(program, *before), "Subcommands"):
        text = _help(program, *before, verb)
        places = [(words.split()[0], does) for words, does in section(text, "Positionals")]
        own = [entry for entry in section(text, "Options") if not entry[0].startswith("-h,")]
        usage = " ".join([*before, verb, *(["[OPTIONS]"] if own else []), *(word.upper() for word, _ in places)])
        lines += [f".SS {escaped(usage)}", escaped(does[:1].upper() + does[1:] + "."), *_listed(places + own)]
        lines += commands(program, *before, verb)
    return lines


def keys(config: str) -> List[str]:
    """The annotated configuration: its headings, and its keys with defaults and comment. A paragraph is one entry."""
    lines: List[str] = []
    for paragraph in Path(config).read_text(encoding="utf-8").split("\n\n")[1:]:
        comment: List[str] = []
        named: List[str] = []
        for line in paragraph.splitlines():
            heading, key = re.match(r"# -+ (.*?) -*$", line), re.match(r"(\w+): (.*)$", line)
            if heading:
                lines.append(f".SS {escaped(heading.group(1)[:1].upper() + heading.group(1)[1:])}")
            elif key:
                named += [".TQ" if named else ".TP", f".BR {key.group(1)} \" (default: {escaped(key.group(2))})\""]
            else:
                comment.append(line.removeprefix("#").removeprefix(" "))
        lines += named + _body(comment)
    return lines


def _body(comment: List[str]) -> List[str]:
    """Lines that stand further in are an example and keep their form."""
    body: List[str] = []
    for line in comment:
        body += [".br", escaped(line.strip())] if line.startswith("  ") else [escaped(line)]
    return body


FILLED: Dict[str, Callable[[str], List[str]]] = {"@OPTIONS@": options, "@COMMANDS@": commands, "@KEYS@": keys}


def main(template: str, out: str, version: str, docdir: str, source: str = "") -> None:
    """Write the page."""
    lines: List[str] = []
    for line in Path(template).read_text(encoding="utf-8").splitlines():
        lines += FILLED[line](source) if line in FILLED else [line.replace("@VERSION@", version).replace("@DOCDIR@", docdir)]
    Path(out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
