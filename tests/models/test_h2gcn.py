from __future__ import annotations

import numpy as np
import pytest
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph, symmetric

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.layers.inputs import GraphInputs
from heterophily.layers.neighbourhoods import exact_hops
from heterophily.models.catalog import MODELS


def distance_two(a):
    reached = (a @ a > 0) & (a == 0)
    return (reached & ~torch.eye(len(a), dtype=torch.bool)).double()


def dense_h2gcn(d: Dense):
    one, two = symmetric(d.a), symmetric(distance_two(d.a))
    rounds = [torch.relu(d.x @ d.p["input.weight"])]
    for _ in range(d.options.depth):
        rounds.append(torch.cat([one @ rounds[-1], two @ rounds[-1]], 1))
    return KEPT * torch.cat(rounds, 1) @ d.p["output.weight"]


@pytest.mark.parametrize("depth", [1, 2])
def test_outputs_and_gradients_equal_the_dense_transcription(depth, monkeypatch):
    assert_equals_transcription("h2gcn", dense_h2gcn, monkeypatch, depth=depth)


def test_ego_and_neighbours_stay_separate():
    """D1: a node's own features move its ego columns only, unless they travel through others."""
    graph = small_graph()
    _, inputs, model = build("h2gcn", graph, dropout=0.0)
    ego = torch.randn(graph.num_nodes, 5, dtype=torch.float64)
    changed = ego.clone()
    changed[0] += 1.0
    before, after = model.rounds(ego, inputs)[1], model.rounds(changed, inputs)[1]
    assert torch.equal(before[0], after[0])
    assert not torch.equal(before, after)


def test_self_loops_of_a_file_do_not_bring_the_ego_back():
    path = Graph.from_edges([0, 1, 1], [1, 2, 1], labels=[0, 1, 0], self_loops="keep")
    inputs = GraphInputs.from_graph(path, MODELS["h2gcn"].inputs, dtype=torch.float64)
    one, two = exact_hops(inputs.structure)
    eye = torch.eye(3, dtype=torch.float64)
    root = np.sqrt(0.5)
    np.testing.assert_allclose(one(eye), [[0, root, 0], [root, 0, root], [0, root, 0]])
    np.testing.assert_allclose(two(eye), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="1, 2 or 3 rounds"):
        MODELS["h2gcn"].with_options(depth=4)
