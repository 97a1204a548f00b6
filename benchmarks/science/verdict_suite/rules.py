"""Labels or columns that follow from the neighbours, once features and edges are drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Rule(Protocol):
    """What a node gets from its neighbours."""

    classes: int

    def apply(
        self, adjacency: sp.csr_array, features: Floats, labels: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        """Return the features (N, F) and the labels (N,) of the graph."""
        ...


def neighbour_mean(adjacency: sp.csr_array, values: Floats) -> Floats:
    """Return the mean over the neighbours, 0 for a node without any."""
    degree = adjacency @ np.ones(adjacency.shape[0])
    scale = np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
    return np.asarray(adjacency @ values) * (scale if values.ndim == 1 else scale[:, None])


def bucket(values: Floats, classes: int, noise: float, rng: np.random.Generator) -> Ints:
    """Cut values into classes of equal size; a share ``noise`` of the labels is drawn anew."""
    ranks = np.argsort(np.lexsort((rng.random(values.size), values)))
    labels = ranks * classes // values.size
    drawn = rng.random(values.size) < noise
    labels[drawn] = rng.integers(0, classes, int(drawn.sum()))
    return labels.astype(np.int64)


@dataclass(frozen=True, slots=True)
class NeighboursFeatures:
    """The class is the bucket of the neighbours' mean in the first column."""

    classes: int
    noise: float

    def apply(
        self, adjacency: sp.csr_array, features: Floats, labels: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        mean = neighbour_mean(adjacency, features[:, 0])
        return features, bucket(mean, self.classes, self.noise, rng)


@dataclass(frozen=True, slots=True)
class Difference:
    """The class is the bucket of how far a node lies above its neighbours in the first column."""

    classes: int
    noise: float

    def apply(
        self, adjacency: sp.csr_array, features: Floats, labels: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        values = features[:, 0] - neighbour_mean(adjacency, features[:, 0])
        return features, bucket(values, self.classes, self.noise, rng)


@dataclass(frozen=True, slots=True)
class DegreeBucket:
    """The class is the bucket of the number of neighbours.

    The first column rises by ``shown`` from one class to the next.
    """

    classes: int
    noise: float
    shown: float = 0.0

    def apply(
        self, adjacency: sp.csr_array, features: Floats, labels: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        degree = np.diff(adjacency.indptr).astype(np.float64)
        labels = bucket(degree, self.classes, self.noise, rng)
        shift = np.zeros_like(features)
        shift[:, 0] = self.shown * labels
        return features + shift, labels


@dataclass(frozen=True, slots=True)
class Agreement:
    """The class says whether a node and the mean of its neighbours have the same sign."""

    noise: float
    classes: int = 2

    def apply(
        self, adjacency: sp.csr_array, features: Floats, labels: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        product = features[:, 0] * neighbour_mean(adjacency, features[:, 0])
        return features, bucket(product, self.classes, self.noise, rng)


@dataclass(frozen=True, slots=True)
class Mines:
    """Class 1 is a mine; a node's columns are the number of mines around it, or "hidden"."""

    hidden: float
    classes: int = 2

    def apply(
        self, adjacency: sp.csr_array, features: Floats, labels: Ints, rng: np.random.Generator
    ) -> tuple[Floats, Ints]:
        count = adjacency @ (labels == 1).astype(np.float64)
        is_hidden = rng.random(labels.size) < self.hidden
        return np.column_stack([np.where(is_hidden, 0.0, count), is_hidden]), labels
