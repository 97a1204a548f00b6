"""Cross-validation over the labelled nodes of a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, KFold, StratifiedKFold

from heterophily.data.graph import Graph
from heterophily.data.interchange.tensors import as_array
from heterophily.errors import InputError
from heterophily.estimators.node_data import is_labelled


class GraphKFold(BaseCrossValidator):  # type: ignore[misc]
    """Divide the labelled nodes into folds; unlabelled nodes stay in the graph, in no fold.

    Use it as ``cv`` of ``cross_val_score`` and ``GridSearchCV`` with an
    :class:`~heterophily.estimators.classifier.AcmClassifier` that has a ``graph``: each fit sees
    the whole graph and the labels of its training nodes, and is scored on the nodes held out.

    Parameters
    ----------
    n_splits
        Number of folds.
    stratified
        Whether each fold has the classes in their proportions.
    random_state
        Seed of the shuffling.

    Examples
    --------
    >>> labels = np.array([0, 1, 0, 1, -1, -1])
    >>> folds = list(GraphKFold(2).split(np.arange(6), labels))
    >>> [sorted(labels[test].tolist()) for train, test in folds]
    [[0, 1], [0, 1]]
    """

    def __init__(
        self, n_splits: int = 5, *, stratified: bool = True, random_state: int | None = 0
    ) -> None:
        self.n_splits, self.stratified, self.random_state = n_splits, stratified, random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Yield (training, test) positions in X.

        X is a graph or node numbers; y has the labels, -1 = unlabelled (default: the graph's).
        """
        if y is None and isinstance(X, Graph):
            y = X.labels
        if y is None:
            raise InputError("GraphKFold needs y, the labels: pass graph.labels")
        labels = as_array(y, "y")
        known = np.flatnonzero(is_labelled(labels))
        if known.size < self.n_splits:
            raise InputError(
                f"n_splits={self.n_splits} but {known.size} nodes have a label; use fewer folds"
            )
        largest = np.unique(labels[known], return_counts=True)[1].max()
        if self.stratified and largest < self.n_splits:
            raise InputError(
                f"n_splits={self.n_splits} but no class has more than {largest} nodes; use fewer "
                "folds, or stratified=False"
            )
        kind = StratifiedKFold if self.stratified else KFold
        folds = kind(self.n_splits, shuffle=True, random_state=self.random_state)
        for train, test in folds.split(known, labels[known]):
            yield known[train], known[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits
