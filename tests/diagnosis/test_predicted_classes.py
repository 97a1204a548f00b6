"""With few labels, predicted classes of neighbours tell what labelled edges are too few to tell."""

from __future__ import annotations

import numpy as np
from probed_graphs import blobs

from heterophily.data.graph import Graph
from heterophily.diagnosis.predicted_classes import predicted_informativeness
from heterophily.diagnosis.probe_columns import stratified_folds
from heterophily.diagnosis.shuffle import Shuffled, edge_chance
from heterophily.diagnosis.sources import NeighbourMean

FOLDS = 5


def predicted(graph: Graph, *, share: float, errors: float = 0.0, seed: int = 0) -> Shuffled:
    """Return what predictions tell that are wrong for this share of the nodes."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(graph.num_nodes, int(share * graph.num_nodes), replace=False))
    labels = graph.labels[rows]
    fold = stratified_folds(labels, folds=FOLDS, rng=rng)
    classes = graph.num_classes
    guesses = []
    for _ in range(FOLDS):
        wrong = rng.random(graph.num_nodes) < errors
        guesses.append(np.where(wrong, rng.integers(0, classes, graph.num_nodes), graph.labels))
    return predicted_informativeness(
        NeighbourMean.of(graph).adjacency[rows], labels, fold, guesses, num_classes=classes, rng=rng
    )


def test_never_alike_is_seen_with_five_percent_of_the_labels() -> None:
    graph = blobs(0.0, nodes=1200, classes=3, edges=4000)
    known = np.random.default_rng(0).random(1200) < 0.05
    labelled = edge_chance(graph.replace(labels=np.where(known, graph.labels, -1)))
    found = predicted(graph, share=0.05, errors=0.2)
    assert labelled.edges < 30
    assert not labelled.informativeness.is_real(0.01)
    assert found.is_real(0.01)


def test_random_edges_tell_nothing_however_good_the_predictions() -> None:
    graph = blobs(1 / 3, nodes=1200, classes=3, edges=4000)
    found = [predicted(graph, share=0.05, seed=seed) for seed in range(8)]
    assert abs(np.mean([one.corrected for one in found])) < 0.02
    assert sum(one.is_real(0.01) for one in found) <= 1


def test_wrong_predictions_dilute_and_never_invent() -> None:
    graph = blobs(0.9, nodes=900, classes=3, edges=4000)
    right, half, noise = (predicted(graph, share=0.3, errors=e).corrected for e in (0.0, 0.5, 1.0))
    assert right > half > noise
    assert abs(noise) < 0.02


def test_with_all_labels_and_perfect_predictions_it_is_label_informativeness() -> None:
    graph = blobs(0.7, nodes=300, classes=3)
    found = predicted(graph, share=1.0)
    assert abs(found.value - edge_chance(graph).informativeness.value) < 1e-6
