"""The labels of a node's neighbours as columns, cross-fitted: no node ever sees its own label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heterophily.diagnosis.sources import Operator
from heterophily.metrics.label_counts import one_hot_labels

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NeighbourLabels:
    """Weight of neighbours by class, one and two edges away, apart for each fold they are in.

    ``one`` and ``two`` have shape (folds + 1, n, C); the last entry holds the nodes outside the
    sample.
    """

    one: NDArray[np.float32]
    two: NDArray[np.float32]
    fold: Nodes  # (n,)

    @classmethod
    def count(
        cls, operator: Operator, rows: Nodes, labels: Nodes, fold: Nodes, *, num_classes: int
    ) -> NeighbourLabels:
        """Count for ``rows`` (n,), the sample, whose folds are ``fold`` (n,); labels are (N,)."""
        folds = int(fold.max()) + 1
        place = np.full(labels.size, folds)
        place[rows] = fold
        shape = (folds + 1, rows.size, num_classes)
        one, two = np.empty(shape, np.float32), np.empty(shape, np.float32)
        near = operator.adjacency[rows]
        for number in range(folds + 1):
            known = one_hot_labels(labels, num_classes, nodes=place == number)
            signal = known.toarray().astype(np.float32)
            one[number] = near @ signal
            two[number] = operator.mean(operator.mean(signal), rows)
        return cls(one, two, fold)

    def columns(self, test: int, prior: Floats) -> Floats:
        """Return the columns of all n nodes when the labels of fold ``test`` are not known.

        A training node sees the labels of the other training folds, a test node those of all
        training folds. Shares are drawn towards ``prior`` (C,), the more the fewer labels there
        are; how many there are is a column too.
        """
        parts = []
        for counts, weight in ((self.one, 1.0), (self.two, None)):
            nodes = np.arange(self.fold.size)
            seen = counts.sum(axis=0) - counts[test]
            is_training = self.fold != test
            seen[is_training] -= counts[self.fold[is_training], nodes[is_training]]
            total = np.maximum(seen.sum(axis=1, keepdims=True), 0.0)
            pull = weight if weight is not None else 0.5 * float(np.median(total)) + 1e-6
            parts += [(seen + pull * prior) / (total + pull), np.log1p(total / pull)]
        return np.hstack(parts).astype(np.float64)
