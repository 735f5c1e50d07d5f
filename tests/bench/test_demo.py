# SPDX-License-Identifier: MIT
"""What tools/demo promises, judged of the fields that --json writes: a run that just keeps it, and runs that fall short."""
import importlib.util
import sys
import unittest
from pathlib import Path
from typing import Any, Dict, List, Tuple

ROOT = Path(__file__).resolve().parents[2]


def load(name):
    """A module of the demo under a name of its own: other tools have a stage.py and a main.py as well."""
    sys.path.insert(0, str(ROOT / "tools/demo.d"))
    spec = importlib.util.spec_from_file_location(f"demo_{name}", ROOT / f"tools/demo.d/{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # for its dataclasses
    spec.loader.exec_module(module)
    sys.path.pop(0)
    return module


verdict = load("verdict")
# Just within each promise.
KEPT = {"tier_share_track_only": [0.40, 0.2, 0.3, 0.1], "tier_share_managed": [0.80, 0.1, 0.1, 0.0], "wrong_values": 0,
        "keys": 1, "profiling_percent": 5.0, "budget_percent": 5.0, "dmesg_problem": ""}


def broken(**changed):
    """The sentences that do not hold of it with some figures changed."""
    return [sentence for holds, sentence in verdict.checks({**KEPT, **changed}) if not holds]


class Demo(unittest.TestCase):
    def test_what_is_just_within_every_promise_keeps_them(self):
        self.assertEqual(broken(), [])

    def test_each_promise_can_be_broken_by_itself(self):
        little = {"tier_share_managed": [0.799, 0.1, 0.1, 0.0], "tier_share_track_only": [0.1, 0.3, 0.3, 0.3]}
        cases: List[Tuple[Dict[str, Any], str]] = [
            (little, "promised are 80 %"),
            ({"tier_share_track_only": [0.401, 0.2, 0.3, 0.1]}, "promised are 2 times"),
            ({"wrong_values": 1}, "1 wrong"), ({"keys": 0}, "0 keys"),
            ({"profiling_percent": 5.01}, "budget"), ({"dmesg_problem": "WARNING: at mm"}, "NOT, WARNING")]
        for changed, word in cases:
            self.assertEqual([word in sentence for sentence in broken(**changed)], [True], changed)


if __name__ == "__main__":
    unittest.main()
