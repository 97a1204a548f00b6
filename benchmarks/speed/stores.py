"""What a store costs: 10,000 finished runs planned and skipped, and one run claimed and committed.

python benchmarks/speed/stores.py               # memory, SQLite, and PostgreSQL if installed
python benchmarks/speed/stores.py --runs 1000
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from postgres_server import binaries, postgres_server
from runs.pretend import PretendJob, some_record, some_run
from shared import Spent, parser

from heterophily.runs.complete import complete_with
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.record import Record
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.url import open_store

LIMITS = {"memory": 2.0, "sqlite": 2.0, "postgresql": 5.0}


def urls(stack: ExitStack, *, with_server: bool) -> Iterator[tuple[str, str]]:
    yield "memory", "memory:"
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    yield "sqlite", f"sqlite:///{folder}/runs.sqlite"
    if with_server and binaries() is not None:
        yield "postgresql", stack.enter_context(postgres_server()).database()


def skip(store: Store, number: int) -> None:
    """Describe runs, make their keys, find all of them finished."""
    runs = [some_run(each) for each in range(number)]
    complete_with(PretendJob(store.url), runs, store=store, executor=InProcess())


def commit(store: Store, record: Record) -> None:
    """Claim, note the beginning, commit, let go."""
    with store.claims.claim(record.key):
        store.finished([record.key])
        store.add(record, start=store.start(record.key))


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--runs", default=10_000, type=int)
    options.add_argument("--commits", default=300, type=int)
    given = options.parse_args()
    if given.quick:  # without a server of PostgreSQL
        given.runs, given.commits = 20, 3
    is_fast = True
    with ExitStack() as stack:
        for kind, url in urls(stack, with_server=not given.quick):
            with open_store(url) as store:
                store.add_all(map(some_record, range(given.runs)))
                skipped = min(Spent.on(lambda s=store: skip(s, given.runs)) for _ in range(3))
                records = [some_record(given.runs + each) for each in range(given.commits)]
                commits = [Spent.on(lambda s=store, r=each: commit(s, r)) for each in records]
            is_fast &= skipped.wall < LIMITS[kind]
            print(
                f"{kind:11} {given.runs} finished runs planned and skipped in {skipped.wall:.2f} s "
                f"({skipped.cpu:.2f} s of a core; limit {LIMITS[kind]:.0f} s); a run claimed and "
                f"committed in {1000 * statistics.median(each.wall for each in commits):.2f} ms"
            )
    return 0 if is_fast else 1


if __name__ == "__main__":
    sys.exit(main())
