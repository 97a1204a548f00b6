"""Kill a sweep at random moments and see that nothing is lost, repeated or left behind.

Three set-ups, each with ``kill -9`` of whatever works; at the end every record is compared, bit for
bit, with those of a sequential run:

- ``processes``: a command with worker processes on a SQLite store; commands and workers die.
- ``drivers``: two commands beside each other on one SQLite store; commands and workers die.
- ``ray``: two machines (network namespaces) with a raylet each, a PostgreSQL server on a third
  address, two drivers; workers, drivers and a raylet die. Needs root, ``ip`` and PostgreSQL.

    python benchmarks/faults/kill_campaign.py  # 300 kills: 100 of each set-up
    python benchmarks/faults/kill_campaign.py --setups ray --kills 40
    python benchmarks/faults/kill_campaign.py --setups processes --real    # real trainings on texas
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
import shared
from postgres_server import postgres_server
from processes import children, is_alive
from runs.pretend import some_record
from two_hosts import ENVIRONMENT, ORPHAN_SECONDS, left_after, ray_nodes, two_hosts

from heterophily.runs.stores.base import Store
from heterophily.runs.stores.url import open_store

COMMAND = "from heterophily.cli.app import main; import sys; sys.exit(main())"


class Campaign:
    """Drivers on one store, and somebody who kills them and their workers."""

    def __init__(self, arguments: argparse.Namespace, store: str, drivers: int) -> None:
        self.arguments, self.url, self.count = arguments, store, drivers
        self.rng = random.Random(arguments.seed)
        self.killed: Counter[str] = Counter()
        self.orphans: list[int] = []
        self.executor: list[str] = []
        self.within: list[str] = []
        self.also: dict[str, Callable[[], None]] = {}  # what else may die, each once

    def start(self) -> subprocess.Popen[bytes]:
        chosen = self.arguments
        words = [str(shared.TESTS / "runs" / "pretend_driver.py"), self.url, str(chosen.runs)]
        words += [str(chosen.workers), *self.executor]
        if chosen.real:
            words = ["-c", COMMAND, "paper", "table", "ablation", "--store", self.url]
            words += ["--datasets", "texas,cornell", "--models", "acm-gcn,acm-gcn[low],acmii-gcn"]
            words += ["--workers", str(chosen.workers), "--engine", "torch", "--repeats", "10"]
            words += ["--executor", *self.executor] if self.executor else []
        return subprocess.Popen(
            [*self.within, sys.executable, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def disturb(self, store: Store) -> None:
        drivers = [self.start() for _ in range(self.count)]
        others = list(self.also.items())
        while self.killed.total() < self.arguments.kills:
            self.wait_for_a_start(store, drivers)
            time.sleep(self.rng.uniform(0.0, self.arguments.pause))
            number = self.rng.randrange(len(drivers))
            driver, draw = drivers[number], self.rng.random()
            if driver.poll() == 0 and all(other.poll() == 0 for other in drivers):
                print("everything was finished before the last kill; raise --runs")
                break
            if others and self.killed.total() >= self.arguments.kills // 2:
                name, kill = others.pop()
                kill()
                self.killed[name] += 1
            elif driver.poll() is not None:
                drivers[number] = self.start()
            elif draw < 0.7:
                self.kill_a_worker(store)
            else:
                below = children(driver.pid)
                driver.kill()
                driver.wait()
                self.killed["driver"] += 1
                self.orphans += left_after(below)
                drivers[number] = self.start()
        for driver in drivers:
            below = children(driver.pid)
            driver.kill()
            driver.wait()
            self.orphans += left_after(below)

    def kill_a_worker(self, store: Store) -> None:
        """Kill the process that began a run last, if it still works on it."""
        begun = [start for start in store.starts() if start.finish is None]
        if begun:
            pid = int(self.rng.choice(begun[-4:]).place.rpartition(":")[2])
            if pid != os.getpid() and is_alive(pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    self.killed["worker"] += 1

    def wait_for_a_start(self, store: Store, drivers: list[subprocess.Popen[bytes]]) -> None:
        before = len(store.starts())
        while len(store.starts()) == before and any(one.poll() is None for one in drivers):
            time.sleep(0.05)

    def report(self, store: Store) -> bool:
        began = time.monotonic()
        for _ in range(5):  # a driver gives a run up when its worker was killed too often
            if self.start().wait() == 0:
                break
        seconds = time.monotonic() - began
        answers = self.expected()
        starts = store.starts()
        repeated = sum(start.is_repeated for start in starts)
        is_equal = store.answers() == answers
        print(f"  killed {dict(self.killed)}; the last driver took {seconds:.0f} s")
        print(f"  {len(store)} runs, equal bit for bit to a sequential run: {is_equal}")
        print(f"  starts {len(starts)}, of finished runs: {repeated}")
        print(f"  processes alive {ORPHAN_SECONDS:.0f} s after their parent: {len(self.orphans)}")
        return is_equal and not repeated and not self.orphans

    def expected(self) -> str:
        if not self.arguments.real:
            with open_store("memory:") as reference:
                reference.add_all(map(some_record, range(self.arguments.runs)))
                return reference.answers()
        with tempfile.TemporaryDirectory() as folder:
            alone = Campaign(argparse.Namespace(**{**vars(self.arguments), "workers": 1}), "", 1)
            alone.url = f"{folder}/sequential.sqlite"
            alone.start().wait()
            with open_store(alone.url) as reference:
                return reference.answers()


def on_sqlite(arguments: argparse.Namespace, drivers: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(arguments, f"{folder}/runs.sqlite", drivers)
        with open_store(campaign.url) as store:
            campaign.disturb(store)
            return campaign.report(store)


def processes(arguments: argparse.Namespace) -> bool:
    return on_sqlite(arguments, 1)


def drivers(arguments: argparse.Namespace) -> bool:
    return on_sqlite(arguments, 2)


def on_ray(arguments: argparse.Namespace) -> bool:
    with ExitStack() as stack:
        hosts = stack.enter_context(two_hosts())
        server = stack.enter_context(postgres_server(hosts.server, hosts.within(0)))
        nodes = stack.enter_context(ray_nodes(hosts))
        there = server.database()
        campaign = Campaign(arguments, there, 2)
        campaign.executor = [f"ray://{hosts.head}:{nodes.port}"]
        campaign.within = hosts.within(1)
        campaign.also = {"raylet": nodes.kill_second}
        with open_store(f"{there}?host={server.folder}") as store:  # by its socket
            campaign.disturb(store)
            workers = {int(start.place.rpartition(":")[2]) for start in store.starts()}
            campaign.orphans += left_after([*nodes.orphans, *workers])
            return campaign.report(store)


SETUPS = {"processes": processes, "drivers": drivers, "ray": on_ray}


def main() -> int:
    parser = shared.parser(__doc__)
    parser.add_argument("--setups", default=",".join(SETUPS), help="with commas between")
    parser.add_argument("--kills", default=300, type=int, help="shared by the set-ups")
    parser.add_argument("--runs", default=200, type=int)
    parser.add_argument("--workers", default=2, type=int)
    parser.add_argument("--nap", default=0.5, type=float, help="seconds of a pretended training")
    parser.add_argument("--pause", default=0.5, type=float, help="longest time between kills, s")
    parser.add_argument("--real", action="store_true", help="train instead of napping")
    parser.add_argument("--seed", default=0, type=int)
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.setups, arguments.kills, arguments.runs, arguments.workers = "processes", 1, 4, 1
        arguments.nap, arguments.pause = 0.2, 0.05
    os.environ |= {
        "PRETEND_SECONDS": str(arguments.nap),
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        **ENVIRONMENT,
    }
    names = arguments.setups.split(",")
    arguments.kills //= len(names)
    verdicts = []
    for name in names:
        print(f"{name}: {arguments.kills} kills, {arguments.runs} runs", flush=True)
        verdicts.append(SETUPS[name](arguments))
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
