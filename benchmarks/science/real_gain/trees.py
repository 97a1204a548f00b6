"""Gradient-boosted trees on own columns, on those of the neighbours, and on their labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.preprocessing import normalize

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.evaluation.scores import SCORES, score_for
from heterophily.filters.normalization import NormalizedAdjacency

Floats = NDArray[np.float64]

SETS = {  # blocks of columns
    "trees own": ("own",),
    "trees neighbours' features": ("own", "neighbours"),
    "trees neighbours' labels": ("own", "labels"),
    "trees everything": ("own", "neighbours", "labels"),
}
STEP = 10  # rounds between two looks at the validation nodes


@dataclass(frozen=True, slots=True)
class Trees:
    """Trees on some blocks of columns; the number of rounds is chosen on validation nodes."""

    name: str
    rounds: int
    columns: int

    @property
    def uses_graph(self) -> bool:
        """Whether any block looks at edges."""
        return SETS[self.name] != ("own",)

    def probabilities(self, graph: Graph, split: Split, number: int) -> Floats:
        """Train on a split and return the probability of each class, (N, C)."""
        found = [BLOCKS[block](graph, split, self.columns) for block in SETS[self.name]]
        values = np.hstack(found).astype(np.float32)
        train = np.flatnonzero(split.train)
        model = HistGradientBoostingClassifier(
            max_iter=self.rounds, learning_rate=0.1, max_leaf_nodes=15, l2_regularization=1.0,
            early_stopping=False, random_state=number,
        )  # fmt: skip
        model.fit(values[train], graph.labels[train])
        score = SCORES[score_for(graph.labels)]
        known = graph.labels[split.validation]
        best, kept = -np.inf, 0
        for count, stage in enumerate(model.staged_predict_proba(values[split.validation]), 1):
            if count % STEP == 0:
                value = score(known, _spread(stage, model.classes_, graph.num_classes))
                best, kept = (value, count) if value > best else (best, kept)
        stages = enumerate(model.staged_predict_proba(values), 1)
        chosen = next(stage for count, stage in stages if count == kept)
        return _spread(chosen, model.classes_, graph.num_classes)


def _spread(values: Floats, classes: NDArray[np.int64], count: int) -> Floats:
    """Return probabilities of all classes, also of those without a training node."""
    found = np.zeros((values.shape[0], count))
    found[:, classes] = values
    return found


@lru_cache(maxsize=4)
def own_columns(graph: Graph, columns: int) -> Floats:
    """Return few columns as they are, many projected (rows of length 1, truncated SVD)."""
    features = graph.features
    if features is None:
        return np.zeros((graph.num_nodes, 1))
    if features.shape[1] <= 2 * columns:
        return np.asarray(features.toarray() if sp.issparse(features) else features, np.float64)
    rows = normalize(sp.csr_matrix(features))
    return np.asarray(TruncatedSVD(columns, random_state=0).fit_transform(rows))


def _own(graph: Graph, split: Split, columns: int) -> Floats:
    return own_columns(graph, columns)


def _neighbours(graph: Graph, split: Split, columns: int) -> Floats:
    """Return ÂX, X - ÂX, Â²X and the degree."""
    own = own_columns(graph, columns)
    operator = NormalizedAdjacency.of(graph.adjacency)
    once = operator @ own
    degree = np.diff(graph.adjacency.indptr)[:, None].astype(np.float64)
    return np.hstack([once, own - once, operator @ once, degree])


def _labels(graph: Graph, split: Split, columns: int) -> Floats:
    """Return the shares of the classes among the neighbours that are training nodes.

    A node is not its own neighbour, so its own label is in none of its columns.
    """
    one_hot = np.zeros((graph.num_nodes, graph.num_classes))
    train = np.flatnonzero(split.train)
    one_hot[train, graph.labels[train]] = 1.0
    counts = np.asarray(graph.adjacency @ one_hot)
    total = counts.sum(axis=1, keepdims=True)
    prior = one_hot.sum(axis=0) / train.size
    return np.hstack([(counts + prior) / (total + 1.0), total])


BLOCKS = {"own": _own, "neighbours": _neighbours, "labels": _labels}
