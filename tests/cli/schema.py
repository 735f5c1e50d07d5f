#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""schema.py WITH_FAKE_HMKD HMKCTL: docs/hmkctl.schema.json describes every field that each verb prints with --json, and no less is printed
than it demands."""
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parents[1] / "docs/hmkctl.schema.json"
TYPES: Dict[str, Tuple[type, ...]] = {"object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
                                      "boolean": (bool,), "null": (type(None),)}
#: Name in the schema, words of hmkctl, of with_fake_hmkd before them.
Call = Tuple[str, List[str], List[str]]
NOW: List[str] = []
CALLS: List[Call] = [
    *[(verb, [verb], NOW) for verb in ("status", "tiers", "regions", "stats", "gain", "get", "config", "pause", "resume", "version", "doctor")],
    *[(verb, [verb], ["--no-interval"]) for verb in ("status", "regions", "stats", "gain")],
    ("labels", ["labels"], ["--says"]), ("labels", ["labels"], []),
    ("why", ["why", "7f0000000000"], []), ("top", ["top", "--once"], []), ("set", ["set", "interval", "2s"], []),
    ("set", ["set", "--save", "interval", "2s"], []), ("attach", ["attach", "12345"], []), ("attach", ["detach", "4711"], []),
    ("rule", ["attach", "comm=x+min-size=1GiB"], []), ("rule", ["detach", "4711+children"], []), ("rule", ["attach", "not", "user=0"], []),
    ("heatmap", ["heatmap", "--intervals", "1", "--rows", "3"], []), ("record", ["record", "@ROOT@/r", "--intervals", "1"], []), ("calibrate", ["calibrate", "-o", "@ROOT@/m"], []),
    ("report", ["report", "-o", "@ROOT@/r.html"], []), ("try", ["try", "4711", "--intervals", "1"], []),
    ("error", ["reload"], []), ("error", ["statsu"], []), ("error", ["attach", "77"], []), ("error", ["get", "mod"], [])]


def problems(value: Any, schema: Dict[str, Any], where: str) -> Iterator[str]:
    """Every keyword that the file uses, and every member that it does not name."""
    unknown = set(schema) - {"type", "properties", "required", "items", "enum", "description"}
    if unknown:
        yield f"{where}: the test does not know {unknown}"
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in kinds):
        yield f"{where}: {json.dumps(value)[:60]} is none of {kinds}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{where}: {name} is missing"
        for name, member in value.items():
            if name not in schema.get("properties", {}):
                yield f"{where}: {name} is not described"
            else:
                yield from problems(member, schema["properties"][name], f"{where}.{name}")
    if isinstance(value, list):
        for item in value:
            yield from problems(item, schema["items"], f"{where}[]")


def outputs(fake: str, hmkctl: str) -> Iterator[Tuple[str, Any]]:
    """Of each call, and of the long ones what the other tests have kept."""
    for name, words, scene in CALLS:
        done = subprocess.run([fake, *scene, hmkctl, "--json", "--socket", "@SOCKET@", *words, *(["--root", "@ROOT@"] if words[0] in ("doctor", "report", "regions", "top", "heatmap") else [])],
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        text = done.stderr if name == "error" or not done.stdout.strip() else done.stdout
        yield ("error" if text is done.stderr else name), json.loads(text)
    for name in ("ab", "measure", "try", "plan-bound", "plan-cut", "plan-load", "plan-pins", "plan-schedule", "plan-size", "plan-tune"):
        yield name, json.loads((HERE / f"golden/{name}.json").read_text(encoding="utf-8"))
    script = '"$0" --json --socket "$1" events --count 3 & sleep 0; while [ "$("$0" --socket "$1" set interval 3s | wc -l)" -gt 0 ] && kill -0 $! 2>/dev/null; do :; done'
    done = subprocess.run([fake, "sh", "-c", script, hmkctl, "@SOCKET@"], check=False, stdout=subprocess.PIPE, text=True)
    for line in done.stdout.splitlines():
        yield "events", json.loads(line)


def main(fake: str, hmkctl: str) -> int:
    """How many outputs differ from what is described."""
    schemas = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]
    seen, wrong = set(), 0
    for name, value in outputs(fake, hmkctl):
        seen.add(name)
        for problem in problems(value, schemas[name], name):
            print(problem)
            wrong += 1
    for name in set(schemas) - seen - {"reload"}:
        print(f"{name}: described, and never printed")
        wrong += 1
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
