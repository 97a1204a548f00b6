"""The engine's gradients are the slopes of the engine's own loss, dropout included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from heterophily.engine.run import run
from heterophily.training.config import TrainConfig
from heterophily.training.replica import Replica

ADAM_EPSILON = 1e-8
STEP = 1e-5
MOST_WEIGHTS = 48
"""Weights of a network that are moved, each alone; the same ones in every run."""
MODELS: list[tuple[str, dict[str, Any]]] = [
    ("acm-gcn", {}),
    ("acmii-gcn", {"depth": 3}),
    ("acm-gcn+", {"with_structure": True}),
    ("acm-gcn++", {"with_structure": True, "mix_features": "combined", "residual_bias": True}),
    ("acm-snowball-2", {"use_layer_norm": True}),
    ("snowball-2", {}),
    ("gat", {"heads": 2, "output_heads": 3}),
    ("gat+jk", {"heads": 2, "attention_dropout": 0.3}),
    ("fagcn", {"attention_dropout": 0.3}),
    ("res-gat", {"heads": 3, "attention_dropout": 0.3}),
]


def flat(parameters: Any) -> NDArray[np.float64]:
    return torch.cat([p.detach().reshape(-1) for p in parameters]).numpy()


def losses(made: Any, points: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Training loss at each point, with the masks of the first step."""

    def at(point: NDArray[np.float64]) -> Callable[[], torch.nn.Module]:
        def build() -> torch.nn.Module:
            model = made.build()
            torch.nn.utils.vector_to_parameters(torch.from_numpy(point), model.parameters())
            return model

        return build

    tasks = [Replica(at(point), made.split, made.config, made.seed) for point in points]
    done = run(tasks, made.inputs, made.graph.labels, keep_state=False)
    return np.array([done.results[i].history.train_loss[0] for i in range(len(points))])


def first_gradient(made: Any, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """The gradient that the first step of Adam, lr g / (|g| + epsilon), reveals."""
    state = made.native().state
    names = [name for name, _ in made.build().named_parameters()]
    moved = (start - flat(state[name] for name in names)) / made.config.lr
    return np.sign(moved) * ADAM_EPSILON * np.abs(moved) / (1 - np.abs(moved))


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize(("model", "options"), MODELS, ids=str)
def test_first_step_follows_the_slope_of_the_loss(
    model: str,
    options: dict[str, Any],
    dropout: float,
    make_graph: Any,
    problem: Callable[..., Any],
) -> None:
    graph = make_graph(nodes=9, features=4, classes=2, density=0.6, seed=5)
    config = TrainConfig(lr=1.0, weight_decay=0.0)
    made = problem(model, graph, config=config, epochs=1, hidden=3, dropout=dropout, **options)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        drawn = made.build().state_dict()
        # Biases begin at zero, where the ReLU of a node without features has no slope.
        weights = {name: value + 0.1 * torch.randn_like(value) for name, value in drawn.items()}
    build = made.build

    def same_start() -> torch.nn.Module:
        network = build()
        network.load_state_dict(weights)
        return network

    made.build = same_start
    start = flat(made.build().parameters())
    chosen = np.random.default_rng(start.size).permutation(start.size)[:MOST_WEIGHTS]
    moves = STEP * np.eye(start.size)[chosen]
    found = losses(made, [*(start + moves), *(start - moves)])
    slopes = (found[: chosen.size] - found[chosen.size :]) / (2 * STEP)
    assert np.count_nonzero(slopes) > chosen.size / 3
    np.testing.assert_allclose(first_gradient(made, start)[chosen], slopes, rtol=1e-5, atol=2e-8)
