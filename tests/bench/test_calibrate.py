# SPDX-License-Identifier: MIT
"""tools/bench calibrate: what counts as the same direction and size, where ours comes from, and what it refuses."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools/bench.d/calibrate"), str(ROOT / "tools/bench.d/placement"), str(ROOT / "tools/lab.d")]

import ours  # noqa: E402
import page  # noqa: E402
import world  # noqa: E402
from verdict import Verdict, verdicts  # noqa: E402

RATIO = world.Published("a", "a over b", 1.2, 1.4, "somebody")
LESS = world.Published("a", "a over b", 0.9, 0.9, "somebody")
SPEED = world.Published("a", "GB/s", 4.0, 4.0, "somebody", False)
EXPLAINED = world.Published("a", "a over b", 1.2, 1.4, "somebody", unlike="it is smaller")


HELD = world.Published("a", "a over b", 1.2, 1.4, "somebody", unlike="of sockets", but_for="a-user")


def run(pace: float, promoted: float = 0.0, kernel: float = 0.0, hint_faults: float = 0.0) -> dict:
    """Of 1000 operations, in 2 s between two samples."""
    told = {"operations": 1000.0, "application_ns": pace, "application_kernel_ns": kernel}
    return {"figures": {"settled_per_operation": told, "per_operation": told, "tier_share": [0.75, 0.25],
                        "tier_share_over_time": {"seconds": [0.5, 1.0, 2.5], "shares": [[0.5, 0.5], [0.6, 0.4], [0.75, 0.25]]},
                        "counters": {"promoted_bytes": promoted, "moved_bytes": 2 * promoted, "hint_faults": hint_faults}}}


class Directions(unittest.TestCase):
    def test_a_ratio_points_where_the_published_one_does(self):
        for published, value, is_same in ((RATIO, 1.006, True), (RATIO, 1.004, False), (RATIO, 0.8, False), (RATIO, None, False),
                                          (LESS, 0.994, True), (LESS, 0.996, False), (LESS, 1.1, False)):
            with self.subTest(published=published.high, value=value):
                self.assertEqual(Verdict(published, value).has_direction, is_same)


class Sizes(unittest.TestCase):
    def test_from_half_of_the_least_to_twice_the_most_of_what_it_is_away_from_1(self):
        for published, value, is_same in ((RATIO, 1.1001, True), (RATIO, 1.0999, False), (RATIO, 1.7999, True), (RATIO, 1.8001, False),
                                          (LESS, 0.9499, True), (LESS, 0.9501, False), (LESS, 0.8001, True), (LESS, 0.7999, False),
                                          (SPEED, 2.0, True), (SPEED, 1.99, False), (SPEED, 8.0, True), (SPEED, 8.01, False)):
            with self.subTest(published=published.what, value=value):
                self.assertEqual(Verdict(published, value).has_size, is_same)

    def test_another_size_passes_with_a_reason_only_and_another_direction_never(self):
        self.assertFalse(Verdict(RATIO, 1.05).passes)
        self.assertTrue(Verdict(EXPLAINED, 1.05).passes)
        self.assertIn("it is smaller", Verdict(EXPLAINED, 1.05).text)
        self.assertFalse(Verdict(EXPLAINED, 0.95).passes)
        self.assertFalse(Verdict(EXPLAINED, None).passes)

    def test_a_reason_for_less_explains_no_more(self):
        less = world.Published("a", "a over b", 1.2, 1.4, "somebody", unlike="too short", makes_less=True)
        self.assertTrue(Verdict(less, 1.05).passes)
        self.assertFalse(Verdict(less, 1.9).passes)
        self.assertFalse(Verdict(less, 0.95).passes)

    def test_a_reason_that_can_be_tested_counts_while_it_holds(self):
        self.assertTrue(Verdict(HELD, 3.0, 1.3).passes)
        self.assertIn("of sockets (1.30 without it)", Verdict(HELD, 3.0, 1.3).text)
        for without in (1.05, 2.0, 0.5, None):
            self.assertFalse(Verdict(HELD, 3.0, without).passes)
            self.assertEqual(Verdict(HELD, 3.0, without).text, "OTHER SIZE, not explained")


class Ours(unittest.TestCase):
    def setUp(self):
        self.runs = {key: run(100.0, 10.0) for key in ours.plan()}
        self.moves = [{"method": "hm-keeper", "accesses": 3000, "move_ms": 10.0}, {"method": "move_pages", "accesses": 500, "move_ms": 5.0}]

    def test_a_faster_first_run_is_above_1_and_more_bytes_are_too(self):
        first, second = ours.FASTER["limit"]
        self.runs[first], self.runs[second] = run(80.0, 5.0, 40.0), run(120.0, 30.0, 20.0)
        found = ours.of(self.runs, self.moves)
        self.assertEqual(found["limit"], 1.5)
        self.assertEqual(found["limit-user"], 2.5)      # 100 over 40
        self.assertEqual(found["limit-moved"], 0.25)    # a sixth of the bytes in two thirds of the time
        self.assertEqual(found["nomad"], 3.0)

    def test_what_lies_behind_is_told_by_the_operation(self):
        fact = ours.facts({("gups-stable", "numa-balancing", "default", "4K"): run(200.0, 4000.0, 50.0, 20.0)})[0]
        pages = 1280 << 8
        self.assertEqual((fact["operations_per_page"], fact["guest_seconds_per_modelled"]), (1000 / pages, 10_000.0))  # 2 s, 200 us
        self.assertEqual((fact["kernel_percent"], fact["tier_1_share"]), (25.0, [0.5, 0.75]))
        self.assertEqual((fact["hint_faults_per_kilo_operation"], fact["promoted_bytes_per_operation"]), (20.0, 4.0))
        told = page.markdown([], [], 1, [fact])
        self.assertIn("| gups-stable | numa-balancing default | 0.0 | 10000.0 | 50.0 | 75.0 | 200.0 | 200.0 | 25 | 20.00 | 4.00 | 8.00 |", told)

    def test_every_published_figure_has_one_of_ours(self):
        rows = verdicts(world.FIGURES, ours.of(self.runs, self.moves))
        self.assertEqual(len(rows), len(world.FIGURES))
        self.assertTrue(all(row.ours is not None for row in rows))

    def test_moves_have_the_speed_their_prices_were_made_from(self):
        for row in verdicts(world.FIGURES, ours.of({}, [])):
            if row.published.name in ours.FOLIOS:
                self.assertAlmostEqual(row.ours, row.published.low, delta=0.01 * row.published.low)

    def test_what_was_not_run_is_told_and_fails(self):
        missing = [row for row in verdicts(world.FIGURES, ours.of({}, [])) if row.published.name not in ours.FOLIOS]
        self.assertTrue(missing)
        self.assertEqual({row.text for row in missing}, {"not run"})
        self.assertFalse(any(row.passes for row in missing))


class Page(unittest.TestCase):
    def test_it_names_source_commit_and_what_is_off(self):
        told = page.markdown([Verdict(RATIO, 0.9), Verdict(EXPLAINED, 1.05)], ["abc"])
        for words in ("somebody", "Commit: abc", "OTHER DIRECTION", "it is smaller", "1.20 to 1.40", "| 0.90 |"):
            self.assertIn(words, told)


class Command(unittest.TestCase):
    def bench(self, *words: str) -> subprocess.CompletedProcess:
        return subprocess.run([sys.executable, "-B", str(ROOT / "tools/bench.d/calibrate/calibrate.py"), *words], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def test_nothing_stored_is_told_by_name_and_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.bench("--stored", "--out", folder, "--json", f"{folder}/rows.json")
            self.assertEqual(done.returncode, 1, done.stderr)
            rows = json.loads(Path(folder, "rows.json").read_text(encoding="utf-8"))
            self.assertEqual({row["name"] for row in rows}, {one.name for one in world.FIGURES})

    def test_bad_flags_are_usage(self):
        for words in (("--jobs", "0"), ("--density", "3"), ("--report", "/nowhere/page.md")):
            done = self.bench(*words)
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
