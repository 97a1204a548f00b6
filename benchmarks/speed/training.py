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

import itertools
import resource
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from native_epochs import NativeEpochs, Network, first_split, published
from shared import apart, forget_peak, interleaved, median_ms, memory_mb, names, parser, times
from yardsticks.dense import DenseEpochs
from yardsticks.message_passing import MessagePassingEpochs

from heterophily.comparison.train import train_by_name
from heterophily.data.source import open_graph
from heterophily.data.splits import random_splits
from heterophily.engine.run import run
from heterophily.layers.feature_scaling import row_normalized
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.paper.presets import recipe
from heterophily.training.epoch import FullBatch
from heterophily.training.replica import Replica

NATIVE_EPOCHS = 25
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


class TorchEpochs:
    """The package's own model and trainer."""

    def __init__(self, of: Network) -> None:
        self.network, self.inputs = of.network, of.inputs
        self.epochs = FullBatch(of.network, of.inputs, of.graph.labels, of.split, of.config)

    def __call__(self) -> None:
        self.epochs.step()
        self.epochs.evaluate()


def candidates(name: str, model: str) -> dict[str, Callable[[], Any]]:
    """The same network on the same split, four ways (or two: our own engines).

    ACMII-GCN is timed against ACM-GCN's yardsticks: they differ in the place of a ReLU.
    """
    graph, chosen = published(model, name)
    split = first_split(graph)
    spec = MODELS[model].with_options(**chosen.options)
    ours = Network.of(spec, graph, split, chosen.config)
    native = NativeEpochs(ours)
    found: dict[str, Callable[[], Any]] = {
        "native": lambda: native.spent(NATIVE_EPOCHS),
        "torch": TorchEpochs(ours),
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
            turns = interleaved(candidates(name, model), epochs, seconds=budget)
            ms = {way: median_ms(found) for way, found in turns.items()}
            if not header:
                header = [f"{title:>10}" for title in ms] + [f"{title:>16}" for title in compared]
                print(f"{'':12}{''.join(header)}")
            for title, (slow, fast) in compared.items():
                ratios[title].append(ms[slow] / ms[fast])
            shown = "".join(f"{value:10.2f}" for value in ms.values())
            last = "".join(f"{times(values[-1], 1):>16}" for values in ratios.values())
            print(f"{name:12}{shown}{last}", flush=True)
        means = "".join(
            f"{times(statistics.geometric_mean(values), 1):>16}" for values in ratios.values()
        )
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


def peak_of_training(name: str, model: str) -> tuple[float, float]:
    """Return the peak MB of loading a dataset and 20 epochs, and how far it is above the start."""
    before = memory_mb("VmRSS")
    forget_peak()
    train_by_name(
        model,
        name,
        preset="paper",
        splits="fixed" if name == "deezer-europe" else "paper-random",
        repeats=1,
        workers=1,
        config={"max_epochs": 20},
        keep_state=True,
    )
    peak = memory_mb("VmHWM")
    return peak, peak - before


def memory(datasets: tuple[str, ...]) -> None:
    """Print the peak memory of processes that load the data and train 20 epochs."""
    print("\npeak memory (MB): whole process, above the interpreter with torch")
    for model in ("acm-gcn", "acm-gcn+"):
        for name in datasets:
            whole, above = apart(peak_of_training, name, model).value
            print(f"  {model:9} {name:14} {whole:6.0f} {above:6.0f}", flush=True)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--datasets", default=list(DATASETS), type=names)
    options.add_argument("--models", default=["acm-gcn", "acm-gcn+"], type=names)
    options.add_argument("--epochs", type=int, default=60, help="rounds of each candidate")
    options.add_argument("--budget", type=float, default=60.0, help="seconds per dataset")
    options.add_argument("--grid", metavar="DATASET", help="also the paper's grid of ACM-GCN")
    options.add_argument("--parallel", metavar="DATASET", help="also 1 against 2 workers")
    options.add_argument("--engine", default="native", choices=("native", "torch"), help="of these")
    options.add_argument("--repeats", type=int, default=10, help="splits of --parallel")
    options.add_argument("--memory", action="store_true", help="also peak memory")
    options.add_argument("--only", action="store_true", help="leave the speed tables out")
    given = options.parse_args()
    large = ("deezer-europe", "pubmed")
    if given.quick:
        given.datasets, given.models, given.epochs = ["texas"], ["acm-gcn"], 1
        given.memory, large = True, ("texas",)
    if given.memory:  # first: this process holds no graph yet
        memory(large)
    if not given.only:
        speed(given.datasets, given.models, given.epochs, given.budget)
    if given.grid:
        grid(given.grid)
    if given.parallel:
        parallel(given.parallel, given.repeats, given.engine)


if __name__ == "__main__":
    main()
