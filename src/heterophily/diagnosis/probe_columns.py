"""The columns of the probe: a sample of nodes, its folds, and what each source says about it."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.diagnosis.probe_value import FROM_GRAPH, beside_own
from heterophily.diagnosis.sources import (
    MAX_SKETCHED,
    QUICK_SKETCHED,
    SECRET,
    Operator,
    neighbour_features,
    own_signal,
    structure,
)
from heterophily.evaluation.scores import score_for
from heterophily.filters.neighbour_labels import NeighbourLabels

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

FOLDS = 5
QUICK_NODES = 2_000
TREE_COLUMNS = 32
TREE_NODES = 20_000  # divided by the number of classes, but at least a tenth of it
FEW, SOME = 300, 1_000  # labelled nodes below which the folds are drawn three times, twice


def has_features(graph: Graph) -> bool:
    """Whether a graph has any feature that is not zero."""
    if graph.features is None:
        return False
    values = graph.features.data if sp.issparse(graph.features) else graph.features
    return bool(np.any(values))


def stratified_folds(labels: Nodes, *, folds: int, rng: np.random.Generator) -> Nodes:
    """Return the fold of every node, (n,): each class is dealt out in turn, in random order.

    Fold sizes differ by at most one, and so do the sizes of a class in two folds. A class smaller
    than the number of folds is absent from some folds; a class of one node cannot be learnt when
    its node is tested and counts as an error there.
    """
    order = rng.permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(labels.size, np.int64)
    fold[order] = np.arange(labels.size) % folds
    return fold


def _draw_nodes(
    labels: Nodes, labelled: Nodes, limit: int, score: str, rng: np.random.Generator
) -> Nodes:
    """Draw ``limit`` labelled nodes, in order.

    ROC AUC does not depend on how large the classes are, but needs nodes of both: then a quarter
    of the nodes, where there are so many, is of the rare class.
    """
    order = rng.permutation(labelled)
    if score == "roc-auc":
        counts = np.bincount(labels[labelled])
        is_rare = labels[order] == np.flatnonzero(counts == counts[counts > 0].min())[0]
        rare = order[is_rare]
        kept = rare[: max(limit // 4, limit * rare.size // order.size)]
        order = np.concatenate([kept, order[~is_rare]])
    return np.sort(order[:limit])


class ProbeColumns:
    """The sampled nodes of a graph, their folds, and the columns that each source gives.

    Parameters
    ----------
    graph, labelled
        The graph and its labelled nodes.
    seed
        Of the sample, the folds and the sketches.
    quick
        Use at most 2,000 nodes and draw the folds once.
    max_nodes
        Use at most so many nodes.
    """

    def __init__(
        self, graph: Graph, labelled: Nodes, seed: int, quick: bool, max_nodes: int
    ) -> None:
        self.graph, self.seed, self.quick = graph, seed, quick
        self.rng = np.random.default_rng([SECRET, seed])
        self.notes: list[str] = []
        limit = min(max_nodes, QUICK_NODES) if quick else max_nodes
        self.rows = labelled
        self.score = score_for(graph.labels)
        if labelled.size > limit:
            self.notes.append(f"{limit:,} of {labelled.size:,} labelled nodes, drawn at random")
            self.rows = _draw_nodes(graph.labels, labelled, limit, self.score, self.rng)
        self.num_classes = graph.num_classes
        self.labels = graph.labels[self.rows]
        self.positive = np.unique(graph.labels[labelled])  # of two classes, the one called 1
        self.repeats = 3 if self.rows.size < FEW else 2 if self.rows.size < SOME else 1
        self.repeats = 1 if quick else self.repeats
        present = max(self.positive.size, 2)
        self.thin = max(TREE_NODES // present, TREE_NODES // 10)
        self.sketch = int(self.rng.integers(2**31))
        self._columns()
        self.folds = [self._draw() for _ in range(self.repeats)]

    def _columns(self) -> None:
        self.operator = Operator.of(self.graph)
        self.blocks: dict[str, Floats] = {}
        self.has_features = has_features(self.graph)
        if self.has_features:
            signal = own_signal(self.graph, seed=self.sketch)
            if self.graph.num_features > signal.shape[1]:
                self.notes.append(
                    f"{self.graph.num_features:,} features projected to {signal.shape[1]}"
                )
            low, one, two = neighbour_features(self.operator, signal, self.rows)
            own = signal[self.rows].astype(np.float64)
            self.signal = signal
            self.blocks |= {"own": own, "average": low, "mean": one, "two": two}
        self.blocks["structure"] = structure(
            self.operator,
            self.rows,
            seed=self.sketch,
            max_edges=QUICK_SKETCHED if self.quick else MAX_SKETCHED,
        )

    def _draw(self) -> tuple[Nodes, NeighbourLabels]:
        fold = stratified_folds(self.labels, folds=FOLDS, rng=self.rng)
        counted = NeighbourLabels.count(
            self.operator, self.rows, self.graph.labels, fold, num_classes=self.num_classes
        )
        return fold, counted

    # --- settings -----------------------------------------------------------------------------

    def sources(self) -> tuple[str, ...]:
        """Sources from the graph that this graph has."""
        return FROM_GRAPH if self.has_features else FROM_GRAPH[1:]

    def linear_settings(self) -> dict[str, tuple[str, ...]]:
        """Setting -> blocks, for the linear learner."""
        parts = {
            "own": ("own",),
            "average": ("average",),
            "neighbours": ("mean", "two"),
            "structure": ("structure",),
            "labels": ("labels",),
            "all": ("mean", "two", "structure", "labels"),
        }
        alone = {name: parts[name] for name in ("own", "average") if self.has_features}
        alone |= {name: parts[name] for name in self.sources() if name != "all"}
        with_own = {beside_own(name): ("own", *parts[name]) for name in self.sources()}
        return alone | with_own

    def tree_columns(self, setting: str, labels: Floats) -> Floats:
        """Columns for the trees: of long blocks the leading ones, and differences."""
        blocks, most = self.blocks, TREE_COLUMNS
        if self.has_features and blocks["own"].shape[1] <= 2 * most:
            most = 2 * most  # columns as they are given: all of them
        half = max(most // 2, 1)
        parts: dict[str, list[Floats]] = {
            "structure": [blocks["structure"][:, :TREE_COLUMNS], blocks["structure"][:, -3:]],
            "labels": [labels],
        }
        if self.has_features:
            mean, own = blocks["mean"][:, :half], blocks["own"]
            parts |= {
                "own": [own[:, :most]],
                "average": [blocks["average"][:, :most]],
                "neighbours": [mean, own[:, :half] - mean, blocks["two"][:, :half]],
            }
        if setting.endswith("all"):
            wanted = ["own"] * self.has_features + [s for s in self.sources() if s != "all"]
        else:
            wanted = [name for name in setting.split("+") if name in parts]
        return np.hstack([column for name in wanted for column in parts[name]])

    def prior(self, fold: Nodes, test: int) -> Floats:
        """Class shares of the training folds, (C,)."""
        counts = np.bincount(self.labels[fold != test], minlength=self.num_classes)
        return np.asarray(counts / max(counts.sum(), 1), dtype=np.float64)
