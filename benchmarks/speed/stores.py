"""What a store costs: 10,000 finished runs planned and skipped, and one run claimed and committed.

python benchmarks/speed/stores.py               # memory, SQLite, and PostgreSQL if installed
python benchmarks/speed/stores.py --runs 1000
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2] / "tests"
sys.path.insert(0, str(TESTS))

from postgres_server import binaries, postgres_server  # noqa: E402
from runs.pretend import PretendJob, some_record, some_run  # noqa: E402

from heterophily.runs.complete import complete_with  # noqa: E402
from heterophily.runs.executors.in_process import InProcess  # noqa: E402
from heterophily.runs.stores.base import Store  # noqa: E402
from heterophily.runs.stores.url import open_store  # noqa: E402

LIMITS = {"memory": 2.0, "sqlite": 2.0, "postgresql": 5.0}


def urls(stack: ExitStack) -> Iterator[tuple[str, str]]:
    yield "memory", "memory:"
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    yield "sqlite", f"sqlite:///{folder}/runs.sqlite"
    if binaries() is not None:
        yield "postgresql", stack.enter_context(postgres_server()).database()


def skip_seconds(store: Store, count: int) -> tuple[float, float]:
    """Describe runs, make their keys, find all of them finished: seconds by the wall, of a core."""
    wall, core = time.perf_counter(), time.process_time()
    runs = [some_run(number) for number in range(count)]
    complete_with(PretendJob(store.url), runs, store=store, executor=InProcess())
    return time.perf_counter() - wall, time.process_time() - core


def commit_milliseconds(store: Store, first: int, count: int) -> float:
    """Claim, note the beginning, commit, let go: the median of some runs."""
    seconds = []
    for number in range(first, first + count):
        record = some_record(number)
        began = time.perf_counter()
        with store.claims.claim(record.key):
            store.finished([record.key])
            store.add(record, start=store.start(record.key))
        seconds.append(time.perf_counter() - began)
    return 1000 * statistics.median(seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", default=10_000, type=int)
    parser.add_argument("--commits", default=300, type=int)
    arguments = parser.parse_args()
    is_fast = True
    with ExitStack() as stack:
        for kind, url in urls(stack):
            with open_store(url) as store:
                store.add_all(map(some_record, range(arguments.runs)))
                skipped, core = min(skip_seconds(store, arguments.runs) for _ in range(3))
                commit = commit_milliseconds(store, arguments.runs, arguments.commits)
            is_fast &= skipped < LIMITS[kind]
            print(
                f"{kind:11} {arguments.runs} finished runs planned and skipped in {skipped:.2f} s "
                f"({core:.2f} s of a core; limit {LIMITS[kind]:.0f} s); a run claimed and "
                f"committed in {commit:.2f} ms"
            )
    return 0 if is_fast else 1


if __name__ == "__main__":
    sys.exit(main())
