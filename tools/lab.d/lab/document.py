# SPDX-License-Identifier: MIT
"""YAML with places: every complaint names file, line and key, so YAML nodes are kept, not values."""
import difflib
from pathlib import Path
from typing import Dict, Iterable, List, NoReturn, Tuple

import yaml

from .errors import UsageError
from .quantity import parse


class Item:
    """A YAML node and the way to it."""

    def __init__(self, file: str, node: yaml.Node, path: str) -> None:
        self.file = file
        self.node = node
        self.path = path

    def fail(self, problem: str) -> NoReturn:
        """Refuse the file because of this item."""
        raise UsageError(f"{self.file}:{self.node.start_mark.line + 1}: {self.path or 'file'}: {problem}")

    def text(self) -> str:
        if not isinstance(self.node, yaml.ScalarNode):
            self.fail("must be a single value")
        return self.node.value

    def integer(self) -> int:
        if not self.text().isdigit():
            self.fail(f"'{self.text()}' is not a whole number of 0 or more; write one without a unit")
        return int(self.text())

    def between(self, least: int, most: int) -> int:
        if not least <= self.integer() <= most:
            self.fail(f"{self.text()} must lie between {least} and {most}")
        return self.integer()

    def quantity(self, units: Dict[str, int]) -> int:
        try:
            return parse(self.text(), units)
        except ValueError as problem:
            self.fail(str(problem))

    def list(self) -> List["Item"]:
        if not isinstance(self.node, yaml.SequenceNode):
            self.fail("must be a list")
        return [Item(self.file, n, f"{self.path}[{i}]") for i, n in enumerate(self.node.value)]

    def pairs(self) -> List[Tuple["Item", "Item"]]:
        """Key and value items of a mapping, in order; a key given twice is refused."""
        if not isinstance(self.node, yaml.MappingNode):
            self.fail("must be a mapping of key: value")
        dot = f"{self.path}." if self.path else ""
        out, seen = [], set()
        for key, value in self.node.value:
            name = Item(self.file, key, f"{dot}{getattr(key, 'value', '?')}")
            if name.text() in seen:
                name.fail("given twice; remove one of the two")
            seen.add(name.text())
            out.append((name, Item(self.file, value, name.path)))
        return out

    def mapping(self, required: Iterable[str], optional: Iterable[str] = ()) -> Dict[str, "Item"]:
        """A mapping with known keys only; a misspelt one is answered with the nearest known one."""
        required, known = list(required), [*required, *optional]
        out = {}
        for key, value in self.pairs():
            if key.text() not in known:
                near = difflib.get_close_matches(key.text(), known, n=1, cutoff=0.5)
                hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"
                key.fail(f"unknown key '{key.text()}'; {hint}")
            out[key.text()] = value
        for name in required:
            if name not in out:
                self.fail(f"'{name}' is missing; add it")
        return out


def load(file: Path) -> Item:
    """The root item of a YAML file."""
    try:
        node = yaml.compose(file.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}; give the path of a machine file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{file}: is not UTF-8 text; give the path of a machine file") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise UsageError(f"{file}:{line}: not YAML: {error.problem}; correct this line") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{file}: not YAML: {str(error).splitlines()[0]}; correct it") from None
    if node is None:
        raise UsageError(f"{file}: is empty; start from configs/lab/four-tier.yaml")
    return Item(str(file), node, "")
