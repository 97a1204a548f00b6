"""Which tests go together, and which start first, when several processes share them (``-n 2``).

The tests of a file stay together: what its fixtures make is made once. A slow test of a file that
shares nothing goes alone, so that the others need not wait for a long file. What takes longest
starts first: ``tests/slow.txt`` has the slow tests in that order.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parents[1]
SLOW = {
    name: place
    for place, name in enumerate((ROOT / "tests" / "slow.txt").read_text("utf-8").split())
}
"""Slow test (or file) -> its place in the list, slowest first."""


@cache
def is_shared(file: str) -> bool:
    """Whether the tests of a file share what is costly to make."""
    return 'scope="module"' in (ROOT / file).read_text("utf-8")


def place_of(nodeid: str) -> int:
    """Return the place of a test in the list, or a number after all places."""
    test, file = nodeid.partition("[")[0], nodeid.partition("::")[0]
    return SLOW.get(test, SLOW.get(file, len(SLOW)))


class SlowestFirst(LoadScopeScheduling):
    """Hands out groups of tests, the slowest first."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if place_of(nodeid) < len(SLOW) and not is_shared(file) else file

    def _assign_work_unit(self, node: Any) -> None:
        def turn(group: str) -> tuple[int, int]:
            tests = self.workqueue[group]
            return min(map(place_of, tests)), -len(tests)

        self.workqueue.move_to_end(min(self.workqueue, key=turn), last=False)
        super()._assign_work_unit(node)
