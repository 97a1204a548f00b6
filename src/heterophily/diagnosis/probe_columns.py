"""The columns of the probe: a sample of nodes, its folds, and what each source says about it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.diagnosis.probe_value import FROM_GRAPH, beside_own
from heterophily.diagnosis.sources import (
    MAX_SKETCHED,
    QUICK_SKETCHED,
    SECRET,
    NeighbourMean,
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


def draw_nodes(
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


class ProbeColumns(ABC):
    """The sampled nodes of a graph, their folds, and the columns that each source gives.

    Who holds the graph fills ``blocks`` (:meth:`_blocks`), counts the labels of neighbours
    (:meth:`_count`) and shows the features of neighbours (:meth:`near`).

    Parameters
    ----------
    labels
        Classes of the sampled nodes, (n,).
    num_classes, present
        Number of classes, and those with a labelled node.
    score
        By which learners are compared.
    seed, rng
        Of the folds and the sketches.
    quick
        Draw the folds once.
    """

    def __init__(
        self,
        labels: Nodes,
        *,
        num_classes: int,
        present: Nodes,
        score: str,
        seed: int,
        quick: bool,
        rng: np.random.Generator,
        notes: list[str],
    ) -> None:
        self.labels, self.num_classes, self.score = labels, num_classes, score
        self.seed, self.quick, self.rng, self.notes = seed, quick, rng, notes
        self.positive = present  # of two classes, the one called 1
        self.repeats = 3 if labels.size < FEW else 2 if labels.size < SOME else 1
        self.repeats = 1 if quick else self.repeats
        self.thin = max(TREE_NODES // max(present.size, 2), TREE_NODES // 10)
        self.sketch = int(self.rng.integers(2**31))
        self.blocks = self._blocks()
        self.has_features = "own" in self.blocks
        self.folds = [self._draw() for _ in range(self.repeats)]

    def _draw(self) -> tuple[Nodes, NeighbourLabels]:
        fold = stratified_folds(self.labels, folds=FOLDS, rng=self.rng)
        return fold, self._count(fold)

    @abstractmethod
    def _blocks(self) -> dict[str, Floats]:
        """Return own, average, mean, two (with features) and structure, (n, D) each."""

    @abstractmethod
    def _count(self, fold: Nodes) -> NeighbourLabels:
        """Return the labels of neighbours, apart for each fold."""

    @abstractmethod
    def near(self) -> tuple[sp.csr_array, NDArray[np.float32]]:
        """Return the edges from the sample to M nodes, (n, M), and their features, (M, D)."""

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


class GraphColumns(ProbeColumns):
    """The columns of a graph in memory.

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
    max_edges
        The sketch of A looks at so many edges; default: by ``quick``.
    """

    def __init__(
        self,
        graph: Graph,
        labelled: Nodes,
        seed: int,
        quick: bool,
        max_nodes: int,
        *,
        max_edges: int | None = None,
    ) -> None:
        self.graph = graph
        self.max_edges = max_edges or (QUICK_SKETCHED if quick else MAX_SKETCHED)
        rng = np.random.default_rng([SECRET, seed])
        notes: list[str] = []
        limit = min(max_nodes, QUICK_NODES) if quick else max_nodes
        self.rows = labelled
        score = score_for(graph.labels)
        if labelled.size > limit:
            notes.append(drawn_note(limit, labelled.size))
            self.rows = draw_nodes(graph.labels, labelled, limit, score, rng)
        super().__init__(
            graph.labels[self.rows],
            num_classes=graph.num_classes,
            present=np.unique(graph.labels[labelled]),
            score=score,
            seed=seed,
            quick=quick,
            rng=rng,
            notes=notes,
        )

    def _blocks(self) -> dict[str, Floats]:
        self.operator = NeighbourMean.of(self.graph)
        blocks: dict[str, Floats] = {}
        if has_features(self.graph):
            self.signal = own_signal(self.graph, seed=self.sketch)
            if self.graph.num_features > self.signal.shape[1]:
                self.notes.append(projected_note(self.graph.num_features, self.signal.shape[1]))
            low, one, two = neighbour_features(self.operator, self.signal, self.rows)
            own = self.signal[self.rows].astype(np.float64)
            blocks |= {"own": own, "average": low, "mean": one, "two": two}
        blocks["structure"] = structure(
            self.operator,
            self.rows,
            seed=self.sketch,
            max_edges=self.max_edges,
        )
        return blocks

    def _count(self, fold: Nodes) -> NeighbourLabels:
        return NeighbourLabels.count(
            self.operator, self.rows, self.graph.labels, fold, num_classes=self.num_classes
        )

    def near(self) -> tuple[sp.csr_array, NDArray[np.float32]]:
        """Return the edges from the sample to all nodes, (n, N), and the own features of those."""
        return self.operator.adjacency[self.rows], self.signal


def drawn_note(drawn: int, labelled: int) -> str:
    """Say that the probe looks at some of the labelled nodes."""
    return f"{drawn:,} of {labelled:,} labelled nodes, drawn at random"


def projected_note(features: int, columns: int) -> str:
    """Say that features were projected."""
    return f"{features:,} features projected to {columns}"
