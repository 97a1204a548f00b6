"""Kill a study at random moments and see that nothing is lost, repeated or left behind.

Real trainings (the ablation rows on texas and cornell), one or more commands at once on one store,
``kill -9`` of commands and workers at random moments; at the end the store is compared, bit for
bit, with that of an undisturbed command.

    python benchmarks/kill_campaign.py                       # 100 kills
    python benchmarks/kill_campaign.py --kills 20 --commands 2 --repeats 4
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from heterophily.runs.stores.url import open_store

COMMAND = "from heterophily.cli.app import main; import sys; sys.exit(main())"


class Campaign:
    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.arguments, self.folder = arguments, folder
        self.rng = random.Random(arguments.seed)
        self.killed: Counter[str] = Counter()
        self.orphans = 0

    def start(self, name: str) -> subprocess.Popen[bytes]:
        chosen = self.arguments
        return subprocess.Popen(
            [
                *(sys.executable, "-c", COMMAND, "paper", "table", "ablation"),
                *("--datasets", chosen.datasets, "--models", chosen.models),
                *("--repeats", str(chosen.repeats), "--workers", str(chosen.workers)),
                *("--engine", chosen.engine, "--store", str(self.folder / name)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def disturb(self) -> None:
        commands = [self.start("disturbed.sqlite") for _ in range(self.arguments.commands)]
        while self.killed.total() < self.arguments.kills:
            if self.rng.random() < 0.8:  # else perhaps while it is still importing
                self.wait_for_a_start(commands)
            time.sleep(self.rng.uniform(0.0, self.arguments.pause))
            number = self.rng.randrange(len(commands))
            command = commands[number]
            below = children(command.pid)
            if command.poll() == 0:
                print("everything was finished before the last kill; raise --repeats")
                break
            if command.poll() is not None:  # gave a run up: its worker was killed twice
                commands[number] = self.start("disturbed.sqlite")
            elif below and self.rng.random() < 0.5:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.rng.choice(below), signal.SIGKILL)
                    self.killed["worker"] += 1
            else:
                command.kill()
                command.wait()
                self.killed["command"] += 1
                self.orphans += left_after(below, 2.0)
                commands[number] = self.start("disturbed.sqlite")
        for command in commands:
            below = children(command.pid)
            command.kill()
            command.wait()
            self.orphans += left_after(below, 2.0)

    def wait_for_a_start(self, commands: list[subprocess.Popen[bytes]]) -> None:
        before = self.starts()
        while self.starts() == before and all(command.poll() is None for command in commands):
            time.sleep(0.1)

    def starts(self) -> int:
        path = self.folder / "disturbed.sqlite"
        if not path.exists():
            return 0
        with open_store(path, is_checked=False) as store:
            return len(store.starts())

    def finish(self, name: str) -> float:
        began = time.monotonic()
        for _ in range(5):  # a command gives a run up when its worker was killed twice
            if self.start(name).wait() == 0:
                return time.monotonic() - began
        raise SystemExit("the undisturbed command failed")

    def report(self) -> int:
        seconds = self.finish("disturbed.sqlite")
        print(f"killed {dict(self.killed)}; the last command took {seconds:.0f} s")
        seconds = self.finish("reference.sqlite")
        with (
            open_store(self.folder / "disturbed.sqlite") as store,
            open_store(self.folder / "reference.sqlite") as reference,
        ):
            is_equal = store.answers() == reference.answers()
            starts = store.starts()
            repeated = sum(start.is_repeated for start in starts)
            print(f"{len(store)} runs, {len(reference)} undisturbed in {seconds:.0f} s")
            print(f"answers equal bit for bit: {is_equal}")
            print(f"starts {len(starts)}, of them after the run was finished: {repeated}")
            print(f"processes alive two seconds after their command died: {self.orphans}")
        return 0 if is_equal and not repeated and not self.orphans else 1


def children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        found = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []
    return found + [below for child in found for below in children(child)]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def left_after(pids: list[int], seconds: float) -> int:
    deadline = time.monotonic() + seconds
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return sum(map(is_alive, pids))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", default=100, type=int)
    parser.add_argument("--commands", default=1, type=int, help="commands at once on one store")
    parser.add_argument("--workers", default=2, type=int)
    parser.add_argument("--repeats", default=10, type=int)
    parser.add_argument("--pause", default=3.0, type=float, help="longest time between kills, s")
    parser.add_argument("--datasets", default="texas,cornell")
    parser.add_argument("--models", default="acm-gcn,acm-gcn[low],acm-gcn[sum],acmii-gcn")
    parser.add_argument("--engine", default="torch")
    parser.add_argument("--seed", default=0, type=int)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(arguments, Path(folder))
        campaign.disturb()
        return campaign.report()


if __name__ == "__main__":
    sys.exit(main())
