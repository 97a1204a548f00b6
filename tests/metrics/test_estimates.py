"""Estimates from a part of the labels."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.aggregation_homophily import aggregation_homophily
from heterophily.metrics.estimates import estimate


@pytest.fixture(scope="module")
def graph() -> Graph:
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, 300)
    features = rng.normal(size=(300, 5)) + labels[:, None]
    return Graph.from_edges(*rng.integers(0, 300, (2, 900)), labels=labels, features=features)


def generator() -> np.random.Generator:
    return np.random.default_rng(7)


def test_all_labels_give_the_metric_itself(graph: Graph) -> None:
    result = estimate("aggregation_homophily", graph, share=1.0, rng=generator())
    assert result.mean == pytest.approx(aggregation_homophily(graph))
    assert result.std == pytest.approx(0.0, abs=1e-15)
    assert result.interval == pytest.approx((result.mean, result.mean))


def test_training_only_uses_no_other_label(graph: Graph) -> None:
    """Changing the labels that a draw does not see changes nothing."""
    seen: list[np.ndarray] = []

    def spy(graph: Graph) -> float:
        seen.append(graph.labels)
        return 0.0

    estimate(spy, graph, share=0.5, repeats=3, rng=generator())
    for labels in seen:
        assert (labels >= 0).sum() == round(0.5 * graph.is_labelled.sum())
        assert (labels[labels >= 0] == graph.labels[labels >= 0]).all()
    assert not np.array_equal(seen[0], seen[1])


def test_the_conventions_are_equal_for_features_and_differ_for_labels(graph: Graph) -> None:
    for name, is_equal in (("feature_similarity", True), ("aggregation_homophily", False)):
        honest, paper = (
            estimate(name, graph, rng=generator(), label_use=use)  # type: ignore[arg-type]
            for use in ("training-only", "all-in-aggregation")
        )
        assert np.allclose(honest.values, paper.values) == is_equal


def test_the_original_graph_keeps_its_labels_and_its_hash(graph: Graph) -> None:
    labels, digest = graph.labels.copy(), graph.content_hash
    hashes: list[str] = []

    def spy(graph: Graph) -> float:
        hashes.append(graph.content_hash)
        return 0.0

    estimate(spy, graph, rng=generator(), repeats=1)
    np.testing.assert_array_equal(graph.labels, labels)
    assert graph.content_hash == digest
    assert hashes[0] != digest


def test_the_interval_lies_within_the_draws_and_holds_the_mean(graph: Graph) -> None:
    result = estimate("node_homophily", graph, rng=generator(), repeats=20)
    low, high = result.interval
    assert result.values.min() <= low <= result.mean <= high <= result.values.max()
    narrow = estimate("node_homophily", graph, rng=generator(), repeats=20, confidence=0.5)
    assert narrow.interval[1] - narrow.interval[0] < high - low


def test_one_seed_gives_one_answer(graph: Graph) -> None:
    first, second = (estimate("edge_homophily", graph, rng=generator()) for _ in range(2))
    np.testing.assert_array_equal(first.values, second.values)


def test_options_reach_the_metric(graph: Graph) -> None:
    plain, divided = (
        estimate("feature_similarity", graph, rng=generator(), normalize_features=flag)
        for flag in (False, True)
    )
    assert not np.array_equal(plain.values, divided.values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 0.0}, "share=0.0"),
        ({"share": 1.5}, "share=1.5"),
        ({"repeats": 0}, "repeats=0"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"label_use": "all"}, "choose 'training-only' or 'all-in-aggregation'"),
        ({"label_use": "all-in-aggregation"}, "not for edge_homophily"),
        ({"share": 0.001}, "draw 1 of 10 with 1 labels: .* use a larger share"),
    ],
)
def test_mistakes_are_named(graph: Graph, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate("edge_homophily", graph, rng=generator(), **options)  # type: ignore[arg-type]


def test_no_labels_is_one_sentence() -> None:
    with pytest.raises(InputError, match="no node has a label"):
        estimate("edge_homophily", Graph.from_edges([0], [1]), rng=generator())
