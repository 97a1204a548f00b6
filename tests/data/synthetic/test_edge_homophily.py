"""The generator meets its target exactly, repeats with its seed, and refuses the impossible."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.errors import InputError
from heterophily.metrics.edge_homophily import edge_homophily

LABELS = np.repeat([0, 1, 2], [30, 60, 110])


def graph(homophily: float, *, edges: int = 1500, seed: int = 0, **options):
    options = {"features": None, "labels": LABELS, **options}
    return edge_homophily_graph(
        homophily=homophily, edges=edges, rng=np.random.default_rng(seed), **options
    )


@pytest.mark.parametrize("target", [0.0, 0.005, 0.1, 0.2, 0.35, 0.5, 0.75, 0.95, 1.0])
def test_target_edge_homophily_is_met_to_half_an_edge(target: float) -> None:
    made = graph(target)
    assert made.num_edges == 1500
    assert abs(edge_homophily(made) - target) <= 0.5 / 1500


def test_same_seed_same_graph_and_another_seed_another_graph() -> None:
    assert graph(0.3).content_hash == graph(0.3).content_hash
    assert graph(0.3).content_hash != graph(0.3, seed=1).content_hash


def test_every_pair_can_be_drawn_and_none_twice() -> None:
    sizes = [2, 3, 4]
    within, across = 1 + 3 + 6, 6 + 8 + 12
    full = graph(within / 36, edges=within + across, labels=np.repeat([0, 1, 2], sizes))
    assert (full.adjacency.toarray() == 1 - np.eye(9)).all()


def test_pairs_within_a_class_are_equally_likely() -> None:
    """4 nodes, 2 of 6 pairs drawn 900 times: each pair is expected 300 times, sd below 15."""
    counts = np.zeros((4, 4))
    rng = np.random.default_rng(0)
    for _ in range(900):
        made = edge_homophily_graph(
            homophily=1.0, edges=2, features=None, labels=np.zeros(4, int), rng=rng
        )
        counts += made.adjacency.toarray()
    assert np.abs(counts[np.triu_indices(4, 1)] - 300).max() < 75


@pytest.mark.parametrize("as_sparse", [False, True])
def test_features_of_a_node_come_from_a_base_row_of_its_class(as_sparse: bool) -> None:
    base_labels = np.array([1, 0, 1, -1, 0])
    base = np.arange(1.0, 6.0)[:, None] * np.ones((1, 2))
    features = sp.csr_array(base) if as_sparse else base
    made = graph(0.5, edges=10, features=features, labels=base_labels, nodes_per_class=[5, 3])
    rows = made.features.toarray()[:, 0] if as_sparse else made.features[:, 0]
    assert made.labels.tolist() == [0] * 5 + [1] * 3
    assert set(rows[:5]) == {2.0, 5.0}
    assert set(rows[5:]) == {1.0, 3.0}


def test_base_rows_do_not_repeat_while_they_last() -> None:
    base = np.arange(200.0)[:, None]
    made = graph(0.5, edges=10, features=base, nodes_per_class=30)
    assert np.unique(made.features).size == 90


def test_without_nodes_per_class_every_base_row_is_a_node() -> None:
    made = graph(0.5, edges=10, features=np.arange(200.0)[:, None])
    assert sorted(made.features[:, 0]) == list(range(200))
    assert np.bincount(made.labels).tolist() == [30, 60, 110]


def test_a_generated_graph_reports_no_repair() -> None:
    assert graph(0.5).report.done == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"homophily": 1.5}, "homophily=1.5"),
        ({"homophily": float("nan")}, "homophily=nan"),
        ({"homophily": 0.5, "edges": -1}, "edges=-1"),
        ({"homophily": 1.0, "edges": 100_000}, "edges within classes, but"),
        ({"homophily": 0.0, "labels": np.zeros(5, int)}, "edges between classes, but"),
        ({"homophily": 0.5, "labels": np.array([0, 2])}, "class 1 has no row"),
        ({"homophily": 0.5, "labels": np.array([-1, -1])}, "labels must be classes"),
        ({"homophily": 0.5, "labels": np.array([0.5])}, "whole numbers"),
        ({"homophily": 0.5, "features": np.ones((3, 1))}, "3 rows but there are 200 labels"),
        ({"homophily": 0.5, "nodes_per_class": [1, 2]}, "one for each class"),
        ({"homophily": 0.5, "nodes_per_class": 0}, "one positive number"),
    ],
)
def test_impossible_wishes_are_refused_in_one_sentence(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        graph(**options)
