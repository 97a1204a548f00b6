"""The probe finds what each graph was made to hold, in the source that holds it, and no more."""

from __future__ import annotations

import json

import numpy as np
import pytest
from probed_graphs import blobs, dating, random_edges

from heterophily.data.catalog import load
from heterophily.data.graph import Graph
from heterophily.diagnosis.probe import probe_sources
from heterophily.diagnosis.probe_columns import QUICK_NODES, stratified_folds
from heterophily.diagnosis.probe_value import FROM_GRAPH, SOURCES
from heterophily.errors import InputError


def numbers(probe) -> str:
    return json.dumps(probe.to_dict(), allow_nan=False)


# --- what is found ----------------------------------------------------------------------------


@pytest.mark.parametrize("column", [False, True])
@pytest.mark.parametrize("quick", [False, True])
def test_partners_tell_the_class_with_and_without_a_useless_column(column, quick) -> None:
    """T2: one numeric column that knows nothing must not hide what the edges know."""
    probe = probe_sources(dating(column=column), quick=quick)
    assert probe.gain.value > 0.5
    assert probe.gain.is_better
    assert probe.gains["labels"].is_better
    assert probe.own_score < 0.45


def test_neighbours_alike_help_by_their_features_and_labels() -> None:
    probe = probe_sources(blobs(0.95))
    assert probe.average_loss.is_better
    assert probe.gains["neighbours"].is_better
    assert probe.gains["labels"].is_better


def test_random_edges_lose_what_own_features_know_and_add_nothing() -> None:
    probe = probe_sources(blobs(1 / 3, classes=3, noise=0.3))
    assert probe.average_loss.is_worse
    assert not probe.gain.is_better
    assert probe.gain.high < 0.05


def test_never_alike_helps_although_averaging_harms() -> None:
    probe = probe_sources(blobs(0.0, classes=5, noise=0.4, columns=8))
    assert probe.average_loss.is_worse
    assert probe.gain.is_better


