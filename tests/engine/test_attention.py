"""Attention follows torch: GAT, GAT+JK, FAGCN and the residual stacks around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from heterophily.data.graph import Graph
from heterophily.engine.plan import covers
from heterophily.models.catalog import MODELS

COVERED = ("gat", "gat+jk", "fagcn", "res-gat", "gat-sep", "res-fagcn")
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("gat", {"depth": 1}),
    ("gat", {"heads": 3, "hidden": 5, "output_heads": 2, "depth": 3}),
    ("gat", {"heads": 1, "hidden": 17}),
    ("gat", {"heads": 2, "hidden": 1, "attention_dropout": 0.0}),
    ("gat", {"heads": 20, "hidden": 3, "output_heads": 9}),
    ("gat", {"heads": 2, "hidden": 64, "input_dropout": 0.5}),
    ("gat", {"normalization": "random-walk", "renormalize": False}),
    ("gat+jk", {"jk": "cat", "depth": 3, "attention_dropout": 0.3}),
    ("gat+jk", {"heads": 5, "hidden": 7, "depth": 1}),
    ("fagcn", {"depth": 4, "hidden": 33}),
    ("fagcn", {"hidden": 1, "epsilon": 0.0, "attention_dropout": 0.0}),
    ("fagcn", {"hidden": 65, "normalization": "random-walk", "input_dropout": 0.3}),
    ("res-gat", {"hidden": 12, "depth": 1, "attention_dropout": 0.4}),
    ("res-gat", {"hidden": 6, "heads": 6, "jk": "cat"}),
    ("gat-sep", {"hidden": 64, "norm": "batch"}),
    ("gat-sep", {"hidden": 14, "heads": 2, "jk": "max", "attention_dropout": 0.2}),
    ("res-fagcn", {"hidden": 13, "norm": "none", "attention_dropout": 0.4}),
    ("res-fagcn", {"hidden": 16, "jk": "cat", "epsilon": 0.7}),
]


@pytest.mark.parametrize("model", COVERED)
def test_every_model_with_attention_follows_torch_over_60_epochs(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    assert covers(MODELS[model]) is None
    assert_twins(problem(model, dropout=0.0, hidden=12))


@pytest.mark.parametrize("model", COVERED)
def test_every_model_with_attention_follows_torch_with_the_same_masks(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    assert_twins(problem(model, dropout=0.3, hidden=16, attention_dropout=0.5, epochs=30))


@pytest.mark.parametrize(("model", "options"), OPTIONS, ids=str)
def test_every_option_of_attention_follows_torch(
    model: str,
    options: dict[str, Any],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    for dropout in (0.0, 0.4):
        assert_twins(problem(model, **{"dropout": dropout, "epochs": 12} | options))


@pytest.mark.parametrize("jump", ["max", "cat"])
def test_batch_norm_after_attention_follows_torch(jump: str, problem: Callable[..., Any]) -> None:
    """A batch norm takes the bias before it off again: its gradient is rounding alone, in both."""
    made = problem("gat+jk", jk=jump, batch_norm=True, depth=3, dropout=0.4, epochs=20)
    native = made.native()
    train, _, _ = made.torch(native.epochs)
    np.testing.assert_allclose(native.history.train_loss, train, rtol=1e-9)


def a_directed_graph(nodes: int = 40) -> Graph:
    """Edges of one direction, a node that none leaves, one that none enters, an isolated one."""
    rng = np.random.default_rng(4)
    source, target = rng.integers(0, nodes, (2, 3 * nodes))
    keep = (source != target) & (source != 1) & (target != 2) & (source != 3) & (target != 3)
    return Graph.from_edges(
        source[keep],
        target[keep],
        labels=np.arange(nodes) % 3,
        features=rng.random((nodes, 7)),
        num_nodes=nodes,
        direction="keep",
    )


@pytest.mark.parametrize("model", COVERED)
@pytest.mark.parametrize("renormalize", [True, False])
def test_attention_follows_torch_on_a_directed_graph(
    model: str,
    renormalize: bool,
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    graph = a_directed_graph()
    assert (graph.adjacency != graph.adjacency.T).nnz
    options = {"dropout": 0.3, "attention_dropout": 0.3, "hidden": 8, "renormalize": renormalize}
    assert_twins(problem(model, graph, epochs=20, **options))


@pytest.mark.parametrize("model", ["gat", "fagcn", "gat-sep"])
def test_a_hub_with_ten_thousand_neighbours_follows_torch(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    nodes = 10_001
    spokes = np.arange(1, nodes)
    graph = Graph.from_edges(
        np.concatenate([np.zeros(nodes - 1, int), spokes[:-1]]),
        np.concatenate([spokes, spokes[1:]]),
        labels=np.arange(nodes) % 3,
        features=np.random.default_rng(0).random((nodes, 4)),
        num_nodes=nodes,
    )
    assert_twins(problem(model, graph, dropout=0.2, hidden=8, epochs=4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("model", COVERED)
def test_scores_of_ten_thousand_follow_torch(
    model: str, dtype: torch.dtype, problem: Callable[..., Any]
) -> None:
    made = problem(model, dtype=dtype, hidden=8, dropout=0.0, epochs=3)
    build, largest = made.build, []

    def with_large_scores() -> nn.Module:
        network = build()
        for name, value in network.state_dict().items():
            if name.rpartition(".")[2] in ("receiver", "sender"):
                value.mul_(1e5)
                largest.append(float(value.abs().max()))
        return network

    made.build = with_large_scores
    native = made.native()
    train, validation, _ = made.torch(native.epochs)
    assert max(largest) > 1e4
    assert np.isfinite(native.history.train_loss).all()
    # In float32 a score of 10,000 is rounded by 0.001, and so the first steps go different ways.
    seen, tolerance = (3, 1e-8) if dtype == torch.float64 else (1, 2e-3)
    np.testing.assert_allclose(native.history.train_loss[:seen], train[:seen], rtol=tolerance)
    if dtype == torch.float64:
        np.testing.assert_allclose(native.history.validation_loss, validation, rtol=tolerance)


@pytest.mark.parametrize("model", ["gat", "fagcn", "gat-sep"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_attention_does_not_depend_on_the_number_of_threads(
    model: str,
    dtype: torch.dtype,
    make_graph: Callable[..., Graph],
    problem: Callable[..., Any],
) -> None:
    graph = make_graph(nodes=4500, classes=3)  # several chunks of rows, the last one shorter
    made = problem(model, graph, dtype=dtype, epochs=4, hidden=12, dropout=0.3)
    alone = made.native(threads=1)
    assert alone.state is not None
    for threads in (2, 3):
        other = made.native(threads=threads)
        assert other.state is not None
        for name in ("train_loss", "validation_loss"):
            np.testing.assert_array_equal(
                getattr(other.history, name), getattr(alone.history, name)
            )
        for name, value in alone.state.items():
            assert torch.equal(other.state[name], value), name
