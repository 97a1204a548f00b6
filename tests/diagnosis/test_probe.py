"""The probe finds the channel that carries the label, and its test is the corrected one."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

from heterophily.data.catalog import load
from heterophily.data.graph import Graph
from heterophily.data.synthetic.edge_homophily import edge_homophily_graph
from heterophily.diagnosis.probe import Comparison, channel_probe, corrected_paired_test
from heterophily.errors import InputError


def blobs(homophily: float, *, noise: float = 0.8, as_sparse: bool = False, seed: int = 0) -> Graph:
    """Two classes of 100 nodes with noisy features and 1,000 edges."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], 100)
    features = np.eye(2)[labels] + noise * rng.normal(size=(200, 2))
    return edge_homophily_graph(
        homophily=homophily,
        edges=1000,
        features=sp.csr_array(features) if as_sparse else features,
        labels=labels,
        rng=rng,
    )


def test_low_pass_wins_on_a_homophilic_graph() -> None:
    probe = channel_probe(blobs(0.9))
    assert probe.comparisons["low_against_own"].is_better
    assert probe.channels["low"].mean > 0.9 > probe.channels["own"].mean


def test_random_edges_hide_the_label_from_low_and_mixing_keeps_it() -> None:
    probe = channel_probe(blobs(0.5, noise=0.2))
    assert probe.comparisons["low_against_own"].is_worse
    assert probe.comparisons["mixed_against_low"].is_better
    assert not probe.comparisons["mixed_against_own"].is_worse


def test_two_sided_graph_is_learnt_from_neighbours() -> None:
    """With two classes and hardly an edge within them, neighbours tell the class: harmless."""
    probe = channel_probe(blobs(0.02))
    assert probe.comparisons["mixed_against_own"].is_better


def test_storage_of_features_does_not_change_the_outcome() -> None:
    assert channel_probe(blobs(0.7)).channels == channel_probe(blobs(0.7, as_sparse=True)).channels


def test_same_seed_same_outcome_and_another_seed_other_folds() -> None:
    graph = blobs(0.7)
    assert channel_probe(graph, seed=1) == channel_probe(graph, seed=1)
    assert channel_probe(graph, seed=1).channels != channel_probe(graph, seed=2).channels


def test_only_labelled_nodes_are_scored_and_unlabelled_neighbours_still_count() -> None:
    graph = blobs(0.95)
    labels = np.where(np.arange(200) % 2 == 0, graph.labels, -1)
    probe = channel_probe(graph.replace(labels=labels))
    assert probe.nodes == 100
    assert probe.comparisons["low_against_own"].is_better


def test_a_sample_of_nodes_is_used_when_there_are_too_many() -> None:
    probe = channel_probe(blobs(0.9), max_nodes=80)
    assert probe.nodes == 80
    assert probe.notes == ("80 of 200 labelled nodes, drawn at random",)


def test_without_features_the_rows_of_the_adjacency_are_probed() -> None:
    probe = channel_probe(load("davis"))
    assert list(probe.channels) == ["own", "low"]
    assert probe.channels["low"].mean > 0.9
    assert probe.combined == "low"


def test_zero_features_are_no_features() -> None:
    davis = load("davis")
    zero = davis.replace(features=np.zeros((32, 3)))
    assert channel_probe(zero).channels == channel_probe(davis).channels


def test_a_class_of_one_node_is_tolerated() -> None:
    graph = blobs(0.9)
    labels = graph.labels.copy()
    labels[0] = 2
    probe = channel_probe(graph.replace(labels=labels, class_names=("a", "b", "lonely")))
    assert 0.9 < probe.channels["low"].mean < 1.0


def test_a_gap_in_the_classes_is_tolerated() -> None:
    graph = blobs(0.9)
    shifted = graph.replace(labels=2 * graph.labels, class_names=("a", "never", "b"))
    assert channel_probe(shifted).channels == channel_probe(graph).channels


def test_too_few_labels_are_refused() -> None:
    graph = blobs(0.9)
    labels = np.full(200, -1)
    labels[95:105] = graph.labels[95:105]
    with pytest.raises(InputError, match="needs 15 labelled nodes, 'synthetic' has 10"):
        channel_probe(graph.replace(labels=labels))


def test_one_large_class_and_single_nodes_are_refused() -> None:
    graph = blobs(0.9)
    labels = np.zeros(200, int)
    labels[0], labels[1] = 1, 2
    with pytest.raises(InputError, match="two classes of at least two nodes"):
        channel_probe(graph.replace(labels=labels, class_names=("a", "b", "c")))


def test_corrected_test_is_wider_than_the_plain_paired_test() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0.80, 0.02, 15), rng.normal(0.78, 0.02, 15)
    plain = float(stats.ttest_rel(first, second).pvalue)
    assert corrected_paired_test(first, second, test_to_train=0.0).p_value == pytest.approx(plain)
    assert corrected_paired_test(first, second, test_to_train=0.25).p_value > plain


def test_corrected_test_by_hand() -> None:
    """Differences 1, 2, 3: mean 2, variance 1; t = 2 / sqrt(1/3 + 1/4) with 2 degrees."""
    found = corrected_paired_test(np.array([1.0, 2, 3]), np.zeros(3), test_to_train=0.25)
    assert found.difference == 2.0
    assert found.p_value == pytest.approx(2 * stats.t.sf(2 / np.sqrt(7 / 12), 2))


def test_differences_without_spread_are_decided() -> None:
    ones, zeros = np.ones(5), np.zeros(5)
    assert corrected_paired_test(ones, zeros, test_to_train=0.25) == Comparison(1.0, 0.0)
    assert corrected_paired_test(ones, ones, test_to_train=0.25) == Comparison(0.0, 1.0)


def test_cora_is_learnt_best_with_its_neighbours(data_folder) -> None:
    probe = channel_probe(load("cora", data_folder=data_folder), repeats=1)
    assert 0.72 < probe.channels["own"].mean < 0.79
    assert 0.84 < probe.channels["low"].mean < 0.90
    assert probe.columns == 256
