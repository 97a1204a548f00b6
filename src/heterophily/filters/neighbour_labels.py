"""The labels of a node's neighbours as columns, cross-fitted: no node ever sees its own label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]


class MeanOperator(Protocol):
    """A graph without loops, and the mean over neighbours, D⁻¹A."""

    @property
    def adjacency(self) -> sp.csr_array:
        """A, (N, N)."""
        ...

    def mean(self, signal: Any, rows: Nodes | None = None) -> Any:
        """Return the mean of a signal (N, K) over neighbours, for all nodes or some; 0 for none."""
        ...


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
        cls, operator: MeanOperator, rows: Nodes, labels: Nodes, fold: Nodes, *, num_classes: int
    ) -> NeighbourLabels:
        """Count for ``rows`` (n,), the sample, whose folds are ``fold`` (n,); labels are (N,)."""
        folds = int(fold.max()) + 1
        place = np.full(labels.size, folds)
        place[rows] = fold
        shape = (folds + 1, rows.size, num_classes)
        one, two = np.empty(shape, np.float32), np.empty(shape, np.float32)
        near = operator.adjacency[rows]
        for number in range(folds + 1):
            known = np.flatnonzero((place == number) & (labels >= 0))
            signal = np.zeros((labels.size, num_classes), np.float32)
            signal[known, labels[known]] = 1.0
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
        for counts, is_count in ((self.one, True), (self.two, False)):
            seen = self._seen(counts, test)
            total = seen.sum(axis=1, keepdims=True)
            some = total[total > 0]
            pull = 1.0 if is_count or not some.size else 0.5 * float(np.median(some))
            parts += [(seen + pull * prior) / (total + pull), np.log1p(total / pull)]
        return np.hstack(parts)

    def _seen(self, counts: NDArray[np.float32], test: int) -> Floats:
        """Return what each node may see, (n, C). Sums, no differences: rounding tells nothing."""
        seen = np.empty(counts.shape[1:])
        for mine in range(counts.shape[0] - 1):
            nodes = np.flatnonzero(self.fold == mine)
            others = np.setdiff1d(np.arange(counts.shape[0]), [mine, test])
            seen[nodes] = counts[np.ix_(others, nodes)].sum(axis=0)
        return seen
