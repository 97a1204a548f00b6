"""Facts that hold for every generator: the target is met, the seed decides, sizes are free."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.data.synthetic.class_homophily import class_homophily_graph
from heterophily.data.synthetic.degree_then_edges import degree_then_edges_graph
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.data.synthetic.regular import regular_graph
from heterophily.errors import InputError
from heterophily.metrics.edge_homophily import edge_homophily
from heterophily.metrics.label_counts import label_counts

PAPER_LABELS = np.repeat(np.arange(5), 400)
UNBALANCED = np.repeat(np.arange(4), [500, 250, 120, 60])


def edges_of_the_paper(h: float, **options) -> Graph:
    nodes = options["labels"].size
    return edge_homophily_graph(homophily=h, edges=round(nodes / h), **options)


MAKERS: dict[str, Callable[..., Graph]] = {
    "edge-homophily": edges_of_the_paper,
    "degree-then-edges": lambda h, **o: degree_then_edges_graph(
        homophily=h, mean_degree=1 / h, **o
    ),
    "degree-then-edges, directed": lambda h, **o: degree_then_edges_graph(
        homophily=h, mean_degree=2 / h, is_directed=True, **o
    ),
    "regular": lambda h, **o: regular_graph(homophily=h, degree=round(2 / h), **o),
    "class-homophily": lambda h, **o: class_homophily_graph(
        class_homophily=h, mean_degree=2 / h, **o
    ),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("level", [0.005, 0.02, 0.1, 0.18, 0.3, 0.5, 0.65, 0.85, 0.95])
def test_target_edge_homophily_is_met_on_the_graphs_of_the_paper(
    make: Callable[..., Graph], level: float
) -> None:
    graph = make(level, features=None, labels=PAPER_LABELS, rng=np.random.default_rng(1))
    assert abs(edge_homophily(graph) - level) < 0.001


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("level", [0.05, 0.35, 0.95])
def test_target_is_met_with_unbalanced_classes(make: Callable[..., Graph], level: float) -> None:
    graph = make(level, features=None, labels=UNBALANCED, rng=np.random.default_rng(1))
    assert np.bincount(graph.labels).tolist() == [500, 250, 120, 60]
    assert abs(edge_homophily(graph) - level) < 0.01


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_seed_decides_everything(make: Callable[..., Graph]) -> None:
    options = {"features": np.arange(2000.0)[:, None], "labels": PAPER_LABELS}
    first, again, other = (
        make(0.4, nodes_per_class=30, rng=np.random.default_rng(seed), **options)
        for seed in (5, 5, 6)
    )
    assert first.content_hash == again.content_hash != other.content_hash
    assert (first.features[:, 0] // 400 == first.labels).all()  # rows of the node's own class


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_no_loops_no_repairs(make: Callable[..., Graph]) -> None:
    graph = make(0.3, features=None, labels=UNBALANCED, rng=np.random.default_rng(0))
    assert not graph.adjacency.diagonal().any()
    assert (graph.adjacency.data == 1).all()
    assert graph.report.done == ()


def test_degrees_follow_the_multinomial_of_the_paper() -> None:
    """800/h draws over 400 nodes: out-degrees have mean 2/h and variance 2/h (1 - 1/400)."""
    graph = degree_then_edges_graph(
        homophily=0.1,
        mean_degree=20,
        features=None,
        labels=PAPER_LABELS,
        is_directed=True,
        rng=np.random.default_rng(0),
    )
    degrees = np.diff(graph.adjacency.indptr)
    assert [degrees[k == PAPER_LABELS].sum() for k in range(5)] == [8000] * 5
    assert abs(degrees.var() - 20) < 4 * 20 * np.sqrt(2 / 2000)
    own = label_counts(graph).own_class
    assert np.abs(own - 0.1 * degrees).max() < 1  # h d_v, rounded up or down


def test_even_regular_graphs_give_every_node_the_same_neighbourhood() -> None:
    graph = regular_graph(
        homophily=0.25, degree=40, features=None, labels=PAPER_LABELS, rng=np.random.default_rng(0)
    )
    assert set(np.diff(graph.adjacency.indptr)) == {40}
    assert set(label_counts(graph).own_class) == {10.0}
    assert graph.is_directed


def test_independent_regular_graphs_have_binomial_intra_class_degrees() -> None:
    graph = regular_graph(
        homophily=0.25,
        degree=40,
        features=None,
        labels=PAPER_LABELS,
        rng=np.random.default_rng(0),
        edge_rule="independent",
    )
    own = label_counts(graph).own_class
    assert set(np.diff(graph.adjacency.indptr)) == {40}
    assert abs(own.mean() - 10) < 4 * np.sqrt(7.5 / 2000)
    assert abs(own.var() - 7.5) < 4 * 7.5 * np.sqrt(2 / 2000)


def test_every_class_has_the_homophily_it_was_given() -> None:
    wanted = [0.05, 0.3, 0.6, 0.9]
    graph = class_homophily_graph(
        class_homophily=wanted,
        mean_degree=12,
        features=None,
        labels=UNBALANCED,
        nodes_per_class=[900, 700, 500, 800],
        rng=np.random.default_rng(0),
    )
    pairs = label_counts(graph).class_pairs
    assert np.abs(np.diag(pairs) / pairs.sum(1) - wanted).max() < 0.002
    assert abs(graph.adjacency.nnz / graph.num_nodes - 12) < 0.01


def test_edges_across_classes_are_proportional_to_the_pairs_of_nodes() -> None:
    graph = class_homophily_graph(
        class_homophily=[0.2, 0.5, 0.8],
        mean_degree=20,
        features=None,
        labels=np.arange(3),
        nodes_per_class=[300, 600, 200],
        rng=np.random.default_rng(0),
    )
    pairs = label_counts(graph).class_pairs
    rates = pairs / np.outer([300, 600, 200], [300, 600, 200])
    assert np.ptp(rates[np.triu_indices(3, 1)]) < 1e-4


def test_classes_without_any_edge_across() -> None:
    graph = class_homophily_graph(
        class_homophily=1.0,
        mean_degree=4,
        features=None,
        labels=UNBALANCED,
        rng=np.random.default_rng(0),
    )
    assert edge_homophily(graph) == 1.0


COMMON = {"features": None, "labels": UNBALANCED}


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (degree_then_edges_graph, {"homophily": 1.1, "mean_degree": 2}, "homophily=1.1"),
        (degree_then_edges_graph, {"homophily": 0.1, "mean_degree": 0}, "mean_degree=0"),
        (degree_then_edges_graph, {"homophily": 0.1, "mean_degree": float("inf")}, "positive"),
        (degree_then_edges_graph, {"homophily": 1.0, "mean_degree": 500}, "in its own class"),
        (regular_graph, {"homophily": -0.1, "degree": 2}, "homophily=-0.1"),
        (regular_graph, {"homophily": 0.5, "degree": 0}, "degree=0"),
        (regular_graph, {"homophily": 0.5, "degree": 4, "edge_rule": "odd"}, "edge_rule='odd'"),
        (class_homophily_graph, {"class_homophily": [0.5], "mean_degree": 2}, "one for each"),
        (class_homophily_graph, {"class_homophily": 2.0, "mean_degree": 2}, r"homophily\[0\]=2"),
        (
            class_homophily_graph,
            {"class_homophily": [1, 0.5, 0.5, 0.5], "mean_degree": 2},
            "is 1 for some classes",
        ),
        (
            class_homophily_graph,
            {"class_homophily": 0.9, "mean_degree": 400},
            "needed but there are",
        ),
        (
            class_homophily_graph,
            {"class_homophily": 0.9, "mean_degree": 2, "labels": np.zeros(9, int)},
            "one class",
        ),
    ],
)
def test_impossible_wishes_are_refused_in_one_sentence(make, options, message) -> None:
    with pytest.raises(InputError, match=message) as caught:
        make(**{**COMMON, **options}, rng=np.random.default_rng(0))
    assert "\n" not in str(caught.value)
