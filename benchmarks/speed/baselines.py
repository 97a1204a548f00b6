"""Our baselines against PyTorch Geometric's own layers in the same training loop.

The same network with the same widths, once from the package and once from PyTorch Geometric (dense
features, ``edge_index``, as its examples have it). One epoch is a training step and an evaluation.
CPU milliseconds, one thread, rounds interleaved so that both see the same machine.

    python benchmarks/speed/baselines.py --datasets chameleon,squirrel
    python benchmarks/speed/baselines.py --show

The medians are kept in ``results/zoo-speed/``; ``--show`` writes them into ``docs/models.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch_geometric.nn as pyg
from torch import Tensor, nn
from torch.nn.functional import dropout, elu

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from native_epochs import Network, first_split
from shared import (
    DOCS,
    RESULTS,
    filled,
    head,
    interleaved,
    line,
    median_ms,
    names,
    parser,
    read_json,
    times,
    write_json,
)

from heterophily.data.atomic import write_text
from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.models.catalog import MODELS
from heterophily.models.pyg_adapter import pyg_model
from heterophily.models.spec import ModelSpec
from heterophily.training.config import TrainConfig
from heterophily.training.epoch import FullBatch

RATE = 0.5
FOLDER = RESULTS / "zoo-speed"
PAGE = DOCS / "models.md"
BEGIN, END = "<!-- speed: python benchmarks/speed/baselines.py --show -->", "<!-- end of speed -->"
NOTE = """`sgc-2` stays below 3x: with `cached=True` PyTorch Geometric multiplies X with the graph once,
before the first epoch, and keeps the result, so its epochs are one dense product without the graph.
Ours multiply the C columns of X W with the graph in every epoch and need no second copy of X. The large
ratios of GraphSAGE and MixHop come from the order of the products: PyTorch Geometric's layers first send
the F input columns along the edges and then map them; ours map first. All of ours read X as a sparse
matrix."""


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
    of = Network.of(spec, graph, first_split(graph), TrainConfig())
    batch = FullBatch(of.network, of.inputs, graph.labels, of.split, of.config)

    def run() -> None:
        batch.step()
        batch.evaluate()

    return run


def measure(name: str, graph: Graph, rounds: int) -> tuple[float, float]:
    """Return the median CPU milliseconds of an epoch, ours and PyTorch Geometric's."""
    options, rival = rivals(graph.num_nodes)[name]
    ours = epochs(MODELS[name].with_options(**options), graph)
    found = interleaved({"ours": ours, "PyG": epochs(rival, graph)}, rounds)
    return median_ms(found["ours"]), median_ms(found["PyG"])


def section(folder: Path) -> str:
    """Return the measured times as a section of the page."""
    records = {path.stem: read_json(path) for path in sorted(folder.glob("*.json"))}
    models = list(dict.fromkeys(name for found in records.values() for name in found))
    lines = [
        "## Speed beside PyTorch Geometric",
        "",
        "CPU milliseconds of an epoch (a training step and an evaluation), one thread, medians of",
        "interleaved rounds: our model, then the same widths built from PyTorch Geometric's layers",
        "with dense features and `edge_index`. Command: `python benchmarks/speed/baselines.py`.",
        "",
        head(["model", *(f"{name}: ours, PyG, ratio" for name in records)], numbers=True),
    ]
    for name in models:
        cells = []
        for found in records.values():
            ours, theirs = found.get(name, (None, None))
            cells.append(
                "–" if ours is None else f"{ours:.1f}, {theirs:.1f}, {times(theirs, ours)}"
            )
        lines.append(line([f"`{name}`", *cells]))
    lines += ["", NOTE]
    return "\n".join(lines) + "\n"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--datasets", default=["chameleon", "squirrel"], type=names)
    options.add_argument("--models", type=names)
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--folder", default=FOLDER, type=Path)
    options.add_argument("--show", action="store_true", help="measure nothing, write the page")
    given = options.parse_args()
    if given.show:
        text = f"\n{section(given.folder)}"
        write_text(PAGE, filled(PAGE.read_text("utf-8"), BEGIN, text, END))
        return
    torch.set_num_threads(1)
    if given.quick:
        given.datasets, given.models, given.rounds = ["texas"], ["gcn", "gat"], 1
    for dataset in given.datasets:
        graph = open_graph(dataset)
        path = given.folder / f"{dataset}.json"
        print(f"\n{dataset}: CPU ms per epoch (median), one thread")
        print(f"{'':10}{'ours':>9}{'PyG':>9}{'ratio':>8}")
        table = list(rivals(graph.num_nodes))
        for name in given.models or table:
            ours, theirs = measure(name, graph, given.rounds)
            print(f"{name:10}{ours:9.1f}{theirs:9.1f}{times(theirs, ours):>8}", flush=True)
            if given.quick:
                continue
            known = read_json(path) if path.is_file() else {}
            known[name] = [round(ours, 2), round(theirs, 2)]
            write_json(path, {key: known[key] for key in table if key in known})


if __name__ == "__main__":
    main()
