"""Renew tests/slow.txt from what pytest printed: the slow tests, slowest first.

    python -m pytest -n 2 --durations=0 -vv > printed.txt
    python tests/rank_slow.py printed.txt [--limit 0.5]

A test counts with all its parameters and with what is made for it. A test that the file does not
tell of (``make test-fast`` left it out, so it is slower) keeps its place before the others.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

SLOW = Path(__file__).with_name("slow.txt")
LINE = re.compile(r"^([\d.]+)s (?:setup|call|teardown) +(tests/[^ \[\n]+)", re.MULTILINE)


def ranked(printed: str, before: list[str], limit: float) -> list[str]:
    """Return the slow tests in their new order.

    >>> ranked("2.0s call     tests/a.py::one[x y]\\n0.1s call     tests/a.py::two\\n", ["old"], 1)
    ['old', 'tests/a.py::one']
    """
    seconds = Counter[str]()
    for taken, test in LINE.findall(printed):
        seconds[test] += float(taken)
    slow = [test for test, taken in seconds.most_common() if taken >= limit]
    return [*(test for test in before if test not in seconds), *slow]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("printed", type=Path)
    parser.add_argument("--limit", type=float, default=0.5)
    given = parser.parse_args()
    known = SLOW.read_text("utf-8").split()
    found = ranked(given.printed.read_text("utf-8"), known, given.limit)
    SLOW.write_text("\n".join(found) + "\n", "utf-8")
