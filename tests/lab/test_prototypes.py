# SPDX-License-Identifier: MIT
"""What hmk.ko calls by name has the prototype it is called by, as the kernel's own BTF tells it."""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List, NamedTuple, Optional, Set

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab import cache  # noqa: E402
from lab.kernels import GATES, kernel  # noqa: E402
from lab.vmlinux import vmlinux  # noqa: E402


class Prototype(NamedTuple):
    returns: str
    takes: tuple


# The same registers by another name: kmod/compat says why. Of a bool only the low byte is read.
SAME = {("folio_isolate_lru", "int"): {"bool"},
        ("remove_migration_ptes", "int"): {"bool", "enum rmp_flags", "enum ttu_flags"}}
# Declared in no public header, or not for modules: only BTF tells.
PRIVATE = {"flush_tlb_mm_range", "folio_isolate_lru", "folio_putback_lru", "try_to_unmap_flush"}


def ours(text: str) -> Dict[str, Set[Prototype]]:
    """The prototypes of symbols.h by name; some are for one kernel or the other."""
    found: Dict[str, Set[Prototype]] = {}
    for name, returns, takes in re.findall(r"HMK_SYMBOL\((\w+), ([^,]+), \(([^()]*)\),", re.sub(r"\\\n\s*", " ", text)):
        kinds = [re.sub(r"\s*\b\w+$", "", one.strip()) for one in takes.split(",")] if takes.strip() != "void" else []
        found.setdefault(name, set()).add(Prototype(returns.strip(), tuple(kinds)))
    return found


class Btf:
    """The functions of a kernel."""

    NAMES = {"long unsigned int": "unsigned long", "_Bool": "bool"}

    def __init__(self, image: Path) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(vmlinux(image.read_bytes()))
            file.flush()
            said = subprocess.run(["/usr/sbin/bpftool", "-j", "btf", "dump", "file", file.name], check=True, stdout=subprocess.PIPE)
        self._types = {one["id"]: one for one in json.loads(said.stdout)["types"]}
        self._functions = {one["name"]: one["type_id"] for one in self._types.values() if one["kind"] == "FUNC"}

    def prototype(self, name: str) -> Optional[Prototype]:
        if name not in self._functions:
            return None
        proto = self._types[self._functions[name]]
        return Prototype(self._spelt(proto["ret_type_id"]), tuple(self._spelt(one["type_id"]) for one in proto["params"]))

    def _spelt(self, number: int) -> str:
        one = self._types.get(number)
        if one is None:
            return "void"
        if one["kind"] == "PTR":
            return f"{self._spelt(one['type_id'])} *".replace("* *", "**")
        if one["kind"] == "CONST":
            return f"const {self._spelt(one['type_id'])}"
        prefix = {"STRUCT": "struct ", "ENUM": "enum ", "ENUM64": "enum "}.get(one["kind"], "")
        return prefix + self.NAMES.get(one["name"], one["name"])


def wrong(mine: Dict[str, Set[Prototype]], btf: Btf) -> List[str]:
    """Where the kernel has a function of that name and none of the prototypes is its own."""
    found = []
    for name, prototypes in mine.items():
        theirs = btf.prototype(name)
        if theirs and not any(fits(name, one, theirs) for one in prototypes):
            found.append(f"{name}: called as {prototypes}, is {theirs}")
    return found


def fits(name: str, one: Prototype, theirs: Prototype) -> bool:
    pairs = zip((one.returns, *one.takes), (theirs.returns, *theirs.takes))
    return len(one.takes) == len(theirs.takes) and all(a == b or b in SAME.get((name, a), ()) for a, b in pairs)


class Prototypes(unittest.TestCase):
    TEXT = (ROOT / "kmod/compat/symbols.h").read_text(encoding="ascii")

    def test_they_are_those_of_each_kernel_at_hand(self):
        newest = any((cache.root() / "kernels/newest").glob("[0-9]*"))
        for series in (*GATES, *(["newest"] if newest else [])):
            with self.subTest(series):
                btf, mine = Btf(kernel(series).image), ours(self.TEXT)
                self.assertEqual(wrong(mine, btf), [])
                self.assertLessEqual(PRIVATE, {name for name in mine if btf.prototype(name)}, "BTF does not tell of them")
                # It can fail: with a parameter more or of another type it does.
                for name in PRIVATE | {"remove_migration_ptes"}:
                    (one,) = mine[name]
                    for other in (one._replace(takes=(*one.takes, "int")), one._replace(takes=("long", *one.takes[1:])),
                                  one._replace(returns="struct page *")):
                        self.assertEqual(len(wrong({name: {other}}, btf)), 1, (name, other))

    def test_all_of_symbols_h_are_read(self):
        self.assertEqual(len(ours(self.TEXT)), 14)
        self.assertEqual(ours(self.TEXT)["folio_isolate_lru"], {Prototype("int", ("struct folio *",))})
        self.assertEqual(len(ours(self.TEXT)["split_huge_pmd_address"]), 2)


if __name__ == "__main__":
    unittest.main()
