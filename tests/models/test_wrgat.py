from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from dense_models import KEPT, Dense, N, assert_equals_transcription
from torch.nn.functional import leaky_relu

from heterophily.layers.structural_relations import RELATIONS, ring_profile, structural_edges


def dense_layer(d: Dense, hidden, relations, name, averages):
    weight = d.p[f"{name}.weight"]
    output = hidden @ weight[0] + d.p[f"{name}.bias"]
    for r, relation in enumerate(relations):
        mapped = hidden @ weight[r + 1]
        received, sent = mapped @ d.p[f"{name}.receiver"][r], mapped @ d.p[f"{name}.sender"][r]
        scores = leaky_relu(received + sent.T, 0.2).masked_fill(relation == 0, -torch.inf)
        alpha = torch.nan_to_num(scores.softmax(1))  # a node without neighbours hears nothing
        count = (relation != 0).sum(1, keepdim=True).clamp(min=1) if averages else 1
        output = output + (relation * alpha) @ mapped / count
    return output


def dense_wrgat(d: Dense, *, averages: bool):
    structural = structural_edges(sp.csr_array(d.a.numpy()))
    relations = [d.a, *(torch.from_numpy(relation.toarray()) for relation in structural)]
    hidden = torch.relu(dense_layer(d, KEPT * d.x, relations, "layers.0", averages))
    return dense_layer(d, KEPT * hidden, relations, "layers.1", averages)


@pytest.mark.parametrize("messages", ["mean", "sum"])
def test_outputs_and_gradients_equal_the_dense_transcription(monkeypatch, messages):
    dense = partial(dense_wrgat, averages=messages == "mean")
    assert_equals_transcription("wrgat", dense, monkeypatch, messages=messages)


def star_of_paths():
    """Two copies of a path of five nodes: nodes at the same place have the same role."""
    path = sp.diags_array([[1.0] * 4, [1.0] * 4], offsets=[-1, 1])
    return sp.csr_array(sp.block_diag([path, path]))


def test_nodes_of_the_same_role_in_different_components_are_joined_with_weight_one():
    relations = structural_edges(star_of_paths())
    assert len(relations) == RELATIONS - 1
    for relation in relations:
        dense = relation.toarray()
        np.testing.assert_allclose(dense, dense.T)
        for node in range(5):
            twin = dense[node, node + 5]
            assert twin in (0.0, 1.0)
        assert dense[2, 7] == 1.0  # the two middles
        assert (dense.diagonal() == 0).all()
        assert dense.max() <= 1.0


def test_weights_fall_from_ring_to_ring_since_distances_add_up():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((N, N)) < 0.25, 1)
    first, second, third = (
        relation.toarray() for relation in structural_edges(sp.csr_array((upper | upper.T) * 1.0))
    )
    assert (first >= second).all()
    assert (second >= third).all()
    assert (first > second).any()


def test_the_number_of_structural_edges_grows_like_n_log_n():
    size = 200
    ring = sp.diags_array([[1.0] * (size - 1)] * 2, offsets=[-1, 1]).tocsr()
    for relation in structural_edges(sp.csr_array(ring)):
        assert relation.nnz <= 2 * size * 8  # log2(200) rounded up


def test_a_profile_is_made_of_quantiles_of_log_degrees():
    ring = sp.csr_array(np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    profile = ring_profile(ring, np.array([1.0, 7.0, 3.0]))
    np.testing.assert_allclose(np.expm1(profile[0, [0, 2, 4]]), [1, 3, 7])
    np.testing.assert_array_equal(profile[1], 0)
    np.testing.assert_allclose(np.expm1(profile[2]), 7)
