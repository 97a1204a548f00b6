"""Residual stacks: CPU time of an epoch in torch and in the native engine, interleaved in one run.

An epoch is a training step and an evaluation, with the defaults of the model, float32, one thread
for both. Printed are the smallest CPU milliseconds of all turns (which a busy machine disturbs
least), the median of the turns' ratios, and the geometric mean of the medians. ``--threads`` trains
one network on a generated graph with one, two, .. threads of the engine instead and prints wall
times: run it on an idle machine.

    python benchmarks/speed/engine_programs.py
    python benchmarks/speed/engine_programs.py --datasets tolokers --models res-acm --turns 9
    python benchmarks/speed/engine_programs.py --threads 2 --nodes 1000000 --edges 10000000
    python benchmarks/speed/engine_programs.py --quick
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import Split
from heterophily.engine.buffers import GraphBuffers
from heterophily.engine.run import run
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig
from heterophily.training.epoch import FullBatch
from heterophily.training.replica import Replica

DATASETS = "minesweeper,tolokers"
NETWORKS = "res-gcn,res-sage,res-acm,res-acmii"


def halves(graph: Graph) -> Split:
    """Half of the nodes train, a quarter each validate and test, as in Platonov et al. (2023)."""
    place = np.random.default_rng(0).permutation(graph.num_nodes) * 4 // graph.num_nodes
    known = graph.labels >= 0
    return Split(known & (place < 2), known & (place == 2), known & (place == 3))


class EpochsOfModel:
    """One network on one graph, in both engines."""

    def __init__(self, graph: Graph, model: str, **options: object) -> None:
        spec = MODELS[model].with_options(**options)
        self.inputs = GraphInputs.from_graph(graph, spec.inputs)
        torch.manual_seed(0)
        self.network = spec.build(
            num_nodes=graph.num_nodes,
            num_features=self.inputs.num_features,
            num_classes=graph.num_classes,
        )
        self.graph, self.split = graph, halves(graph)
        self.config = TrainConfig(stopping="none")
        self.buffers = GraphBuffers(self.inputs, graph.labels, graph.num_classes)

    def torch(self, epochs: int) -> float:
        """CPU milliseconds of an epoch in torch."""
        batch = FullBatch(self.network, self.inputs, self.graph.labels, self.split, self.config)
        batch.step()
        before = time.process_time()
        for _ in range(epochs):
            batch.step()
            batch.evaluate()
        return 1000 * (time.process_time() - before) / epochs

    def native(
        self, epochs: int, *, threads: int = 1, clock: Callable[[], float] = time.process_time
    ) -> float:
        """Milliseconds of an epoch in the engine: a run less one of a single epoch."""
        short, long = self._run(1, threads, clock), self._run(1 + epochs, threads, clock)
        return 1000 * (long - short) / epochs

    def _run(self, epochs: int, threads: int, clock: Callable[[], float]) -> float:
        task = Replica(lambda: self.network, self.split, self.config.replace(max_epochs=epochs), 0)
        before = clock()
        run([task], self.buffers, self.graph.labels, keep_state=False, threads=threads)
        return clock() - before


def compare(datasets: list[str], models: list[str], turns: int, epochs: int) -> None:
    """Print both engines and their ratio for every network and dataset."""
    ratios = []
    print("torch ms, native ms, torch / native (median of the turns)")
    for name in datasets:
        graph = open_graph(name)
        for model in models:
            each = EpochsOfModel(graph, model)
            pairs = [(each.torch(epochs), each.native(4 * epochs)) for _ in range(turns)]
            slow, fast = (min(values) for values in zip(*pairs, strict=True))
            ratios.append(statistics.median(a / b for a, b in pairs))
            print(f"{name:12} {model:10} {slow:8.1f} {fast:8.1f} {ratios[-1]:6.2f}", flush=True)
    print(f"geometric mean {statistics.geometric_mean(ratios):6.2f}")


def generated(nodes: int, edges: int) -> Graph:
    """A random graph with 64 dense features."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, nodes, (2, edges))
    keep = source != target
    features = rng.standard_normal((nodes, 64), dtype=np.float32)
    return Graph.from_edges(
        source[keep],
        target[keep],
        labels=rng.integers(0, 5, nodes),
        features=features,
        num_nodes=nodes,
    )


def scaling(threads: int, graph: Graph, model: str, turns: int, epochs: int) -> None:
    """Print wall and CPU time of an epoch with 1 .. threads threads, alternating."""
    each = EpochsOfModel(graph, model)
    print(f"{graph}: load {os.getloadavg()[0]:.1f} at the start")
    walls: list[list[float]] = [[] for _ in range(threads)]
    for _ in range(turns):
        for count in range(1, threads + 1):
            walls[count - 1].append(each.native(epochs, threads=count, clock=time.perf_counter))
            times = ", ".join(f"{value:.0f}" for value in walls[count - 1])
            print(f"{model}: {count} threads, wall ms of an epoch: {times}", flush=True)
    for count in range(2, threads + 1):
        print(f"{count} threads: {min(walls[0]) / min(walls[count - 1]):.2f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--datasets", default=DATASETS)
    parser.add_argument("--models", default=NETWORKS)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--quick", action="store_true", help="one turn, one network")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.quick:
        arguments.turns, arguments.epochs = 1, 2
        arguments.models = "res-gcn"
        arguments.nodes, arguments.edges = 20_000, 100_000
    if arguments.threads:
        graph = generated(arguments.nodes, arguments.edges)
        model = arguments.models.split(",")[0]
        scaling(arguments.threads, graph, model, arguments.turns, arguments.epochs)
        return
    names = arguments.datasets.split(","), arguments.models.split(",")
    compare(*names, arguments.turns, arguments.epochs)


if __name__ == "__main__":
    main()
