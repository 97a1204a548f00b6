"""What the road costs over calling the engine directly: a ratio measured in one run.

    python benchmarks/road.py                 # texas, acm-gcn, ten splits
    python benchmarks/road.py --rounds 9

The same trainings on one thread: by one call of the engine with a prepared graph, by ``complete``
with a store in memory, and by ``complete`` with a file. Processor time, so that other programs of
the machine do not count; the three alternate, and the median of their ratios is printed. The road
also computes logits, scores and records, which the direct call does not.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from heterophily import open_store
from heterophily.data.catalog import load
from heterophily.data.splits import random_splits
from heterophily.engine import run as native
from heterophily.runs.artefacts import KINDS
from heterophily.runs.complete import complete
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.plan import Planner
from heterophily.runs.run import Run
from heterophily.training.config import TrainConfig
from heterophily.training.seeding import replica_seed


def planned(dataset: str, model: str, count: int) -> list[Run]:
    """Return the runs, their graph prepared."""
    graph = load(dataset)
    runs = Planner(engine="native").runs_on(
        model,
        {},
        TrainConfig(),
        graph,
        list(random_splits(graph.labels, repeats=count, seed=0)),
        rule="stratified",
        seeds=[replica_seed(0, number) for number in range(count)],
    )
    assert runs[0].sources is not None
    runs[0].sources.buffers(runs[0])
    return runs


def directly(runs: list[Run]) -> None:
    """Call the engine."""
    sources = runs[0].sources
    assert sources is not None
    graph, inputs = sources.graph(runs[0]), sources.inputs(runs[0])
    build = sources.spec(runs[0]).builder(inputs, num_classes=graph.num_classes)
    tasks = [native.Task(build, sources.split(run), TrainConfig(), run.seed) for run in runs]
    native.run(tasks, sources.buffers(runs[0]), graph.labels, threads=1)


def by_road(runs: list[Run], url: str) -> None:
    """Complete the runs in an empty store."""
    with open_store(url) as store:
        complete(runs, store=store, executor=InProcess(), keep=tuple(KINDS)).check()


def seconds(call: Callable[[], None]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dataset", default="texas")
    parser.add_argument("--model", default="acm-gcn")
    parser.add_argument("--splits", default=10, type=int)
    parser.add_argument("--rounds", default=5, type=int)
    arguments = parser.parse_args()
    runs = planned(arguments.dataset, arguments.model, arguments.splits)
    directly(runs[:1])
    found: dict[str, list[float]] = {"memory": [], "file": []}
    for _ in range(arguments.rounds):
        engine = seconds(lambda: directly(runs))
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "runs.sqlite")
            for name, url in (("memory", "memory:"), ("file", path)):
                found[name].append(seconds(lambda url=url: by_road(runs, url)) / engine)
    print(f"{arguments.model} on {arguments.dataset}, {len(runs)} trainings, engine directly: 1")
    for name, ratios in found.items():
        spread = f"({min(ratios):.3f} to {max(ratios):.3f})"
        print(f"  road, store in {name:<7} {median(ratios):.3f}  {spread}")


if __name__ == "__main__":
    main()
