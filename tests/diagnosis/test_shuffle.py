"""Metrics of labelled edges, corrected by shuffles: chance is 0, a perfect pairing is 1."""

from __future__ import annotations

import numpy as np
import pytest
from probed_graphs import blobs, random_edges

from heterophily.data.graph import Graph
from heterophily.diagnosis import shuffle
from heterophily.diagnosis.shuffle import Shuffled, edge_chance, informativeness, shuffled
from heterophily.metrics.catalog import METRICS


def few_labels(graph: Graph, share: float, seed: int = 0) -> Graph:
    known = np.random.default_rng(seed).random(graph.num_nodes) < share
    return graph.replace(labels=np.where(known, graph.labels, -1))


def paired(pairs: int = 60, classes: int = 4) -> Graph:
    """Nodes in pairs: class 0 with 1, class 2 with 3."""
    labels = np.arange(2 * pairs) // 2 % classes
    labels[1::2] = labels[::2] ^ 1
    return Graph.from_edges(range(0, 2 * pairs, 2), range(1, 2 * pairs, 2), labels=labels)


def test_values_are_those_of_the_metrics() -> None:
    for graph in (blobs(0.8, classes=3), few_labels(blobs(0.2, classes=3), 0.5), paired()):
        found = edge_chance(graph)
        assert found.homophily.value == pytest.approx(METRICS["adjusted_homophily"](graph))
        tells = METRICS["label_informativeness"](graph)
        assert found.informativeness.value == pytest.approx(tells)


def test_values_of_a_directed_graph_follow_its_edges() -> None:
    labels = np.arange(40) % 2
    one_way = Graph.from_edges(range(0, 40, 2), range(1, 40, 2), labels=labels, direction="keep")
    assert edge_chance(one_way).edges == 20
    assert edge_chance(one_way).informativeness.value == 0.0  # sources are all of class 0
    ring = Graph.from_edges(range(40), (np.arange(40) + 1) % 40, labels=labels, direction="keep")
    assert edge_chance(ring).homophily.value == pytest.approx(-1.0)
    assert edge_chance(ring).informativeness.value == pytest.approx(1.0)


def test_few_labels_and_many_classes_look_informative_until_corrected() -> None:
    """T5: random edges, 5 % labels, 20 classes: 0.58 by chance alone."""
    raw, corrected = [], []
    for seed in range(5):
        labels = np.random.default_rng(seed).integers(0, 20, 2000)
        graph = few_labels(random_edges(labels, edges=20_000, seed=seed), 0.05, seed)
        found = edge_chance(graph).informativeness
        raw.append(found.value)
        corrected.append(found.corrected)
    assert min(raw) > 0.3
    assert abs(np.mean(corrected)) < 0.05


def test_a_perfect_pairing_keeps_its_one() -> None:
    found = edge_chance(paired())
    assert found.informativeness.value == pytest.approx(1.0)
    assert found.informativeness.corrected == pytest.approx(1.0)
    assert found.informativeness.is_real(0.01)
    assert found.homophily.value < 0
    assert found.homophily.p_value > 0.9


def test_p_values_are_even_when_labels_are_random() -> None:
    p_values = []
    for seed in range(60):
        labels = np.random.default_rng(seed).integers(0, 3, 150)
        p_values.append(edge_chance(random_edges(labels, edges=300, seed=seed)).homophily.p_value)
    assert 0.35 < np.mean(p_values) < 0.65
    assert np.mean(np.array(p_values) < 0.05) <= 0.1
    assert min(p_values) >= 1 / 201


def test_the_error_of_homophily_falls_with_the_root_of_the_edges() -> None:
    few, many = (edge_chance(blobs(0.8, edges=e)).homophily_error for e in (400, 6400))
    assert few / many == pytest.approx(4.0, rel=0.25)


def test_a_sample_of_the_edges_gives_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = blobs(0.8, nodes=2000, edges=20_000)
    whole = edge_chance(graph)
    monkeypatch.setattr(shuffle, "MAX_EDGES", 2_000)
    part = edge_chance(graph)
    assert part.edges == whole.edges
    assert part.homophily.value == pytest.approx(whole.homophily.value, abs=0.05)
    assert part.informativeness.corrected == pytest.approx(
        whole.informativeness.corrected, abs=0.05
    )
    assert part.homophily.value != whole.homophily.value


def test_the_same_seed_gives_the_same_answer() -> None:
    assert edge_chance(blobs(0.6), seed=3) == edge_chance(blobs(0.6), seed=3)
    assert edge_chance(blobs(0.6), seed=3) != edge_chance(blobs(0.6), seed=4)


def test_loops_do_not_count() -> None:
    plain = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[0, 0, 1, 1])
    loops = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 0], labels=[0, 0, 1, 1], self_loops="keep")
    assert edge_chance(plain) == edge_chance(loops)


def test_without_a_labelled_edge_or_a_second_class_nothing_is_said() -> None:
    assert edge_chance(Graph.from_edges([], [], labels=[0, 1])) is None
    assert edge_chance(Graph.from_edges([0], [1], labels=[0, -1, 1])) is None
    assert edge_chance(Graph.from_edges([0], [1], labels=[0, 0])) is None


def test_edges_within_one_of_two_classes_are_finite() -> None:
    found = edge_chance(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 0, 1, 1]))
    assert np.isfinite([found.homophily.value, found.homophily.corrected]).all()
    assert np.isfinite([found.informativeness.corrected, found.homophily_error]).all()


def test_informativeness_by_hand() -> None:
    assert informativeness(np.eye(2)) == pytest.approx(1.0)
    assert informativeness(np.ones((2, 2))) == pytest.approx(0.0)
    assert informativeness(np.zeros((2, 2))) == 0.0
    assert informativeness(np.array([[1.0, 1.0], [0.0, 0.0]])) == 0.0  # nothing to remove
    half = np.array([[1.0, 0.0], [0.5, 0.5]])  # H(row) = 1 bit, H(row | column) = 0.6887 bits
    assert informativeness(half) == pytest.approx(1 - 0.75 * 0.9183, abs=1e-4)


def test_shuffled_by_hand() -> None:
    found = shuffled(0.6, np.array([0.1, 0.3, 0.2, 0.2]))
    spread = np.std([0.1, 0.3, 0.2, 0.2]) / 0.8
    assert (found.value, found.p_value) == (0.6, 0.2)
    assert (found.corrected, found.spread) == pytest.approx((0.5, spread))
    assert not found.is_real(0.01)
    assert Shuffled(0.6, 0.5, 0.1, 0.01).is_real(0.5)
