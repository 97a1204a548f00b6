from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from dense_models import KEPT, Dense, assert_equals_transcription, build, small_graph

from heterophily.layers.geometric_relations import geometric_operators, near_pairs, quarter_of
from heterophily.layers.landmark_isomap import landmark_isomap
from heterophily.layers.neighbourhoods import pattern_of


def dense_groups(d: Dense):
    """Section 3 with loops over all pairs: 9 matrices (N, N)."""
    a = d.a.numpy()
    n, degree = len(a), a.sum(1)
    points = np.round(landmark_isomap(sp.csr_array(a)), 7)
    placed = [v for v in range(n) if degree[v] > 0]
    gaps = sorted(
        (np.linalg.norm(points[v] - points[u]), v, u) for v in placed for u in placed if v < u
    )
    budget = int(a.sum()) // 2
    limit = gaps[budget][0] if budget < len(gaps) else np.inf
    near = {(v, u) for gap, v, u in gaps if gap < limit - 1e-9}
    if d.options.degrees == "both":
        plane = np.zeros((n, n))
        for v, u in near:
            plane[v, u] = plane[u, v] = 1
        degree = np.maximum(a, plane).sum(1)
    groups = np.zeros((9, n, n))
    for v in range(n):
        groups[8, v, v] = 1 / (degree[v] + 1)
        for u in range(n):
            weight = 1 / np.sqrt((degree[v] + 1) * (degree[u] + 1))
            quarter = int(points[u, 0] < points[v, 0]) + 2 * int(points[u, 1] < points[v, 1])
            if a[v, u]:
                groups[quarter, v, u] = weight
            if (min(v, u), max(v, u)) in near and u != v:
                groups[4 + quarter, v, u] = weight
    return torch.from_numpy(groups)


def dense_geom_gcn(d: Dense):
    groups, state = dense_groups(d), KEPT * d.x
    for k in range(d.options.depth - 1):
        weights = d.p[f"layers.{k}.weight"]
        joined = torch.cat([groups[r] @ state @ weights[r] for r in range(9)], 1)
        state = KEPT * torch.relu(joined)
    weights = d.p[f"layers.{d.options.depth - 1}.weight"]
    return sum(groups[r] @ state @ weights[r] for r in range(9)) / 9


@pytest.mark.parametrize("degrees", ["graph", "both"])
def test_outputs_and_gradients_equal_the_dense_transcription(degrees, monkeypatch):
    assert_equals_transcription("geom-gcn", dense_geom_gcn, monkeypatch, degrees=degrees)


def test_the_four_directions_of_the_graph_add_up_to_its_normalised_adjacency():
    graph = small_graph()
    _, inputs, _ = build("geom-gcn", graph)
    operators = geometric_operators(inputs.structure)
    eye = torch.eye(graph.num_nodes, dtype=torch.float64)
    total = sum(operator(eye) for operator in operators[:4]) + operators[8](eye)
    torch.testing.assert_close(total, inputs.operator(eye))


def test_a_direction_and_its_opposite_are_transposes_of_each_other():
    graph = small_graph()
    _, inputs, _ = build("geom-gcn", graph)
    eye = torch.eye(graph.num_nodes, dtype=torch.float64)
    points = landmark_isomap(pattern_of(inputs.structure))
    assert len(np.unique(np.round(points[:-1], 6), axis=0)) > 3  # not all in one place
    upper_right, _, _, lower_left, *_ = (
        operator(eye) for operator in geometric_operators(inputs.structure)
    )
    both = (lower_left > 0) & (lower_left.T > 0)
    assert not both.any()
    assert ((upper_right > 0) >= (lower_left > 0).T).all()


def test_the_radius_gives_as_many_pairs_as_asked_and_never_more():
    points = np.random.default_rng(0).normal(size=(50, 2))
    pairs = near_pairs(points, 120)
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    assert len(pairs) == 120
    far = np.sort(gaps[np.triu_indices(50, 1)])[120]
    assert (gaps[pairs[:, 0], pairs[:, 1]] < far).all()
    assert near_pairs(np.zeros((50, 2)), 120).shape == (0, 2)
    assert near_pairs(points[:1], 5).shape == (0, 2)


@pytest.mark.parametrize(("sender", "quarter"), [((2, 2), 0), ((0, 2), 1), ((2, 0), 2)])
def test_quarters_are_counted_from_the_receiver(sender, quarter):
    assert quarter_of(np.ones((1, 2)), np.array([sender], dtype=float)) == quarter
