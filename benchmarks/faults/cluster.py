"""Ray and PostgreSQL on two hosts beside one machine: the same bits, and how much faster.

    python benchmarks/faults/cluster.py equal      # one table on both, compared record by record
    python benchmarks/faults/cluster.py speed  # two nodes of one core each against one, on squirrel
    python benchmarks/faults/cluster.py --quick  # SQLite beside PostgreSQL on this machine, without Ray

Hosts are network namespaces, so it needs root, ``ip`` and the programs of PostgreSQL. For ``speed``
each node and its command are tied to one core of their own: give the machine nothing else to do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import shared
from postgres_server import Server, postgres_server
from two_hosts import ENVIRONMENT, Hosts, Nodes, ray_nodes, two_hosts

from heterophily.runs.stores.base import Store
from heterophily.runs.stores.url import open_store

COMMAND = "from heterophily.cli.app import main; import sys; sys.exit(main())"
TABLES = {
    "equal": ["ablation", "--datasets", "texas"],
    "speed": ["fixed-splits", "--datasets", "squirrel", "--models", "acm-gcn,acmii-gcn,acm-gcn+"],
}
GOAL = 1.8


class Cluster:
    """Two hosts, a server for the records, and Ray nodes of one core."""

    def __init__(self, stack: ExitStack, *, cores: tuple[int, ...], second: bool) -> None:
        self.hosts: Hosts = stack.enter_context(two_hosts())
        hosts = self.hosts
        self.server: Server = stack.enter_context(postgres_server(hosts.server, hosts.within(0)))
        self.nodes: Nodes = stack.enter_context(ray_nodes(hosts, cores, second=second))
        self.stack = stack

    def train(self, table: list[str]) -> tuple[float, Store]:
        """Train a table into a new database; return the seconds and the store."""
        there = self.server.database()
        executor = f"ray://{self.hosts.head}:{self.nodes.port}"
        seconds = train(table, there, ["--executor", executor], self.nodes.within(1))
        return seconds, self.stack.enter_context(open_store(f"{there}?host={self.server.folder}"))


def train(table: list[str], store: str, how: list[str], within: list[str]) -> float:
    words = [sys.executable, "-c", COMMAND, "paper", "table", *table, "--engine", "native"]
    began = time.perf_counter()
    subprocess.run([*within, *words, "--store", store, *how], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def span(store: Store) -> float:
    """Return the seconds from the beginning of the first training to the last commit."""
    ends = [
        (datetime.fromisoformat(record.finished_at).timestamp(), record.outcome.seconds)
        for record in store.records()
    ]
    return max(end for end, _ in ends) - min(end - seconds for end, seconds in ends)


def mean_seconds(store: Store) -> float:
    """Return what one training took: beside another it waits for the memory that both share."""
    return mean(record.outcome.seconds for record in store.records())


def equal(table: list[str]) -> bool:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        here = f"sqlite:///{folder}/runs.sqlite"
        alone = train(table, here, ["--workers", "2"], [])
        ours = stack.enter_context(open_store(here))
        together, theirs = Cluster(stack, cores=(), second=True).train(table)
        for name, store, seconds in (
            ("SQLite, 2 processes", ours, alone),
            ("PostgreSQL, Ray on 2 nodes", theirs, together),
        ):
            print(f"{name:28} {len(store)} runs in {seconds:.0f} s, answers {store.answers()}")
        return len(ours) == len(theirs) > 0 and ours.answers() == theirs.answers()


def equal_here(table: list[str]) -> bool:
    """Train a table on this machine, once into a file and once into a server of PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        server = stack.enter_context(postgres_server())
        kept = [f"sqlite:///{folder}/runs.sqlite", server.database()]
        for store in kept:
            how = ["--engine", "native", "--store", store, "--workers", "1"]
            shared.apart(shared.heterophily, "paper", "table", *table, *how)
        one, two = (stack.enter_context(open_store(store)) for store in kept)
        print(f"{len(one)} and {len(two)} runs, answers {one.answers()} and {two.answers()}")
        return len(one) == len(two) > 0 and one.answers() == two.answers()


def speed(table: list[str]) -> bool:
    cores = tuple(sorted(os.sched_getaffinity(0)))[:2]
    with ExitStack() as stack:
        cluster = Cluster(stack, cores=cores, second=False)
        alone, first = cluster.train(table)
        cluster.nodes.start_second()
        together, second = cluster.train(table)
        trainings = span(first) / span(second)
        print(
            f"{len(first)} runs on one node: {alone:.1f} s, trainings {span(first):.1f} s, "
            f"{mean_seconds(first):.2f} s each\n"
            f"{len(second)} runs on two nodes: {together:.1f} s, trainings {span(second):.1f} s, "
            f"{mean_seconds(second):.2f} s each\n"
            f"the command {alone / together:.2f} times faster, its trainings {trainings:.2f} times "
            f"(goal {GOAL}); answers {'equal' if first.answers() == second.answers() else 'DIFFER'}"
        )
        return trainings >= GOAL and first.answers() == second.answers()


def main() -> int:
    parser = shared.parser(__doc__)
    parser.add_argument("what", choices=TABLES, nargs="?", default="equal")
    parser.add_argument("--repeats", type=int, default=10, help="splits of each cell")
    arguments = parser.parse_args()
    os.environ |= {
        **ENVIRONMENT,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "OMP_NUM_THREADS": "1",
    }
    table = [*TABLES[arguments.what], "--repeats", str(arguments.repeats)]
    compare = {"equal": equal, "speed": speed}[arguments.what]
    if arguments.quick:
        compare = equal_here
        table = [*TABLES["equal"], "--models", "acm-sgc-1", "--repeats", "1"]
    is_good = compare(table)
    print("as expected" if is_good else "NOT as expected")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