def test_what_only_trees_can_see_is_found_by_trees() -> None:
    """The class is whether two columns have the same sign: no linear classifier knows it."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(500, 2))
    labels = (features[:, 0] * features[:, 1] > 0).astype(np.int64)
    graph = random_edges(labels, edges=800, features=features)
    probe = probe_sources(graph)
    assert probe.own == "trees"
    assert probe.own_score > 0.85
    assert probe.scores["linear"]["own"] < 0.65
    assert not probe.gain.is_better


def test_own_features_below_chance_are_replaced_by_the_largest_class() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [120, 40, 40])
    noise = random_edges(labels, edges=300, features=rng.normal(size=(200, 30)))
    probe = probe_sources(noise, quick=True)
    assert probe.own == "largest class"
    assert probe.own_score == 0.6


def test_the_largest_of_equal_classes_is_right_for_its_share() -> None:
    """The largest class of the training folds is the smallest of the test fold: below chance."""
    probe = probe_sources(load("karate"), quick=True)
    assert probe.scores["largest class"]["own"] == 0.5


def test_a_rare_class_is_scored_by_the_area_under_the_curve() -> None:
    rng = np.random.default_rng(0)
    labels = (rng.random(600) < 0.05).astype(np.int64)
    features = rng.normal(size=(600, 2)) + 1.5 * labels[:, None]
    probe = probe_sources(random_edges(labels, edges=1200, features=features), quick=True)
    assert probe.score == "roc-auc"
    assert probe.scores["largest class"]["own"] == 0.5
    assert probe.own_score > 0.8


# --- how it is done ---------------------------------------------------------------------------


def test_every_source_is_tried_alone_and_beside_own_features() -> None:
    probe = probe_sources(blobs(0.9), quick=True)
    alone = {"own", "average", "neighbours", "structure", "labels"}
    beside = {f"own+{source}" for source in FROM_GRAPH}
    assert set(probe.scores["linear"]) == alone | beside
    assert list(probe.gains) == list(FROM_GRAPH)
    assert set(SOURCES) == alone | {"all"}
    assert probe.candidates == len(FROM_GRAPH)


def test_quick_asks_no_trees_and_looks_at_few_nodes() -> None:
    probe = probe_sources(blobs(0.9, nodes=2400, edges=5000), quick=True)
    assert "trees" not in probe.scores
    assert (probe.nodes, probe.tree_nodes, probe.repeats) == (QUICK_NODES, 0, 1)
    assert probe.notes == ("2,000 of 2,400 labelled nodes, drawn at random",)


def test_small_graphs_are_cross_validated_three_times() -> None:
    assert probe_sources(load("davis")).repeats == 3
    assert probe_sources(blobs(0.9, nodes=400)).repeats == 2


def test_a_sample_of_the_nodes_finds_nearly_the_same() -> None:
    graph = blobs(0.7, nodes=1200, edges=6000)
    whole, part = probe_sources(graph, quick=True), probe_sources(graph, quick=True, max_nodes=600)
    assert part.nodes == 600
    assert part.own_score == pytest.approx(whole.own_score, abs=0.06)
    assert part.gain.value == pytest.approx(whole.gain.value, abs=0.1)


def test_a_rare_class_keeps_enough_nodes_in_a_sample() -> None:
    """0.5 % of 8,000 nodes: of 400 drawn at random two would be of the rare class."""
    rng = np.random.default_rng(0)
    labels = (np.arange(8000) < 40).astype(np.int64)
    features = rng.normal(size=(8000, 2)) + 2.0 * labels[:, None]
    graph = random_edges(labels, edges=9000, features=features)
    probe = probe_sources(graph, quick=True, max_nodes=400)
    assert probe.nodes == 400
    assert probe.own_score > 0.85
    assert probe.gain.high - probe.gain.low < 0.2


def test_wide_features_are_projected_and_that_is_told() -> None:
    rng = np.random.default_rng(0)
    graph = blobs(0.9, nodes=200, features=rng.normal(size=(200, 300)))
    assert "300 features projected to 128" in probe_sources(graph, quick=True).notes


def test_the_same_seed_gives_the_same_numbers_and_another_one_other_folds() -> None:
    graph = blobs(0.6)
    assert numbers(probe_sources(graph, seed=1)) == numbers(probe_sources(graph, seed=1))
    first, second = (probe_sources(graph, seed=s, quick=True) for s in (1, 2))
    assert numbers(first) != numbers(second)


def test_unlabelled_nodes_still_give_their_features() -> None:
    """Half the nodes have no label; their features are averaged with all others."""
    graph = blobs(0.95)
    known = np.arange(300) % 4 < 2
    probe = probe_sources(graph.replace(labels=np.where(known, graph.labels, -1)), quick=True)
    assert probe.nodes == 150
    hidden = graph.replace(
        labels=np.where(known, graph.labels, -1),
        features=np.where(known[:, None], graph.features, 0.0),
    )
    without = probe_sources(hidden, quick=True)
    assert probe.scores["linear"]["neighbours"] > without.scores["linear"]["neighbours"] + 0.02


def test_how_features_are_stored_does_not_matter() -> None:
    import scipy.sparse as sp

    dense = blobs(0.8)
    sparse = dense.replace(features=sp.csr_array(dense.features))
    first, second = (probe_sources(g, quick=True).scores["linear"] for g in (dense, sparse))
    assert first == pytest.approx(second, abs=0.02)


def test_a_column_far_from_zero_and_nodes_without_neighbours_do_not_hide_the_mean() -> None:
    """Years around 2000: no neighbours mean the average year, not the year 0."""
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    features = (2000 + 3 * labels + 3 * rng.normal(size=400))[:, None]
    inside = blobs(0.9, nodes=400, edges=1200)
    matrix = inside.adjacency.tocoo()
    kept = (matrix.row >= 150) & (matrix.col >= 150)  # the first 150 nodes are alone
    graph = Graph.from_edges(
        matrix.row[kept], matrix.col[kept], num_nodes=400, labels=labels, features=features
    )
    found = probe_sources(graph, quick=True).scores["linear"]
    assert found["own+neighbours"] > found["own"] + 0.1


# --- odd graphs -------------------------------------------------------------------------------


def test_without_features_sources_are_compared_with_the_largest_class() -> None:
    probe = probe_sources(load("davis"))
    assert not probe.has_features
    assert probe.average_loss is None
    assert list(probe.gains) == ["structure", "labels", "all"]
    assert probe.own == "largest class"
    assert probe.gains["structure"].is_better


def test_zero_features_are_no_features() -> None:
    davis = load("davis")
    zero = davis.replace(features=np.zeros((32, 3)))
    assert numbers(probe_sources(zero)) == numbers(probe_sources(davis))


@pytest.mark.parametrize("row", [[1.0], [1.0, 2.0, 3.0]])
def test_equal_rows_know_nothing_and_do_no_harm(row: list[float]) -> None:
    probe = probe_sources(blobs(0.95, features=np.tile(row, (300, 1))))
    assert probe.own_score == 0.5
    assert probe.gains["neighbours"].value == 0.0
    assert probe.gains["labels"].is_better


def test_duplicated_nodes_are_finite() -> None:
    graph = blobs(0.9, nodes=60, edges=200)
    matrix = graph.adjacency.tocoo()
    twice = Graph.from_edges(
        np.concatenate([matrix.row, matrix.row + 60]),
        np.concatenate([matrix.col, matrix.col + 60]),
        labels=np.tile(graph.labels, 2),
        features=np.tile(graph.features, (2, 1)),
    )
    numbers(probe_sources(twice))


def test_labels_on_isolated_nodes_only_gain_nothing() -> None:
    rng = np.random.default_rng(0)
    labels = np.array([0, 1] * 30 + [-1] * 10)
    features = np.column_stack([labels, rng.normal(size=70)])
    graph = Graph.from_edges(range(60, 69), range(61, 70), labels=labels, features=features)
    probe = probe_sources(graph)
    assert not probe.gain.is_better
    assert probe.average_loss.value == pytest.approx(0.0)


def test_two_classes_of_eight_nodes_give_wide_limits() -> None:
    graph = blobs(0.5, nodes=16, edges=30)
    probe = probe_sources(graph)
    assert probe.gain.high - probe.gain.low > 0.3
    assert -1.5 < probe.gain.low < probe.gain.high < 1.5


def test_twenty_classes_are_learnt() -> None:
    probe = probe_sources(blobs(0.8, classes=20, nodes=400, columns=20, noise=0.5), quick=True)
    assert probe.gains["labels"].is_better
    assert probe.scores["largest class"]["own"] == 0.05


def test_a_class_of_one_node_is_one_error() -> None:
    graph = blobs(0.95)
    labels = graph.labels.copy()
    labels[0] = 2
    probe = probe_sources(graph.replace(labels=labels, class_names=("a", "b", "lonely")))
    assert 0.9 < probe.own_score + probe.gain.value < 1.0


@pytest.mark.parametrize("names", [("a", "b", "never"), ("never", "a", "b")])
def test_a_class_without_nodes_changes_nothing(names: tuple[str, ...]) -> None:
    """Its column of scores is there, and no node is given that class."""
    graph = blobs(0.8)
    shifted = graph.labels + names.index("a")
    named = graph.replace(labels=shifted, class_names=names)
    first, second = (probe_sources(g, quick=True) for g in (graph, named))
    assert second.scores["linear"] == pytest.approx(first.scores["linear"], abs=0.011)


def test_classes_that_the_sample_misses_are_tolerated() -> None:
    graph = blobs(0.95, nodes=600, classes=3)
    labels = graph.labels.copy()
    labels[labels == 2] = 0
    labels[0] = 2
    probe = probe_sources(graph.replace(labels=labels), quick=True, max_nodes=60)
    assert probe.nodes == 60
    assert np.isfinite(probe.own_score)


@pytest.mark.parametrize("weighted", [False, True])
def test_directed_weighted_graphs_with_loops_are_finite(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(
        *rng.integers(0, 100, (2, 300)),
        weight=rng.uniform(0.1, 3, 300) if weighted else None,
        direction="keep",
        self_loops="keep",
        labels=np.arange(100) % 3,
        features=rng.normal(size=(100, 2)),
    )
    numbers(probe_sources(graph))


# --- refusals ---------------------------------------------------------------------------------


def test_too_few_labelled_nodes_are_refused() -> None:
    labels = np.full(300, -1)
    labels[:10] = blobs(0.9).labels[:10]
    with pytest.raises(InputError, match="the probe needs 15 labelled nodes, 'blobs' has 10"):
        probe_sources(blobs(0.9, labels=labels))


def test_one_large_class_and_small_ones_are_refused() -> None:
    labels = np.zeros(300, np.int64)
    labels[:4] = 1
    with pytest.raises(InputError, match="two classes of at least 5 labelled nodes in 'blobs'"):
        probe_sources(blobs(0.9, labels=labels))


# --- folds ------------------------------------------------------------------------------------


def test_folds_are_balanced_in_size_and_class() -> None:
    labels = np.repeat([0, 1, 2], [3, 50, 18])
    fold = stratified_folds(labels, folds=5, rng=np.random.default_rng(0))
    sizes = np.bincount(fold, minlength=5)
    assert sizes.max() - sizes.min() <= 1
    for number in range(3):
        share = np.bincount(fold[labels == number], minlength=5)
        assert share.max() - share.min() <= 1


def test_folds_are_drawn_anew() -> None:
    labels, rng = np.arange(100) % 2, np.random.default_rng(0)
    first, second = (stratified_folds(labels, folds=5, rng=rng) for _ in range(2))
    assert (first != second).any()


# --- real graphs ------------------------------------------------------------------------------


def test_cora_is_learnt_best_with_its_neighbours(data_folder) -> None:
    probe = probe_sources(load("cora", data_folder=data_folder), quick=True)
    assert 0.68 < probe.own_score < 0.78
    assert probe.average_loss.is_better
    assert 0.08 < probe.gain.value < 0.2
