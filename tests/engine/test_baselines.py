"""Baselines of the zoo that are written as steps follow torch: every model, every option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from heterophily.data.graph import Graph
from heterophily.engine.networks import PROGRAMS
from heterophily.engine.plan import covers
from heterophily.errors import InputError
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig

COVERED = (
    *("gprgnn", "appnp", "bernnet", "gcn+jk", "mixhop", "graphsage", "h2gcn", "linkx", "fsgnn"),
    *("gcnii", "gcnii*", "acm-gcnii", "acm-gcnii*"),
    *("acm-sign", "dir-acm-sign", "dir-gcn", "dir-sage", "orderedgnn", "glognn"),
)
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("gprgnn", {"hops": 1}),
    ("gprgnn", {"hops": 3, "depth": 1, "start": "random"}),
    ("gprgnn", {"hidden": 65, "propagation_dropout": 0.1, "start": "sgc", "depth": 3}),
    ("appnp", {"hops": 1, "alpha": 0.7}),
    ("appnp", {"hops": 2, "depth": 1, "alpha": 1.0}),
    ("bernnet", {"degree": 1}),
    ("bernnet", {"degree": 4, "depth": 1, "propagation_dropout": 0.5}),
    ("gcn+jk", {"depth": 1}),
    ("gcn+jk", {"depth": 3, "jk": "cat"}),
    ("gcn+jk", {"depth": 3, "batch_norm": True}),
    ("gcn+jk", {"depth": 2, "batch_norm": True, "jk": "cat"}),
    ("mixhop", {"depth": 1, "powers": (1,)}),
    ("mixhop", {"depth": 3, "powers": (0, 2, 3)}),
    ("mixhop", {"powers": (2,), "output": "linear"}),
    ("mixhop", {"powers": (0, 1), "output": "linear", "batch_norm": True, "hidden": 16}),
    ("graphsage", {"depth": 1}),
    ("graphsage", {"depth": 3, "use_l2_norm": True}),
    ("h2gcn", {"depth": 2, "input_dropout": 0.3}),
    ("h2gcn", {"depth": 3, "hidden": 5}),
    ("linkx", {"depth": 1, "input_dropout": 0.2}),
    ("linkx", {"depth": 3, "feature_depth": 3}),
    ("fsgnn", {"hops": 1, "input_dropout": 0.2}),
    ("fsgnn", {"hops": 2, "use_l2_norm": False, "hidden": 16}),
    ("acm-sign", {"hops": 3, "depth": 1, "input_dropout": 0.3}),
    ("dir-acm-sign", {"hops": 1, "expansion": 2}),
    ("glognn", {"depth": 1, "hops": 1, "gamma": 0.0}),
    ("glognn", {"depth": 3, "alpha": 0.0, "beta": 2.0, "delta": 0.9}),
    ("orderedgnn", {"depth": 1, "input_dropout": 0.3}),
    ("orderedgnn", {"hidden": 12, "gates": 4, "depth": 3}),
    ("orderedgnn", {"hidden": 40, "gates": 20, "shares_gate": False}),
    ("orderedgnn", {"hidden": 6, "gates": 1, "depth": 2}),
    ("gcnii", {"depth": 1, "alpha_l": 0.5}),
    ("gcnii*", {"depth": 2, "channels": ("identity", "high"), "lambda_": 2.0}),
    ("acm-gcnii", {"depth": 2, "use_layer_norm": True, "temperature": 0.7}),
    ("acm-gcnii*", {"depth": 2, "mixer": "sum", "hidden": 17}),
]


@pytest.mark.parametrize("model", COVERED)
def test_every_baseline_follows_torch_over_60_epochs(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    assert covers(MODELS[model]) is None
    assert MODELS[model].network in PROGRAMS
    assert_twins(problem(model, dropout=0.0, hidden=13))


@pytest.mark.parametrize("model", COVERED)
def test_every_baseline_follows_torch_with_the_same_masks(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    assert_twins(problem(model, dropout=0.3, hidden=16, epochs=30))


@pytest.mark.parametrize(("model", "options"), OPTIONS, ids=str)
def test_every_option_of_a_baseline_follows_torch(
    model: str,
    options: dict[str, Any],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    # A bias in front of a batch norm has no gradient but for rounding. Decay makes that 500 times
    # larger in each step, and evaluations, which use running means, show it.
    config = TrainConfig(weight_decay=0.0) if options.get("batch_norm") else None
    how = {"config": config, "hidden": 13, "epochs": 12} | options
    for dropout in (0.0, 0.4):
        assert_twins(problem(model, dropout=dropout, **how))


@pytest.mark.parametrize("model", ["gprgnn", "bernnet"])
@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
@pytest.mark.parametrize(
    "own",
    [
        {"coefficient_weight_decay": 0.0},
        {"coefficient_lr": 0.2},
        {"coefficient_lr": 0.002, "coefficient_weight_decay": 0.3},
    ],
    ids=str,
)
def test_rates_of_the_coefficients_follow_torch(
    model: str,
    optimizer: str,
    own: dict[str, float],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    config = TrainConfig(lr=0.03, weight_decay=0.02, optimizer=optimizer)
    assert covers(MODELS[model], config.replace(**own)) is None
    made = problem(model, config=config.replace(**own), dropout=0.2, hidden=9, epochs=20)
    assert_twins(made)
    name = "gamma" if model == "gprgnn" else "theta"
    with_one_rate = problem(model, config=config, dropout=0.2, hidden=9, epochs=20)
    assert not torch.equal(made.native().state[name], with_one_rate.native().state[name])


def test_rates_of_coefficients_are_refused_for_a_model_that_learns_none(
    problem: Callable[..., Any],
) -> None:
    config = TrainConfig(coefficient_lr=0.1)
    for model in ("appnp", "gcn"):
        assert "no coefficients" in str(covers(MODELS[model], config))
        with pytest.raises(InputError, match="no coefficients"):
            problem(model, config=config, epochs=1).native()


def test_a_coefficient_of_bernnet_that_is_not_positive_stays(
    problem: Callable[..., Any],
) -> None:
    """The gradient of ReLU(θ) is 0 there, and without decay nothing else moves it."""
    made = problem("bernnet", config=TrainConfig(weight_decay=0.0), dropout=0.0, epochs=5)
    build = made.build

    def started() -> torch.nn.Module:
        network = build()
        with torch.no_grad():
            network.theta[3], network.theta[5] = -0.25, 0.0
        return network

    made.build = started
    theta = made.native().state["theta"]
    assert (theta[3], theta[5]) == (-0.25, 0.0)
    assert theta[4] != 1.0


@pytest.mark.parametrize("model", ["gprgnn", "mixhop", "fsgnn", "graphsage", "linkx"])
def test_many_features_follow_torch(
    model: str,
    make_graph: Callable[..., Graph],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    """Their weight is too large for one sum for each chunk of rows: it is trained by columns."""
    graph = make_graph(features=5000, density=0.01)
    for rate in (0.0, 0.4):
        assert_twins(problem(model, graph, hidden=16, input_dropout=rate, epochs=8))


def test_dense_features_follow_torch(
    make_graph: Callable[..., Graph],
    problem: Callable[..., Any],
    assert_twins: Callable[..., None],
) -> None:
    graph = make_graph(features=7, density=0.9)
    for model in ("mixhop", "fsgnn"):
        assert_twins(problem(model, graph, input_dropout=0.3, hidden=11, epochs=15))


@pytest.mark.parametrize(
    "model", ["gprgnn", "mixhop", "h2gcn", "fsgnn", "acm-gcnii*", "linkx", "orderedgnn", "glognn"]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_results_do_not_depend_on_the_number_of_threads(
    model: str, dtype: torch.dtype, make_graph: Callable[..., Graph], problem: Callable[..., Any]
) -> None:
    graph = make_graph(nodes=4500, classes=3)  # several chunks of rows, the last one shorter
    made = problem(model, graph, dtype=dtype, epochs=3, hidden=20, dropout=0.3)
    alone = made.native(threads=1)
    for threads in (2, 3):
        other = made.native(threads=threads)
        np.testing.assert_array_equal(other.history.train_loss, alone.history.train_loss)
        np.testing.assert_array_equal(other.predictions, alone.predictions)
        for name, value in alone.state.items():
            assert torch.equal(other.state[name], value), name


@pytest.mark.parametrize("model", ["dir-gcn", "dir-sage", "dir-acm-sign", "fsgnn", "h2gcn"])
def test_models_on_one_way_edges_follow_torch(
    model: str, problem: Callable[..., Any], assert_twins: Callable[..., None]
) -> None:
    rng = np.random.default_rng(2)
    source, target = rng.integers(0, 40, (2, 90))
    keep = source != target
    graph = Graph.from_edges(
        source[keep],
        target[keep],
        labels=np.arange(40) % 3,
        features=rng.random((40, 6)),
        direction="keep",
    )
    assert graph.is_directed
    assert_twins(problem(model, graph, dropout=0.2, hidden=12, epochs=20))


def test_dropout_on_the_operator_runs_in_torch() -> None:
    assert covers(MODELS["appnp"].with_options(edge_dropout=0.5)) == "dropout on Â runs in torch"


def test_buffers_of_a_graph_hold_each_further_operator_once(problem: Callable[..., Any]) -> None:
    from heterophily.engine.buffers import GraphBuffers

    made = problem("h2gcn", epochs=1)
    buffers = GraphBuffers(made.inputs, made.graph.labels, made.graph.num_classes)
    buffers.prepare(["two-hops"])
    kept = len(buffers._keep)
    buffers.prepare(["two-hops"])
    assert len(buffers._keep) == kept
    buffers.prepare(["one-hop"])
    assert len(buffers._keep) > kept
