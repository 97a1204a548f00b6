"""Speed of training: ours against two yardsticks, interleaved in one run, one thread.

One epoch is a training step plus an evaluation. Printed are medians of CPU milliseconds, the ratios
of the yardsticks to our torch path and to the native engine, and their geometric means. The
yardsticks exist for ACM-GCN, ACMII-GCN and ACM-GCN+; other models are compared with torch alone.
``--grid`` times a full grid of the paper on a dataset as one call of the engine, ``--parallel``
ten splits on a dataset with one and two workers of ``--engine``, ``--memory`` the peak memory of
training on deezer-europe and pubmed.

    python benchmarks/speed/training.py --epochs 30 --datasets cornell,cora --models acm-gcn,snowball-3
    python benchmarks/speed/training.py --only --grid cornell
"""

from __future__ import annotations

import argparse
import itertools
import math
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from yardsticks.dense import DenseEpochs
from yardsticks.message_passing import MessagePassingEpochs

from heterophily.comparison.train import train_by_name
from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import random_splits
from heterophily.engine.buffers import GraphBuffers
from heterophily.engine.run import run
from heterophily.layers.feature_scaling import row_normalized
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.paper.presets import Recipe, recipe
from heterophily.training.epoch import FullBatch
from heterophily.training.replica import Replica

DATASETS = ("cornell", "texas", "cora", "citeseer", "film", "chameleon", "squirrel")
GRID_LR = (0.01, 0.05, 0.1)
GRID_WEIGHT_DECAY = (0.0, 5e-6, 1e-5, 5e-5, 1e-4, 5e-4, 1e-3, 5e-3, 1e-2)
WITH_YARDSTICKS = ("acm-gcn", "acmii-gcn", "acm-gcn+")
RATIOS = {  # title -> slower and faster candidate
    "dense/torch": ("dense", "torch"),
    "messages/torch": ("messages", "torch"),
    "dense/native": ("dense", "native"),
    "torch/native": ("torch", "native"),
}


class OurEpochs:
    """The package's own model and trainer."""

    def __init__(self, graph: Graph, model: str, chosen: Recipe) -> None:
        spec = MODELS[model].with_options(**chosen.options)
        self.inputs = GraphInputs.from_graph(graph, spec.inputs)
        self.network = spec.build(
            num_nodes=self.inputs.num_nodes,
            num_features=self.inputs.num_features,
            num_classes=graph.num_classes,
        )
        split = random_splits(graph.labels, repeats=1, seed=0, rule="paper-random")[0]
        self.epochs = FullBatch(self.network, self.inputs, graph.labels, split, chosen.config)

    def __call__(self) -> None:
        self.epochs.step()
        self.epochs.evaluate()


class NativeEpochs:
    """The native engine on what :class:`OurEpochs` prepared; a call reports its own time."""

    EPOCHS = 25

    def __init__(self, graph: Graph, ours: OurEpochs, chosen: Recipe) -> None:
        self.labels, self.network = graph.labels, ours.network
        self.split = random_splits(graph.labels, repeats=1, seed=0, rule="paper-random")[0]
        self.config = chosen.config.replace(stopping="none")
        self.buffers = GraphBuffers(ours.inputs, graph.labels, graph.num_classes)

    def __call__(self) -> float:
        """CPU milliseconds of an epoch: a run less one of a single epoch, from the same start."""
        short, long = self.seconds(1), self.seconds(1 + self.EPOCHS)
        return 1000 * (long - short) / self.EPOCHS

    def seconds(self, epochs: int) -> float:
        config = self.config.replace(max_epochs=epochs)
        task = Replica(lambda: self.network, self.split, config, 0)
        before = time.process_time()
        run([task], self.buffers, self.labels, keep_state=False)
        return time.process_time() - before


