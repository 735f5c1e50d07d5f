# SPDX-License-Identifier: MIT
"""Which tests share a guest, and what comes out of each."""
from dataclasses import dataclass
from typing import Dict, Hashable, Iterator, List, Sequence, Tuple, Union

from lab.cache import locked
from lab.errors import LabError
from suite.case import Result
from suite.e2e import EndToEnd
from suite.sitting import Sitting
from suite.torture import Torture

Test = Union[EndToEnd, Torture]
MOST = 8  # tests in one guest: with longer groups one of two runners waits for the other at the end


@dataclass(frozen=True)
class Group:
    """Tests of one shape; each can also be run() by itself, in a guest of its own."""

    tests: Tuple[Test, ...]

    def run(self) -> Iterator[Result]:
        """One result a test, in their order, as they come."""
        if len(self.tests) == 1:
            yield self.tests[0].run()
            return
        inside = [test.inside() for test in self.tests]
        sitting = Sitting(inside[0].shape, inside[0].machine, [test.part for test in inside], inside[0].results.parent)
        for test, guest_test, (outcome, folder) in zip(self.tests, inside, sitting.run()):
            with locked(guest_test.results):
                guest_test.keep(outcome, folder)
                result = test.told(outcome)
            yield result


def groups(tests: Sequence[Test], most: int = MOST) -> List[Group]:
    """All `tests`, those of one shape together, at most so many and about as many in each."""
    by_shape: Dict[Hashable, List[Test]] = {}
    for test in tests:
        by_shape.setdefault(_key(test), []).append(test)
    return [Group(tuple(alike[at * len(alike) // parts:(at + 1) * len(alike) // parts]))
            for alike in by_shape.values() for parts in [-(-len(alike) // most)] for at in range(parts)]


def _key(test: Test) -> Hashable:
    """The same for tests that share."""
    try:
        inside = test.inside()
        return test.name if inside.alone else inside.shape
    except LabError:  # told when it is run; or a row that needs no guest
        return test.name
