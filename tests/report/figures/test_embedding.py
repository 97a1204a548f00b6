"""t-SNE maps: separated groups stay separated, the seed decides, odd input is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from report.made import ring

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.report.figures.embedding import SIDE, embed, feature_rows


def test_two_far_groups_do_not_mix_and_the_map_fills_its_square() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4)) + np.repeat([[0.0], [50.0]], 30, axis=0)
    x, y = map(np.array, embed(rows, seed=0))
    assert (x.min(), x.max(), y.min(), y.max()) == (0, SIDE, 0, SIDE)
    places = np.stack([x, y], axis=1).astype(float)
    distance = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(60)
    nearest = distance.argmin(axis=1)
    assert ((np.arange(60) < 30) == (nearest < 30)).all()


def test_the_seed_decides_the_map() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 3))
    assert embed(rows, seed=1) == embed(rows, seed=1)


@pytest.mark.parametrize("rows", [np.zeros((12, 3)), np.arange(12.0)[:, None]])
def test_flat_input_still_has_a_map(rows: np.ndarray) -> None:
    x, y = embed(rows, seed=0)
    assert len(x) == len(y) == 12


def test_too_few_nodes_and_infinite_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="at least 5 nodes, got 4"):
        embed(np.zeros((4, 2)), seed=0)
    with pytest.raises(InputError, match="finite"):
        embed(np.full((9, 2), np.inf), seed=0)


def test_wide_sparse_features_become_thirty_columns_and_dense_ones_agree() -> None:
    rng = np.random.default_rng(0)
    dense = (rng.random((50, 200)) < 0.1).astype(float)
    nodes = np.arange(0, 50, 2)
    labels = np.arange(50) % 2
    found = [
        feature_rows(Graph.from_edges([0], [1], labels=labels, features=x), nodes, seed=0)
        for x in (dense, sp.csr_array(dense))
    ]
    assert found[0].shape == (25, 24)
    products = [rows @ rows.T for rows in found]
    assert products[0] == pytest.approx(products[1], abs=1e-3)


def test_a_graph_without_features_is_told() -> None:
    with pytest.raises(InputError, match="no features to embed"):
        feature_rows(ring(features=None), np.arange(3), seed=0)
