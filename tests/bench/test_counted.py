# SPDX-License-Identifier: MIT
"""Pages counted in a guest become a scenario of the simulator: its memory, its stretches, its prices, by hand."""
import sys
import tempfile
import unittest
from array import array
from pathlib import Path
from typing import Any, Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/lab.d"), str(ROOT / "tools/bench.d/placement")]

import cells  # noqa: E402
import counted  # noqa: E402
import keep  # noqa: E402
import simulator  # noqa: E402
from lab import load_machine, pages  # noqa: E402
from lab.pages import Count  # noqa: E402

MACHINE = load_machine(ROOT / "configs/lab/bench-four-tier.yaml", 64 << 30)
HEAP, STACK = 1 << 20, 1 << 30  # page numbers; 4 MiB of heap: 1,024 pages
MILLION, HALF = 1_000_000, 500_000


def half(read: List[int], instructions: int, streamed: int = 0, written: int = 0, walks: int = 0) -> Dict[str, Any]:
    return {"read": read, "write": [0] * 4, "llc_hits": 0, "accesses": 0, "instructions": instructions,
            "streamed": [streamed, 0, 0, 0], "written_back": [written, 0, 0, 0], "walks": [walks, 0], "walk_lines": [0, 0, 0]}


class Guest:
    """What a run leaves behind: marks in a list, the pages of each mark 14 in a file."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        mappings = [[HEAP << 12, HEAP + 1024 << 12], [STACK << 12, STACK + 32 << 12]]
        self.raw: Dict[str, Any] = {"events": {"samples": [], "ready": {"mappings": mappings}}, "marks": []}

    def sample(self, ops: int, user: Dict[str, Any], kernel: Dict[str, Any], counts: Dict[int, pages.Count]) -> None:
        rest = half([0] * 4, 0)
        row: Dict[str, Any] = {"nodes": 4, "vcpus": [{"cpu": cpu, "user": user if cpu == 0 else rest, "kernel": kernel if cpu == 0 else rest}
                                     for cpu in range(4)]}
        for number in (1, pages.MARK):
            self.raw["marks"].append({"mark": number, "seq": len(self.raw["marks"]), **row})
        samples = self.raw["events"]["samples"]
        samples.append({"seconds": len(samples) + 1.0, "ops": ops})
        with open(self.logs / f"pages-{self.raw['marks'][-1]['seq']}.bin", "wb") as file:
            file.write(pages.HEAD.pack(pages.MAGIC, pages.FORMAT))
            file.writelines(pages.PAGE.pack(page, *count) for page, count in counts.items())


class Counted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.guest = Guest(self.folder)

    def two_stretches(self) -> Any:
        first = {HEAP: Count(MILLION, MILLION, HALF, 3, 0), HEAP + 1023: Count(MILLION, 0, 0, 9, 1)}
        self.guest.sample(MILLION, half([2 * MILLION, 0, 0, 0], 20 * MILLION, MILLION, HALF, 4 * MILLION),
                          half([0] * 4, 10 * MILLION), first)
        second = {HEAP: Count(MILLION, MILLION, MILLION, 3, 0), HEAP + 1: Count(MILLION, HALF, 0, 7, 2),
                  HEAP + 1023: Count(MILLION, 0, 0, 10, 3), HEAP + 5: Count(0, 0, 0, 0, 0),
                  STACK: Count(2 * MILLION, MILLION, 2 * MILLION, 4, 0)}
        self.guest.sample(3 * MILLION, half([5 * MILLION, 0, 0, 0], 40 * MILLION, 5 * HALF, 3 * MILLION, 4 * MILLION),
                          half([MILLION, 0, 0, 0], 10 * MILLION), second)
        return counted.of(self.guest.raw, MACHINE, self.folder)

    def test_each_stretch_has_its_own_lines_and_operations(self):
        found = self.two_stretches()
        self.assertEqual({page: node for page, node in enumerate(found.nodes) if node != counted.UNKNOWN}, {0: 0, 1: 2, 1023: 3})
        self.assertEqual(len(found.nodes), 1024)
        self.assertEqual([stretch.operations for stretch in found.stretches], [MILLION, 2 * MILLION])
        self.assertEqual([[{page: n for page, n in enumerate(column) if n} for column in stretch.lines] for stretch in found.stretches],
                         [[{0: MILLION, 1023: MILLION}, {0: MILLION}, {0: HALF}, {0: 3, 1023: 9}], [{1: MILLION}, {1: HALF}, {0: HALF}, {1: 7, 1023: 1}]])

    def test_what_no_placement_changes_is_priced_here(self):
        before, after = self.two_stretches().stretches
        self.assertEqual((before.instructions, after.instructions), (30, 10))
        self.assertAlmostEqual(before.other_ns, 4 * 7 / 2, delta=0.02)         # walks within L2, two at a time
        # For each of two million operations half a miss of the kernel's, and of the stack's, which is left out, half a random one,
        # half a streamed one and a line written back: at 90 ns, two at a time or twenty ahead.
        self.assertAlmostEqual(after.other_ns, 0.5 * 45 + 0.5 * 45 + 0.5 * 4.5 + 4.5, delta=0.02 * 45)

    def test_memory_is_what_is_mapped_in_whole_pieces(self):
        mib = 1 << 20
        self.assertEqual(counted.spans([[3 * mib, 7 * mib]]), [(512, 2048)])
        self.assertEqual(counted.spans([[0, counted.LEAST_BYTES]]), [(0, 1024)])
        self.assertEqual(counted.spans([[0, counted.LEAST_BYTES - 4096]]), [])
        self.assertEqual(counted.spans([[0, 5 * mib], [5 * mib, 10 * mib], [12 * mib, 16 * mib]]), [(0, 2560), (3072, 4096)])

    def test_two_files_are_written_that_fit_each_other(self):
        path = self.two_stretches().write(self.folder, "heap")
        lines = path.read_text(encoding="ascii").splitlines()
        self.assertEqual(lines[:4], ["format: 3", "memory: 4MiB", "pages: heap.pages", "phases:"])
        self.assertRegex(lines[5], r"^  - {operations: 2000000, instructions: 10\.000, other: 5[12]\.\d{3}}$")
        words = array("I", (self.folder / "heap.pages").read_bytes())
        self.assertEqual(words[1024], MILLION)       # after the nodes: misses, streamed, written back, visits of each stretch
        self.assertEqual(words[2 * 1024:].index(HALF), 1024)
        self.assertEqual(words[4 * 1024 + 1023], 9)
        self.assertEqual(words[8 * 1024 + 1023], 1)
        self.assertEqual(len(words), (1 + 2 * 4) * 1024)

    def test_only_a_scenario_of_this_format_spares_the_guest(self):
        cell = cells.Cell("sort", "first-touch", "", "6.12", "4K", 1, 28.0)
        store = keep.Store(self.folder)
        self.assertFalse(simulator.has_scenario(store, cell))
        path = self.two_stretches().write(self.folder, cell.key)
        self.assertTrue(simulator.has_scenario(store, cell))
        path.write_text(path.read_text(encoding="ascii").split("\n", 1)[1], encoding="ascii")
        self.assertFalse(simulator.has_scenario(store, cell))

    def test_a_program_without_operations_gives_none(self):
        self.assertIsNone(counted.of({"events": {"samples": []}, "marks": []}, MACHINE, self.folder))


if __name__ == "__main__":
    unittest.main()
