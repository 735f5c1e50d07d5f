# SPDX-License-Identifier: MIT
"""The plugin's modelled caches and page counts, compiled for this machine: see cache_test.c."""
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class CacheModel(unittest.TestCase):
    def test_every_promise_in_cache_test_c_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/cache_test"
            subprocess.run(["cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/tools/lab.d/lab/plugin",
                            str(Path(__file__).with_name("cache_test.c")), "-o", program], check=True)
            done = subprocess.run([program, f"{folder}/pages"], check=False, stdout=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
