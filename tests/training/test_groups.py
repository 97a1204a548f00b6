"""Coefficients of a learned filter may have a learning rate and decay of their own."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from engine.conftest import random_graph, thirds

from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.training.config import TrainConfig
from heterophily.training.epoch import FullBatch


def batch(model: str, config: TrainConfig) -> FullBatch:
    graph = random_graph()
    spec = MODELS[model].with_options(hidden=8, dropout=0.0)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    torch.manual_seed(0)
    sizes = {"num_nodes": inputs.num_nodes, "num_features": inputs.num_features}
    network = spec.build(**sizes, num_classes=graph.num_classes)
    return FullBatch(network, inputs, graph.labels, thirds(graph), config)


@pytest.mark.parametrize("model", ["gprgnn", "bernnet"])
def test_the_first_step_of_adam_has_the_size_of_its_own_learning_rate(model: str) -> None:
    made = batch(model, TrainConfig(lr=0.05, weight_decay=0.0, coefficient_lr=0.002))
    (coefficients,) = made.model.filter_coefficients
    weight = next(made.model.mlp.parameters())
    before = coefficients.detach().clone(), weight.detach().clone()
    made.step()
    after = coefficients.detach(), weight.detach()
    moved = [float((now - then).abs().max()) for now, then in zip(after, before, strict=True)]
    np.testing.assert_allclose(moved, [0.002, 0.05], rtol=1e-3)


@pytest.mark.parametrize("model", ["gprgnn", "bernnet"])
def test_decay_of_the_coefficients_is_apart(model: str) -> None:
    def decays(config: TrainConfig) -> list[tuple[int, float]]:
        groups = batch(model, config).optimizer.param_groups
        return [(len(group["params"]), group["weight_decay"]) for group in groups]

    assert decays(TrainConfig(weight_decay=0.1, coefficient_weight_decay=0.0))[-1] == (1, 0.0)
    assert len(decays(TrainConfig(weight_decay=0.1))) == 1


def test_a_model_without_such_coefficients_says_so() -> None:
    with pytest.raises(InputError, match="coefficient_lr"):
        batch("gcn", TrainConfig(coefficient_lr=0.1))