def candidates(name: str, model: str) -> dict[str, Callable[[], float | None]]:
    """The same network on the same split, four ways (or two: our own engines).

    ACMII-GCN is timed against ACM-GCN's yardsticks: they differ in the place of a ReLU.
    """
    chosen = recipe("paper", model, name, "random")
    if model.endswith("+"):  # the benchmark's + and ++ have the structure channel everywhere
        structured = {"with_structure": True, "mix_scale": 1.0, "row_normalize": False}
        chosen = Recipe(chosen.graph, {**chosen.options, **structured}, chosen.config)
    graph = open_graph(name, **chosen.graph)
    ours = OurEpochs(graph, model, chosen)
    found: dict[str, Callable[[], float | None]] = {
        "native": NativeEpochs(graph, ours, chosen),
        "torch": ours,
    }
    if model not in WITH_YARDSTICKS:
        return found
    with_structure = bool(chosen.options.get("with_structure", False))
    features = graph.features if with_structure else row_normalized(graph.features)
    dense = torch.from_numpy(np.asarray(features.todense(), dtype=np.float32))
    settings = {
        "features": dense,
        "hidden": chosen.options["hidden"],
        "rate": chosen.options["dropout"],
        "lr": chosen.config.lr,
        "weight_decay": chosen.config.weight_decay,
        "with_structure": with_structure,
    }
    split = random_splits(graph.labels, repeats=1, seed=0, rule="paper-random")[0]
    return {
        **found,
        "dense": DenseEpochs(graph, split, **settings),
        "messages": MessagePassingEpochs(graph, split, **settings),
    }


@torch.no_grad()
def check_same_function(datasets: tuple[str, ...] = ("cornell",)) -> None:
    """Give the torch candidates the same weights: their logits without dropout must agree."""
    for model, name in [(model, name) for model in ("acm-gcn", "acm-gcn+") for name in datasets]:
        runs = candidates(name, model)
        ours = runs["torch"].network.eval()  # type: ignore[attr-defined]
        logits = [ours(runs["torch"].inputs)]  # type: ignore[attr-defined]
        for other in ("dense", "messages"):
            network = runs[other].model.eval()  # type: ignore[attr-defined]
            for layer, twin in zip(
                ours.backbone.layers, (network.first, network.second), strict=True
            ):
                weights = [*layer.weight]
                if layer.structure_weight is not None:
                    weights.append(layer.structure_weight)
                for target, value in zip(twin.weights, weights, strict=True):
                    target.data.copy_(value)
                for target, value in zip(twin.vectors, layer.mixer.vectors, strict=True):
                    target.data.copy_(value)
                twin.mix_weight.data.copy_(layer.mixer.mix_weight)
            logits.append(network(runs[other].features))  # type: ignore[attr-defined]
        gap = max(
            float((other - logits[0]).abs().max() / logits[0].abs().max()) for other in logits
        )
        print(f"{model} on {name}: logits of the three agree to {gap:.1e} (relative)")
        if gap > 1e-4:
            raise SystemExit("the candidates do not compute the same function")


def interleaved(
    runs: dict[str, Callable[[], float | None]], epochs: int, budget: float
) -> dict[str, float]:
    """Median CPU milliseconds of each candidate; rounds until ``epochs`` or the time budget."""
    for epoch in runs.values():
        epoch()
    times: dict[str, list[float]] = {name: [] for name in runs}
    start = time.perf_counter()
    for done in range(epochs):
        if done >= 5 and time.perf_counter() - start > budget:
            break
        for name, epoch in runs.items():
            before = time.process_time()
            own = epoch()
            spent = 1000 * (time.process_time() - before)
            times[name].append(spent if own is None else own)
    return {name: statistics.median(values) for name, values in times.items()}


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def speed(datasets: list[str], models: list[str], epochs: int, budget: float) -> None:
    torch.set_num_threads(1)
    check_same_function()
    for model in models:
        print(f"\n{model}: CPU ms per epoch (median), one thread")
        compared = RATIOS if model in WITH_YARDSTICKS else {"torch/native": RATIOS["torch/native"]}
        ratios: dict[str, list[float]] = {title: [] for title in compared}
        header: list[str] = []
        for name in datasets:
            torch.manual_seed(0)
            ms = interleaved(candidates(name, model), epochs, budget)
            if not header:
                header = [f"{title:>10}" for title in ms] + [f"{title:>16}" for title in compared]
                print(f"{'':12}{''.join(header)}")
            for title, (slow, fast) in compared.items():
                ratios[title].append(ms[slow] / ms[fast])
            times = "".join(f"{value:10.2f}" for value in ms.values())
            print(
                f"{name:12}{times}" + "".join(f"{r[-1]:15.1f}x" for r in ratios.values()),
                flush=True,
            )
        means = "".join(f"{geometric_mean(values):15.1f}x" for values in ratios.values())
        print(f"{'geometric mean':{12 + 10 * len(ms)}}{means}")


