from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from heterophily.layers.graph_order import structural_colours
from heterophily.layers.landmark_isomap import geodesics, landmark_isomap


def random_pattern(seed=0, size=30):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((size, size)) < 0.15, 1)
    return sp.csr_array((upper | upper.T).astype(float))


def grid(rows, columns):
    """A grid: geodesics are city-block distances."""
    line = [sp.diags_array([[1.0] * (n - 1)] * 2, offsets=[-1, 1]) for n in (rows, columns)]
    eye = [sp.eye_array(n) for n in (rows, columns)]
    return sp.csr_array(sp.kron(line[0], eye[1]) + sp.kron(eye[0], line[1]))


def test_with_all_nodes_as_landmarks_it_is_isomap():
    """Classical scaling of the full matrix of geodesics, as scikit-learn's MDS step would do."""
    pattern = grid(4, 7)
    places = landmark_isomap(pattern, landmarks=28)
    steps = sp.csgraph.dijkstra(pattern, unweighted=True)
    centre = np.eye(28) - 1 / 28
    gram = -0.5 * centre @ steps**2 @ centre
    values, vectors = np.linalg.eigh(gram)
    wanted = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    np.testing.assert_allclose(places @ places.T, wanted @ wanted.T, atol=1e-9)


def test_few_landmarks_keep_the_order_of_distances_on_a_long_strip():
    places = landmark_isomap(grid(2, 40), landmarks=12)
    along = places[:, 0].reshape(2, 40)
    steps = np.diff(along, axis=1)
    assert (steps > 0).all() or (steps < 0).all()


def test_renumbering_the_nodes_renumbers_the_points_and_the_colours():
    pattern = random_pattern()
    order = np.random.default_rng(1).permutation(30)
    moved = sp.csr_array(pattern[order][:, order])
    np.testing.assert_allclose(structural_colours(moved), structural_colours(pattern)[order])
    for landmarks in (10, 30):
        np.testing.assert_allclose(
            landmark_isomap(moved, landmarks=landmarks),
            landmark_isomap(pattern, landmarks=landmarks)[order],
            atol=1e-8,
        )


def test_disconnected_graphs_and_graphs_without_edges_have_finite_points():
    two = sp.block_diag([grid(2, 3), grid(3, 3)], format="csr")
    assert np.isfinite(landmark_isomap(sp.csr_array(two))).all()
    assert np.isfinite(landmark_isomap(sp.csr_array((5, 5)))).all()


def test_geodesics_are_those_of_scipy_on_short_and_on_long_graphs():
    two = sp.csr_array(sp.block_diag([grid(2, 3), grid(3, 3)], format="csr"))
    for pattern in (random_pattern(), two, grid(1, 90)):  # 90 in a row: more steps than levels
        sources = np.array([0, 3])
        wanted = sp.csgraph.dijkstra(pattern, indices=sources, unweighted=True)
        np.testing.assert_array_equal(geodesics(pattern, sources), wanted)
