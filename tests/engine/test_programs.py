"""Networks that are lists of steps follow torch: every convolution, option and loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from heterophily.data.graph import Graph
from heterophily.engine.plan import covers
from heterophily.engine.run import THREADS_VARIABLE, _threads
from heterophily.errors import InputError
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig

COVERED = ("res-gcn", "res-sage", "res-acm", "res-acmii", "res-acm+", "res-acmii+")
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("res-gcn", {"depth": 1}),
    ("res-sage", {"depth": 5, "hidden": 3}),
    ("res-acm", {"hidden": 65, "depth": 2}),
    ("res-gcn", {"hidden": 1, "norm": "none"}),
    ("res-gcn", {"norm": "none"}),
    ("res-gcn", {"norm": "batch"}),
    ("res-sage", {"norm": "batch", "depth": 1}),
    ("res-acm", {"norm": "batch", "jk": "max"}),
    ("res-acmii", {"norm": "batch", "jk": "cat", "hidden": 17}),
    ("res-sage", {"expansion": 2}),
    ("res-acm", {"jk": "max"}),
    ("res-acmii", {"jk": "cat", "depth": 4}),
    ("res-sage", {"jk": "cat", "norm": "none"}),
    ("res-gcn", {"jk": "max", "depth": 4}),
    ("res-gcn", {"input_dropout": 0.3}),
    ("res-acm", {"normalization": "symmetric", "input_dropout": 0.5}),
    ("res-acm+", {"depth": 1, "use_layer_norm": False}),
    ("res-acm+", {"norm": "batch", "jk": "cat", "hidden": 17}),
    ("res-acm+", {"with_structure": False, "jk": "max"}),
]


@pytest.mark.parametrize("model", COVERED)
def test_every_residual_stack_follows_torch_over_60_epochs(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    assert covers(MODELS[model]) is None
    assert_twins(problem(model, dropout=0.0, hidden=13))


@pytest.mark.parametrize("model", COVERED)
def test_every_residual_stack_follows_torch_with_the_same_masks(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    assert_twins(problem(model, dropout=0.3, hidden=16, epochs=30))


@pytest.mark.parametrize(("model", "options"), OPTIONS, ids=str)
def test_every_option_of_a_residual_stack_follows_torch(
    model: str,
    options: dict[str, Any],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    for dropout in (0.0, 0.4):
        assert_twins(problem(model, **{"dropout": dropout, "hidden": 13, "epochs": 12} | options))


@pytest.mark.parametrize("model", ["res-gcn", "acm-gcn", "acm-gcn++"])
@pytest.mark.parametrize("class_weight", ["balanced", (0.5, 2.0, 0.0, 1.0)])
def test_class_weights_follow_torch(
    model: str,
    class_weight: Any,
    make_graph: Callable[..., Graph],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    graph = make_graph(nodes=60)
    graph = replace(graph, labels=np.where(np.arange(60) < 20, 0, graph.labels))
    config = TrainConfig(class_weight=class_weight)
    assert covers(MODELS[model], config) is None
    assert_twins(problem(model, graph, config=config, dropout=0.3, hidden=9, epochs=15))


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_optimisers_and_unused_features_follow_torch(
    optimizer: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    config = TrainConfig(lr=0.05, weight_decay=0.02, optimizer=optimizer)
    made = problem("res-sage", config=config, dropout=0.2, input_dropout=0.2, epochs=20)
    assert_twins(made)


def test_many_features_follow_torch(
    make_graph: Callable[..., Graph],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    """Their weight is too large for one sum for each chunk of rows: it is trained by columns."""
    graph = make_graph(features=5000, density=0.01)
    for rate in (0.0, 0.4):
        assert_twins(problem("res-gcn", graph, hidden=16, input_dropout=rate, epochs=8))


@pytest.mark.parametrize(("model", "norm"), [("res-acm+", "layer"), ("res-sage", "batch")])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_results_do_not_depend_on_the_number_of_threads(
    model: str,
    norm: str,
    dtype: torch.dtype,
    make_graph: Callable[..., Graph],
    problem: Callable[..., Any],
) -> None:
    graph = make_graph(nodes=4500, classes=3)  # several chunks of rows, the last one shorter
    options = {"hidden": 20, "dropout": 0.3, "jk": "cat", "norm": norm}
    made = problem(model, graph, dtype=dtype, epochs=4, **options)
    alone = made.native(threads=1)
    for threads in (2, 3):
        other = made.native(threads=threads)
        for name in ("train_loss", "validation_loss"):
            np.testing.assert_array_equal(
                getattr(other.history, name), getattr(alone.history, name)
            )
        assert alone.state is not None
        assert other.state is not None
        for name, value in alone.state.items():
            assert torch.equal(other.state[name], value), name
        np.testing.assert_array_equal(other.predictions, alone.predictions)


def test_threads_share_a_run_only_on_large_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _threads(4, 1, 1000) == 1
    assert _threads(4, 2, 1000) == 2
    assert _threads(4, 1, 10**6) == 4
    monkeypatch.setenv(THREADS_VARIABLE, "3")
    assert _threads(1, 1, 10**6) == 3
    monkeypatch.setenv(THREADS_VARIABLE, "all")
    with pytest.raises(InputError, match="whole number"):
        _threads(1, 1, 10**6)


def test_what_is_not_covered_is_named() -> None:
    assert covers(MODELS["dir-acm"]) == "convolution DirectedMixing runs in torch"
