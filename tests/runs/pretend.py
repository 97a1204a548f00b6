"""Runs that pretend to train: answers follow from the key, the store is real, torch is absent."""

from __future__ import annotations

import hashlib
import os
import sys
import time

from heterophily.runs.complete import complete_with
from heterophily.runs.executors.choose import executor_of
from heterophily.runs.job import Job, Trained
from heterophily.runs.record import Outcome, Record
from heterophily.runs.run import GraphRef, Run, SplitRef
from heterophily.runs.stores.url import open_store


def some_run(number: int, *, model: str = "acm-gcn", engine: str = "torch") -> Run:
    return Run(
        model=model,
        options={"dropout": 0.5},
        config={"lr": 0.01, "weight_decay": 5e-4},
        graph=GraphRef("ring", "f" * 64),
        split=SplitRef("random", number, 0, f"{number:032x}"),
        seed=number,
        resolved={"network": "StackNetwork", "dropout": 0.5},
        engine=engine,
    )


def some_outcome(run: Run) -> Outcome:
    numbers = hashlib.sha256(run.key.encode()).digest()
    values = [byte / 255 for byte in numbers]
    return Outcome("stopped", 200 + numbers[0], 7, *values[:4], values[4], 100.0 + values[5])


def some_record(number: int) -> Record:
    run = some_run(number)
    return Record.of(run, some_outcome(run), command="test")


class PretendJob(Job):
    """Claims, commits and lets go as the real one; only the training is a nap."""

    seconds = float(os.environ.get("PRETEND_SECONDS", "0.03"))

    def train(self, run: Run, threads: int = 1) -> Trained:
        time.sleep(self.seconds)
        return Trained(some_outcome(run), {kind: {} for kind in self.keep})


def main() -> None:
    """Complete some runs: the body of pretend_driver.py."""
    path, count, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    executor = executor_of(*sys.argv[4:], workers=workers)
    with open_store(path) as store:
        runs = [some_run(number) for number in range(count)]
        done = complete_with(PretendJob(path), runs, store=store, executor=executor)
    sys.exit(1 if done.failures else 0)
