"""Our baselines against PyTorch Geometric's own layers in the same training loop.

The same network with the same widths, once from the package and once from PyTorch Geometric (dense
features, ``edge_index``, as its examples have it). One epoch is a training step and an evaluation.
CPU milliseconds, one thread, rounds interleaved so that both see the same machine.

    python benchmarks/speed/baselines.py --datasets chameleon,squirrel
    python benchmarks/speed/baselines.py --show

The medians are kept in ``results/zoo-speed/``; ``--show`` writes them into ``docs/models.md``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch_geometric.nn as pyg
from torch import Tensor, nn
from torch.nn.functional import dropout, elu

from heterophily.data.atomic import write_text
from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import random_splits
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.models.pyg_adapter import pyg_model
from heterophily.models.spec import ModelSpec
from heterophily.training.config import TrainConfig
from heterophily.training.epoch import FullBatch

RATE = 0.5
FOLDER = Path("results/zoo-speed")
PAGE = Path("docs/models.md")
BEGIN, END = "<!-- speed: python benchmarks/speed/baselines.py --show -->", "<!-- end of speed -->"
NOTE = """`sgc-2` stays below 3x because PyTorch Geometric's `cached=True` multiplies with the graph
once, before the first epoch: its epochs are one dense product and never touch the graph, while ours
propagate the C columns of X W in every epoch, which needs no second copy of X. The large ratios of
GraphSAGE and MixHop come from the order of the products: PyTorch Geometric's layers propagate the F
input columns and then map them, ours map first. Everywhere ours reads X as a sparse matrix."""


class TwoLayers(nn.Module):
    """``dropout, layer, activation, dropout, layer`` with layers of PyTorch Geometric."""

    def __init__(
        self, num_features: int, num_classes: int, *, make: Callable[..., Any], activation: Any
    ) -> None:
        super().__init__()
        self.first, self.second = make(num_features, num_classes)
        self.activation = activation

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = dropout(x, RATE, self.training)
        x = self.activation(self.first(x, edge_index))
        return self.second(dropout(x, RATE, self.training), edge_index)


class Predicted(nn.Module):
    """A perceptron, then ``APPNP``."""

    def __init__(self, num_features: int, num_classes: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(num_features, 64), nn.Linear(64, num_classes)
        self.propagate = pyg.APPNP(10, 0.1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = torch.relu(self.first(dropout(x, RATE, self.training)))
        return self.propagate(self.second(dropout(x, RATE, self.training)), edge_index)


class Initial(nn.Module):
    """Layers that see the initial state: ``FAConv`` or ``GCN2Conv``."""

    def __init__(
        self, num_features: int, num_classes: int, *, width: int, layers: Callable[[], list[Any]]
    ) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(num_features, width), nn.Linear(width, num_classes)
        self.layers = nn.ModuleList(layers())

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        initial = torch.relu(self.first(dropout(x, RATE, self.training)))
        state = initial = dropout(initial, RATE, self.training)
        for layer in self.layers:
            state = layer(state, initial, edge_index)
            if isinstance(layer, pyg.GCN2Conv):
                state = dropout(torch.relu(state), RATE, self.training)
        return self.last(state)


class Jumping(nn.Module):
    def __init__(
        self, num_features: int, num_classes: int, *, make: Callable[..., Any], activation: Any
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(make(num_features))
        self.jump, self.activation = pyg.JumpingKnowledge("max"), activation
        self.last = nn.Linear(64, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        state, states = dropout(x, RATE, self.training), []
        for layer in self.layers:
            output = self.activation(layer(state, edge_index))
            state = dropout(output, RATE, self.training)
            states.append(state)
        return self.last(self.jump(states))


class Separate(nn.Module):
    def __init__(self, num_features: int, num_classes: int, *, num_nodes: int) -> None:
        super().__init__()
        self.net = pyg.LINKX(num_nodes, num_features, 64, num_classes, num_layers=2, dropout=RATE)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.net(x, edge_index)


class MixhopOutput(nn.Module):
    """The last MixHop layer: its three powers averaged."""

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.layer = pyg.MixHopConv(48, num_classes, powers=[0, 1, 2])

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.layer(x, edge_index).view(len(x), 3, self.num_classes).mean(1)


def two(make: Callable[..., Any], activation: Any = torch.relu) -> ModelSpec:
    return pyg_model(TwoLayers, make=make, activation=activation)


def rivals(num_nodes: int) -> dict[str, tuple[dict[str, Any], ModelSpec]]:
    """Name -> options of ours, and PyTorch Geometric's network of the same widths."""
    gat = {"dropout": RATE}
    return {
        "gcn": ({}, two(lambda f, c: (pyg.GCNConv(f, 64), pyg.GCNConv(64, c)))),
        "sgc-2": ({}, pyg_model(lambda f, c: pyg.SGConv(f, c, K=2, cached=True))),
        "graphsage": ({}, two(lambda f, c: (pyg.SAGEConv(f, 64), pyg.SAGEConv(64, c)))),
        "gat": (
            {"hidden": 8, "heads": 8, "dropout": RATE},
            two(
                lambda f, c: (
                    pyg.GATConv(f, 8, heads=8, **gat),
                    pyg.GATConv(64, c, concat=False, **gat),
                ),
                elu,
            ),
        ),
        "mixhop": (
            {"hidden": 16},
            two(lambda f, c: (pyg.MixHopConv(f, 16, powers=[0, 1, 2]), MixhopOutput(c))),
        ),
        "appnp": ({}, pyg_model(Predicted)),
        "fagcn": (
            {"hidden": 32},
            pyg_model(
                Initial,
                width=32,
                layers=lambda: [
                    pyg.FAConv(32, eps=0.3, dropout=RATE, add_self_loops=False) for _ in range(2)
                ],
            ),
        ),
        "gcnii": (
            {"depth": 4},
            pyg_model(
                Initial,
                width=64,
                layers=lambda: [pyg.GCN2Conv(64, 0.1, theta=0.5, layer=k + 1) for k in range(4)],
            ),
        ),
        "gcn+jk": (
            {},
            pyg_model(
                Jumping,
                make=lambda f: [pyg.GCNConv(f, 64), pyg.GCNConv(64, 64)],
                activation=torch.relu,
            ),
        ),
        "gat+jk": (
            {"hidden": 8, "heads": 8},
            pyg_model(
                Jumping,
                make=lambda f: [pyg.GATConv(f, 8, heads=8), pyg.GATConv(64, 8, heads=8)],
                activation=elu,
            ),
        ),
        "linkx": ({}, pyg_model(Separate, num_nodes=num_nodes)),
    }


