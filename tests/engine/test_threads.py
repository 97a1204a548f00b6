"""Threads that share one training of a network of channels: the bits of one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from engine.conftest import graph_of_twins, made_problem, random_graph

from heterophily.data.graph import Graph
from heterophily.learning.result import FitResult

LARGE = 100_000
"""Nodes from which sums over nodes are made part by part."""


def large_graph(features: int = 9, density: float = 0.5) -> Graph:
    """Just large enough, with random edges; features with empty columns if they are sparse."""
    rng = np.random.default_rng(1)
    nodes = LARGE + 21  # the last block and the last part are short
    source, target = rng.integers(0, nodes, (2, 2 * nodes))
    keep = source != target
    x = sp.random_array((nodes, features), density=density, format="csr", random_state=rng)
    return Graph.from_edges(
        source[keep],
        target[keep],
        labels=np.arange(nodes) % 3,
        features=x.astype(np.float32),
        num_nodes=nodes,
    )


def assert_same_bits(first: FitResult, other: FitResult) -> None:
    for name in ("train_loss", "validation_loss", "validation_accuracy"):
        ours, theirs = getattr(first.history, name), getattr(other.history, name)
        assert ours.tobytes() == theirs.tobytes(), name
    np.testing.assert_array_equal(first.predictions, other.predictions)
    assert first.state is not None
    assert other.state is not None
    for name, value in first.state.items():
        assert torch.equal(other.state[name], value), name


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("gcn", {}),
        ("acm-gcn", {"hidden": 40}),
        ("acmii-gcn+", {"with_structure": True}),
        ("acm-gcn++", {"with_structure": True}),
        ("acm-snowball-2", {}),
        ("acm-sgc-2", {}),
    ],
)
@pytest.mark.parametrize("maker", [random_graph, graph_of_twins], ids=["random", "twins"])
def test_small_graphs(model: str, options: dict[str, Any], maker: Callable[[], Graph]) -> None:
    rates = {} if "sgc" in model else {"dropout": 0.4}
    made = made_problem(model, maker(), dtype=torch.float32, epochs=8, **options, **rates)
    alone = made.native(threads=1)
    for threads in (2, 3):
        assert_same_bits(alone, made.native(threads=threads))


@pytest.mark.parametrize(
    ("model", "features", "dropout"),
    [
        ("acm-gcn", 9, 0.5),
        ("acm-gcn++", 9, 0.0),
        ("gcn", 20_000, 0.5),  # too many for one sum for each part: by columns
    ],
)
def test_large_graphs(model: str, features: int, dropout: float) -> None:
    graph = large_graph(features, density=min(0.5, 10 / features))
    made = made_problem(model, graph, dtype=torch.float32, epochs=3, hidden=8, dropout=dropout)
    alone = made.native(threads=1)
    for threads in (2, 5):
        assert_same_bits(alone, made.native(threads=threads))


@pytest.mark.parametrize(("features", "dropout"), [(9, 0.5), (20_000, 0.5)])
def test_sums_part_by_part_follow_torch(
    features: int, dropout: float, assert_twins: Callable[..., None]
) -> None:
    graph = large_graph(features, density=min(0.5, 10 / features))
    assert_twins(made_problem("acm-gcn++", graph, epochs=3, hidden=8, dropout=dropout))
