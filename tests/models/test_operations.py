from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from torch.utils.flop_counter import FlopCounterMode

from heterophily.data.graph import Graph
from heterophily.layers.inputs import GraphInputs
from heterophily.models.catalog import MODELS
from heterophily.models.operations import model_cost

N, F, H, C = 30, 11, 64, 3


def graph() -> Graph:
    rng = np.random.default_rng(2)
    source, target = rng.integers(0, N, size=(2, 80))
    features = np.where(rng.random((N, F)) < 0.3, rng.random((N, F)) + 0.1, 0.0)
    features[0], features[1] = 1.0, 1.0
    return Graph.from_edges(
        source,
        target,
        features=features,
        labels=rng.integers(0, C, size=N),
        num_nodes=N,
    )


def test_gcn_takes_what_the_paper_says():
    cost = model_cost(MODELS["gcn"], graph())
    assert cost.parameters == F * H + H * C
    assert cost.dense + cost.sparse == cost.paper


@pytest.mark.parametrize("name", ["acm-gcn", "acmii-gcn"])
def test_acm_gcn_takes_what_the_paper_says_but_for_the_sums_of_the_mixture(name):
    cost = model_cost(MODELS[name], graph())
    assert cost.parameters == 3 * (F * H + H + H * C + C) + 2 * 9  # 3 F_l (F_{l-1} + 1) + 9
    assert cost.dense + cost.sparse + 2 * N * (H + C) == cost.paper


@pytest.mark.parametrize("name", ["gcn", "acm-gcn", "gcnii", "linkx", "gat", "mixhop"])
def test_dense_products_are_those_that_torch_counts(name):
    given = graph()
    spec = MODELS[name].on(given)
    inputs = GraphInputs.from_graph(given, spec.inputs)
    model = spec.builder(inputs, num_classes=C)().eval()
    with FlopCounterMode(display=False) as counter:
        model(inputs)
    cost = model_cost(MODELS[name], given)
    vectors = 6 * N * (H + C) if name == "acm-gcn" else 0  # torch leaves matrix times vector out
    assert cost.dense == counter.get_total_flops() + vectors


def test_features_that_are_zero_cost_nothing_when_they_are_stored_sparse():
    wide = graph().replace(features=sp.eye_array(N, format="csr"))
    cost = model_cost(MODELS["mlp-2"], wide)
    assert (cost.sparse, cost.dense) == (2 * N * H, 2 * N * H * C)


def test_models_that_fit_themselves_have_no_pass_to_count():
    assert model_cost(MODELS["label-propagation"], graph()) is None
