# SPDX-License-Identifier: MIT
"""In a guest: whatever a test leaves behind is taken away before the next one, or it ends the guest; a leak and taint fail it."""
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Dict, List

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab import load_machine  # noqa: E402
from lab.module import build_module  # noqa: E402
from lab.outcome import FAIL, PASS, Outcome  # noqa: E402
from suite.sitting import Part, Shape, Sitting  # noqa: E402

MACHINE = ROOT / "configs/lab/four-tier.yaml"
LEFT = ROOT / "tests/lab/left"
KERNEL = "6.12"


def environment() -> Dict[str, str]:
    return {"HMK_BUILD": str(ROOT / "build/release"), "HMK_MODULE": str(build_module(KERNEL))}


class Left(unittest.TestCase):
    def sit(self, *commands: str) -> List[Outcome]:
        """One after the other, and what each left is told in its output."""
        parts = [Part(["/usr/bin/python3", "-B", str(LEFT / f"{file}.py"), *rest], environment, 60)
                 for file, *rest in map(str.split, commands)]
        outcomes = []
        with tempfile.TemporaryDirectory() as folder:
            shape = Shape(KERNEL, "host", "system", "", "", "madvise", False, False, 0, 4 << 20, "", "")
            for outcome, results in Sitting(shape, lambda: load_machine(str(MACHINE)), parts, Path(folder)).run():
                self.assertTrue(outcome.output, outcome.reason)
                log = results / "putback.log"
                outcome.output.append(log.read_text(encoding="utf-8") if log.exists() else "")
                outcomes.append(outcome)
        return outcomes

    @staticmethod
    def boot(outcome: Outcome) -> str:
        return [line for line in outcome.output[:-1] if line][-1]

    def test_what_can_be_put_back_is_and_what_cannot_ends_the_guest(self):
        done = self.sit("look", "leave all_that_can_be_put_back", "look", "leave a_mount_where_every_test_sees_it", "look", "leave taint",
                        "look", "leave a_cpu_that_is_away", "look")
        for number, outcome in enumerate(done):
            with self.subTest(number):
                self.assertEqual(outcome.kind, FAIL if number == 5 else PASS, outcome)
        boots = [self.boot(outcome) for outcome in done if outcome.kind == PASS]
        self.assertEqual(len(set(boots[:4])), 1, "what is put back leaves the guest to the others")
        self.assertEqual(len({boots[3], boots[4], boots[5]}), 3, "a mount, taint: a new guest each")
        for word in ("sleep", "swap ", "loop0", "events hmk", "brd", "hmk", "/sys/fs/cgroup/left/below", "max_map_count", "System V"):
            self.assertIn(word, done[1].output[-1])
        self.assertIn("NOT BACK: mounts: ", done[3].reason)
        self.assertIn("DEFECT: taint 0x200", done[5].reason)


if __name__ == "__main__":
    unittest.main()
