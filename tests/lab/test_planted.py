# SPDX-License-Identifier: MIT
"""What watches over every test in a guest sees a bug when there is one: kernel log, books, taint, KASAN, lockdep, kmemleak, KCSAN."""
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lab.d"))

from lab import Guest, load_machine  # noqa: E402
from lab.kernels import DEBUG, KCSAN, is_cached, kernel  # noqa: E402
from lab.module import make  # noqa: E402
from lab.outcome import FAIL, PASS  # noqa: E402

PLANTED = ROOT / "tests/lab/planted"
#: Bug and the word of its report.
EVERYWHERE = {"warn": "WARNING: ", "pages": "'unaccounted'", "vmalloc": "'vmalloc'", "taint": "taint"}
PLAIN = {"slab": "'slab'"}
#: In this order: KASAN's report turns lockdep off for the rest of the guest.
CHECKED = {"lock-order": "circular locking", "sleep": "scheduling while atomic|sleeping function",
           "slab": "unreferenced object", "past-the-end": "KASAN: slab-out-of-bounds"}
RACES = {"race": "KCSAN: data-race in"}


class PlantedBugs(unittest.TestCase):
    def look(self, series, bugs):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("Kbuild", "planted.c"):
                shutil.copy(PLANTED / name, folder)
            make(kernel(series), Path(folder), [])
            with Guest(load_machine(ROOT / "configs/lab/four-tier.yaml"), series, timeout=120) as guest:
                shutil.copy(Path(folder) / "planted.ko", guest.results)
                for bug, report in {"none": "ok: taint", **bugs}.items():
                    done = guest.run(["/usr/bin/python3", "-B", str(PLANTED / "inside.py"), "/run/hmk-lab/planted.ko", bug])
                    said = "\n".join([done.reason, *done.output, *done.dmesg])
                    self.assertEqual(done.kind, PASS if bug == "none" else FAIL, f"{bug} [{series}]: {said}")
                    self.assertRegex(said, report, f"{bug} [{series}]")

    def test_each_bug_fails_its_test_on_the_kernel_debian_ships(self):
        self.look("6.1", {**EVERYWHERE, **PLAIN})

    def test_each_bug_fails_its_test_on_the_debug_kernels(self):
        for series in (DEBUG, KCSAN):
            if not is_cached(series):
                self.skipTest(f"{series} is not in the cache; tools/lab kernel {series} builds it")
        if "HMK_PLANTED_DEBUG" not in os.environ:
            self.skipTest(f"minutes on {DEBUG} and {KCSAN}: set HMK_PLANTED_DEBUG=1")
        self.look(DEBUG, {**CHECKED, **EVERYWHERE})
        self.look(KCSAN, RACES)


if __name__ == "__main__":
    unittest.main()