def epochs(spec: ModelSpec, graph: Graph) -> Callable[[], None]:
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    network = spec.build(
        num_nodes=inputs.num_nodes,
        num_features=inputs.num_features,
        num_classes=graph.num_classes,
    )
    split = random_splits(graph.labels, repeats=1, seed=0, rule="paper-random")[0]
    batch = FullBatch(network, inputs, graph.labels, split, TrainConfig())

    def run() -> None:
        batch.step()
        batch.evaluate()

    return run


def measure(name: str, graph: Graph, rounds: int) -> tuple[float, float]:
    """Return the median CPU milliseconds of an epoch, ours and PyTorch Geometric's."""
    options, rival = rivals(graph.num_nodes)[name]
    torch.manual_seed(0)
    runs = (epochs(MODELS[name].with_options(**options), graph), epochs(rival, graph))
    times: tuple[list[float], list[float]] = ([], [])
    for round_ in range(rounds + 1):
        for run, found in zip(runs, times, strict=True):
            before = time.process_time()
            run()
            if round_:
                found.append(1000 * (time.process_time() - before))
    ours, theirs = (statistics.median(found) for found in times)
    return ours, theirs


def section(folder: Path) -> str:
    """Return the measured times as a section of the page."""
    records = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    names = list(dict.fromkeys(name for times in records.values() for name in times))
    lines = [
        "## Speed beside PyTorch Geometric",
        "",
        "CPU milliseconds of an epoch (a training step and an evaluation), one thread, medians of",
        "interleaved rounds: our model, then the same widths built from PyTorch Geometric's layers",
        "with dense features and `edge_index`. Command: `python benchmarks/speed/baselines.py`.",
        "",
        "| model | " + " | ".join(f"{name}: ours, PyG, ratio" for name in records) + " |",
        "|---|" + "---:|" * len(records),
    ]
    for name in names:
        cells = []
        for times in records.values():
            ours, theirs = times.get(name, (None, None))
            cells.append("–" if ours is None else f"{ours:.1f}, {theirs:.1f}, {theirs / ours:.1f}x")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    lines += ["", NOTE]
    return "\n".join(lines) + "\n"


def write_section(page: Path, text: str) -> None:
    """Put the section between the two comments of the page."""
    head, begin, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"{page} has no place for the section: {BEGIN} and {END}")
    write_text(page, f"{head}{BEGIN}\n{text}{END}{tail}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--datasets", default="chameleon,squirrel")
    parser.add_argument("--models", default="")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", default=FOLDER, type=Path)
    parser.add_argument("--show", action="store_true", help="measure nothing, write the page")
    arguments = parser.parse_args()
    if arguments.show:
        write_section(PAGE, section(arguments.folder))
        return
    torch.set_num_threads(1)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for dataset in arguments.datasets.split(","):
        graph = open_graph(dataset)
        path = arguments.folder / f"{dataset}.json"
        print(f"\n{dataset}: CPU ms per epoch (median), one thread")
        print(f"{'':10}{'ours':>9}{'PyG':>9}{'ratio':>8}")
        table = list(rivals(graph.num_nodes))
        for name in arguments.models.split(",") if arguments.models else table:
            ours, theirs = measure(name, graph, arguments.rounds)
            print(f"{name:10}{ours:9.1f}{theirs:9.1f}{theirs / ours:7.1f}x", flush=True)
            known = json.loads(path.read_text()) if path.is_file() else {}
            known[name] = [round(ours, 2), round(theirs, 2)]
            ordered = {key: known[key] for key in table if key in known}
            write_text(path, json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    main()
