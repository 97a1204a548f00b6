"""Which way of training fits a size: full batches, channels computed once, or samples."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from heterophily.batches.prepare import has_exact_first_layer, row_channels, sampled_layers
from heterophily.models.catalog import MODELS
from heterophily.models.spec import ModelSpec

WAYS = {
    "full": "every step sees the whole graph",
    "channels": "mini-batches of channels that are computed once",
    "sampled": "mini-batches with sampled neighbourhoods",
}
_GB = 2**30
_EPOCHS, _WINDOW = 100, 10
_STEPS, _STEPS_OF_WINDOW = 2000, 200


def length_of_training(
    num_labelled: int, *, batch_size: int = 1024, evaluate_every: int = 1, **_: Any
) -> dict[str, Any]:
    """Return how long mini-batches train unless told otherwise.

    At most 100 epochs, and until ten evaluations bring nothing. Where an epoch has few steps, as
    many epochs as make 2,000 steps, and evaluations over 200 steps: about half of the labelled
    nodes are trained on.

    >>> length_of_training(10**7)
    {'max_epochs': 100, 'stopping': 'patience', 'window': 10}
    >>> length_of_training(5000, batch_size=512)
    {'max_epochs': 400, 'stopping': 'patience', 'window': 40}
    """
    steps = max(1, math.ceil(num_labelled / 2 / max(1, batch_size)))
    between = steps * max(1, evaluate_every)
    return {
        "max_epochs": max(_EPOCHS, math.ceil(_STEPS / steps)),
        "stopping": "patience",
        "window": max(_WINDOW, math.ceil(_STEPS_OF_WINDOW / between)),
    }


@dataclass(frozen=True, slots=True)
class GraphSize:
    """What memory depends on: nodes N, stored entries (two for an undirected edge), F and C."""

    num_nodes: int
    num_entries: int
    num_features: int
    num_classes: int


def size_of(graph: Any) -> GraphSize:
    """Return the size of a graph on disk; sparse features count by what is stored of them."""
    return GraphSize(graph.num_nodes, graph.num_entries, graph.stored_per_node, graph.num_classes)


def memory_of(way: str, spec: ModelSpec, size: GraphSize) -> int:
    """Return about how many bytes a training takes.

    Full batches were measured at 1e6 nodes, 2e7 entries and 32 features with 64 hidden columns:
    4.9 GB, of which the program itself takes a third of one. The other ways hold a panel of 16
    columns, the answers of all nodes and a few batches; samples also want X, its averages where
    they are used, and the edges in the memory of the system, or every batch waits for the disk.
    """
    hidden = int(getattr(spec.options, "hidden", 64))
    nodes, answers = size.num_nodes, 24 * size.num_nodes * size.num_classes
    if way == "full":
        layers = max(2, int(getattr(spec.options, "depth", 2)))
        columns = 8 * size.num_features + 4 * hidden * 7 * layers
        return _GB // 3 + 60 * size.num_entries + nodes * columns + answers
    panel = 64 * nodes + answers + _GB // 2
    if way == "channels":
        return panel
    read = 2 if has_exact_first_layer(spec) else 1  # X, and its averages
    return panel + read * 4 * nodes * size.num_features + 4 * size.num_entries + 16 * nodes


def ways_of(spec: ModelSpec) -> tuple[str, ...]:
    """Return the ways in which a model can be trained, the exact ones first."""
    found = ["full"]
    if row_channels(spec) is not None:
        found.append("channels")
    if sampled_layers(spec) is not None:
        found.append("sampled")
    return tuple(found)


def way_for(spec: ModelSpec, size: GraphSize, limit: int) -> str | None:
    """Return the first way that fits into so many bytes; None if none does.

    >>> big = GraphSize(10**8, 2 * 10**9, 16, 5)
    >>> way_for(MODELS["acm-sgc-1"], big, 24 * 2**30), way_for(MODELS["gat"], big, 24 * 2**30)
    ('channels', None)
    """
    return next((way for way in ways_of(spec) if memory_of(way, spec, size) <= limit), None)


def models_that_fit(
    size: GraphSize, limit: int, *, names: Iterable[str] | None = None
) -> dict[str, str]:
    """Return the models that can be trained on a graph of a size, and the way of each.

    >>> small = GraphSize(1000, 5000, 10, 2)
    >>> models_that_fit(small, 2**30, names=["acm-gcn", "mlp-2"])
    {'acm-gcn': 'full', 'mlp-2': 'full'}
    """
    chosen = [name for name in MODELS if "[" not in name] if names is None else names
    found = {name: way_for(MODELS[name], size, limit) for name in chosen}
    return {name: way for name, way in found.items() if way is not None}