def grid(name: str) -> None:
    """Train the paper's 270 settings of ACM-GCN on ten splits: 2,700 replicas in one call."""
    chosen = recipe("paper", "acm-gcn", name, "random")
    graph = open_graph(name, **chosen.graph)
    inputs = GraphInputs.from_graph(graph, MODELS["acm-gcn"].with_options(**chosen.options).inputs)
    splits = random_splits(graph.labels, repeats=10, seed=0, rule="paper-random")
    tasks = []
    for lr, decay, tenth in itertools.product(GRID_LR, GRID_WEIGHT_DECAY, range(10)):
        spec = MODELS["acm-gcn"].with_options(**{**chosen.options, "dropout": tenth / 10})
        build = partial(
            spec.build,
            num_nodes=inputs.num_nodes,
            num_features=inputs.num_features,
            num_classes=graph.num_classes,
        )
        config = chosen.config.replace(lr=lr, weight_decay=decay)
        tasks += [Replica(build, split, config, seed) for seed, split in enumerate(splits)]
    before = time.process_time()
    done = run(tasks, inputs, graph.labels, keep_state=False)
    minutes = (time.process_time() - before) / 60
    epochs = sum(result.epochs for result in done.results.values())
    print(
        f"\nacm-gcn on {name}: {len(done.results)} trainings, {epochs} epochs, "
        f"{minutes:.2f} CPU minutes, {60_000 * minutes / epochs:.3f} ms an epoch, all included"
    )


def parallel(name: str, repeats: int, engine: str) -> None:
    """Splits of a dataset with 1 and 2 workers: how much faster, at what cost.

    Wall time needs two free cores; the CPU time of both runs tells what the workers cost in any
    case.
    """
    print(f"\nacm-gcn on {name}, {repeats} splits to early stopping, preset paper, engine {engine}")
    run = partial(
        train_by_name,
        "acm-gcn",
        name,
        preset="paper",
        repeats=repeats,
        engine=engine,
        keep_state=False,
    )
    wall, cpu, reports = {}, {}, {}
    for workers in (1, 2):
        start, before = time.perf_counter(), cpu_seconds()
        reports[workers] = run(workers=workers)
        wall[workers], cpu[workers] = time.perf_counter() - start, cpu_seconds() - before
        print(
            f"  {workers} worker(s): {wall[workers]:.1f} s wall, {cpu[workers]:.1f} s CPU",
            flush=True,
        )
    same = reports[1].test_accuracy == reports[2].test_accuracy
    print(
        f"  two workers are {wall[1] / wall[2]:.2f}x faster by wall time and need "
        f"{cpu[2] / cpu[1]:.2f}x the CPU time; results identical: {same}"
    )


def cpu_seconds() -> float:
    """CPU time of this process and its finished children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


MEMORY_SCRIPT = """
import resource, sys
import torch, scipy.sparse
from heterophily.comparison.train import train_by_name
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
protocol = "fixed" if sys.argv[1] == "deezer-europe" else "paper-random"
report = train_by_name(
    sys.argv[2], sys.argv[1], preset="paper", splits=protocol, repeats=1, workers=1,
    config={"max_epochs": 20}, keep_state=True,
)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{peak / 1024:.0f} {(peak - before) / 1024:.0f}")
"""


def memory() -> None:
    """Peak resident memory of a fresh process that loads the data and trains 20 epochs."""
    print("\npeak memory (MB): whole process, above the interpreter with torch")
    for model in ("acm-gcn", "acm-gcn+"):
        for name in ("deezer-europe", "pubmed"):
            command = [sys.executable, "-c", MEMORY_SCRIPT, name, model]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            whole, above = done.stdout.split()
            print(f"  {model:9} {name:14} {whole:>6} {above:>6}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--models", default="acm-gcn,acm-gcn+")
    parser.add_argument("--epochs", type=int, default=60, help="rounds of each candidate")
    parser.add_argument("--budget", type=float, default=60.0, help="seconds per dataset")
    parser.add_argument("--grid", metavar="DATASET", help="also the paper's grid of ACM-GCN")
    parser.add_argument("--parallel", metavar="DATASET", help="also 1 against 2 workers")
    parser.add_argument("--engine", default="native", choices=("native", "torch"), help="of these")
    parser.add_argument("--repeats", type=int, default=10, help="splits of --parallel")
    parser.add_argument("--memory", action="store_true", help="also peak memory")
    parser.add_argument("--only", action="store_true", help="leave the speed tables out")
    arguments = parser.parse_args()
    if not arguments.only:
        speed(
            arguments.datasets.split(","),
            arguments.models.split(","),
            arguments.epochs,
            arguments.budget,
        )
    if arguments.grid:
        grid(arguments.grid)
    if arguments.parallel:
        parallel(arguments.parallel, arguments.repeats, arguments.engine)
    if arguments.memory:
        memory()


if __name__ == "__main__":
    main()
