"""The native engine follows torch: losses and parameters, every covered option, with dropout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.filters.direction import EDGE_DIRECTIONS, is_one_way
from heterophily.filters.filter import Filter
from heterophily.layers.channel import Channel
from heterophily.models.catalog import MODELS
from heterophily.models.networks import SnowballNetwork, StackNetwork
from heterophily.training.config import TrainConfig

COVERED = [n for n in MODELS if MODELS[n].network in (StackNetwork, SnowballNetwork)]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("acm-gcn", {"normalization": "symmetric"}),
    ("acm-gcn", {"renormalize": False, "row_normalize": False}),
    ("acm-gcn", {"use_mix_weight": False}),
    ("acm-gcn", {"mix_features": "combined"}),
    ("acm-gcn", {"mix_features": "combined", "use_layer_norm": True, "with_structure": True}),
    ("acm-gcn", {"mix_scale": 3.0, "temperature": 0.7}),
    ("acm-gcn", {"depth": 1}),
    ("acmii-gcn", {"depth": 4, "hidden": 5}),
    ("acm-gcn", {"hidden": 65}),
    ("acmii-gcn", {"hidden": 1}),
    ("acm-gcn", {"input_dropout": 0.0}),
    ("acm-gcn", {"output_relu": True}),
    ("acm-gcn", {"activate_output": False}),
    ("acm-gcn", {"channels": ("high",)}),
    ("acm-gcn", {"channels": ("identity",), "with_structure": True}),
    ("acm-gcn", {"mixer": "sum", "with_structure": True}),
    ("acmii-gcn", {"channels": (Channel(Filter(-0.5, 2.0), hops=3), Channel(Filter(-1.0, 0.0)))}),
    ("acm-gcn++", {"depth": 3}),
    ("acm-gcn++", {"residual": "once", "residual_bias": True, "depth": 3}),
    ("acmii-gcn++", {"residual": "every-layer", "residual_bias": True, "output_relu": True}),
    ("acm-snowball-3", {"with_structure": True, "use_layer_norm": True}),
    ("acmii-snowball-2", {"mix_features": "combined"}),
]


@pytest.mark.parametrize("model", COVERED)
def test_every_covered_model_follows_torch_over_60_epochs(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    assert_twins(problem(model, dropout=0.0, hidden=13))


@pytest.mark.parametrize("dropout", [0.3, 0.7])
@pytest.mark.parametrize("model", COVERED)
def test_every_covered_model_follows_torch_with_the_same_masks(
    model: str, dropout: float, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    assert_twins(problem(model, dropout=dropout, hidden=13, epochs=12))


@pytest.mark.parametrize(("model", "options"), OPTIONS, ids=str)
def test_every_covered_option_follows_torch(
    model: str,
    options: dict[str, Any],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    for dropout in (0.0, 0.4):
        assert_twins(problem(model, **{"dropout": dropout, "hidden": 13, "epochs": 12} | options))


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
@pytest.mark.parametrize("weight_decay", [0.0, 0.05])
def test_optimisers_follow_torch(
    optimizer: str,
    weight_decay: float,
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    config = TrainConfig(lr=0.05, weight_decay=weight_decay, optimizer=optimizer)
    assert_twins(problem("acm-gcn", config=config, dropout=0.2))


def test_dense_features_follow_torch(
    problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    from_dense = np.random.default_rng(0).normal(size=(20, 7))
    graph = Graph.from_edges(
        np.arange(19), np.arange(1, 20), labels=np.arange(20) % 3, features=from_dense
    )
    made = problem("acm-gcn", graph, dropout=0.3, row_normalize=False)
    assert isinstance(made.inputs.features, torch.Tensor)
    assert_twins(made)


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
@pytest.mark.parametrize("model", ["acm-gcn", "acm-gcn++", "acm-snowball-2"])
def test_features_that_no_node_has_decay_as_in_torch(
    model: str,
    optimizer: str,
    make_graph: Callable[..., Graph],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    graph = make_graph(features=19)
    features = graph.features.toarray()
    features[:, [0, 4, 5, 18]] = 0.0
    graph = replace(graph, features=sp.csr_array(features))
    config = TrainConfig(lr=0.05, weight_decay=0.02, optimizer=optimizer)
    for dropout in (0.0, 0.4):
        assert_twins(problem(model, graph, config=config, dropout=dropout, hidden=7, epochs=20))


def test_nodes_with_equal_neighbours_follow_torch(
    problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    from heterophily.native.quotient import quotient_of

    left, right = np.meshgrid(np.arange(6), np.arange(6, 36))  # a complete bipartite graph
    rng = np.random.default_rng(1)
    graph = Graph.from_edges(
        left.ravel(),
        right.ravel(),
        labels=rng.integers(0, 3, 36),
        features=sp.csr_array(rng.random((36, 9)) * (rng.random((36, 9)) < 0.3)),
    )
    structured = {"with_structure": True}
    for model, options in (
        ("acm-gcn", {}),
        ("acmii-gcn", structured),
        ("acm-sgc-2", {}),
        ("acm-gcn+", structured),
    ):
        made = problem(model, graph, dropout=0.3, **options)
        matrix = made.inputs.operator.matrix
        parts = (matrix.values.numpy(), matrix.indices.numpy(), matrix.indptr.numpy())
        assert quotient_of(sp.csr_array(parts, shape=matrix.shape)) is not None
        assert_twins(made)


@pytest.mark.parametrize("seed", range(12))
def test_random_shapes_follow_torch(
    seed: int, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(3, 60))
    classes = min(nodes, int(rng.integers(2, 51)))
    features = int(rng.choice([1, 2, 17, 64]))
    x = rng.random((nodes, features)) * (rng.random((nodes, features)) < 0.15)
    edges = rng.integers(0, nodes, (2, int(rng.integers(0, 4 * nodes))))
    edges = edges[:, edges[0] != edges[1]]
    graph = Graph.from_edges(
        *edges, labels=np.arange(nodes) % classes, features=sp.csr_array(x), num_nodes=nodes
    )
    names = ["low", "high", "identity"]
    made = problem(
        str(rng.choice(["acm-gcn", "acmii-gcn", "acm-snowball-2"])),
        graph,
        channels=tuple(names[: int(rng.integers(1, 4))]),
        with_structure=bool(rng.integers(2)),
        use_layer_norm=bool(rng.integers(2)),
        hidden=int(rng.integers(1, 40)),
        dropout=float(rng.choice([0.0, 0.25, 0.9])),
        epochs=10,
    )
    assert_twins(made, tolerance=1e-8)


@pytest.mark.parametrize("dataset", ["texas", "chameleon"])
@pytest.mark.parametrize("model", ["acm-gcn", "acmii-gcn+"])
def test_float32_on_real_graphs_stays_within_2e_6_for_5_epochs(
    model: str, dataset: str, data_folder: Path, problem: Callable[..., Any]
) -> None:
    graph = open_graph(dataset, data_folder=data_folder)
    made = problem(model, graph, dtype=torch.float32, dropout=0.0, epochs=5)
    exact = problem(model, graph, dropout=0.0, epochs=5)
    found = made.native()
    train, validation = _from_same_weights(made, exact)
    np.testing.assert_allclose(found.history.train_loss, train, rtol=2e-6)
    np.testing.assert_allclose(found.history.validation_loss, validation, rtol=2e-6)


def _from_same_weights(single: Any, exact: Any) -> tuple[np.ndarray, np.ndarray]:
    """Train in float64 from the float32 weights (the generator draws differently in float64)."""
    exact.build = lambda build=single.build: build().to(torch.float64)
    train, validation, _ = exact.torch(exact.config.max_epochs)
    return train, validation


def test_float64_on_texas_follows_torch_over_60_epochs(
    data_folder: Path, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    graph = open_graph("texas", data_folder=data_folder)
    assert_twins(problem("acm-gcn++", graph, dropout=0.0))
    assert_twins(problem("acm-gcn", graph, dropout=0.5, epochs=10))


@pytest.mark.parametrize("way", EDGE_DIRECTIONS)
@pytest.mark.parametrize("model", ["acm-gcn+", "acmii-gcn++", "acm-snowball-2"])
def test_directed_graphs_follow_torch_in_every_direction(
    model: str, way: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    rng = np.random.default_rng(5)
    source, target = rng.integers(0, 30, (2, 70))
    directed = Graph.from_edges(
        source, target, labels=np.arange(30) % 3, features=rng.random((30, 6)), direction="keep"
    )
    assert is_one_way(directed.adjacency)
    assert_twins(problem(model, directed, edge_direction=way, dropout=0.3, hidden=9, epochs=20))
