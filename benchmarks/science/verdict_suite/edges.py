"""Edges between blocks of nodes: who is linked to whom, how often, and with which weight.

A node belongs to one of K blocks. The end blocks of an edge follow a joint matrix W (K, K) that is
known exactly, so the adjusted homophily and the label informativeness of the population are known
exactly too, and so is the chance M[b, c] = W[b, c] / W[b].sum() that a neighbour of a node in block
b lies in block c.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Matrix = tuple[tuple[float, ...], ...]

WEIGHT_SHAPE = 4.0  # of the gamma distribution of edge weights
SCALING_STEPS = 2000


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of edges: relative odds of each pair of blocks, share of all edges, mean weight."""

    affinity: Matrix
    share: float = 1.0
    weight: float | None = None  # mean of a gamma distribution; None = every edge has weight 1


@dataclass(frozen=True, slots=True)
class EdgeList:
    """Distinct edges without loops; an undirected edge is listed once."""

    source: Ints
    target: Ints
    weight: Floats | None


@dataclass(frozen=True, slots=True)
class BlockEdges:
    """A block model with a given mean degree.

    ``spread`` is the standard deviation of the logarithm of the nodes' attractiveness (degree
    correction), ``isolated`` a share of nodes without any edge, ``volumes`` the relative mean
    degree of each block (default: equal). In a directed graph ``degree`` is the out-degree.
    """

    layers: tuple[Layer, ...]
    degree: float
    spread: float = 0.0
    isolated: float = 0.0
    volumes: tuple[float, ...] | None = None
    is_directed: bool = False

    def masses(self, shares: Floats) -> Floats:
        """Return the share of edge ends in each block, (K,)."""
        mass = shares * (np.ones(shares.size) if self.volumes is None else np.array(self.volumes))
        return mass / mass.sum()

    def joints(self, shares: Floats) -> list[Floats]:
        """Return the joint matrix (K, K) of each layer; all have the same row sums."""
        return [joint(layer.affinity, self.masses(shares)) for layer in self.layers]

    def mean_joint(self, shares: Floats) -> Floats:
        """Return the joint matrix of all layers, each edge counted by its mean weight."""
        parts = [
            layer.share * (1.0 if layer.weight is None else layer.weight) * matrix
            for layer, matrix in zip(self.layers, self.joints(shares), strict=True)
        ]
        total = np.sum(parts, axis=0)
        return total / total.sum()

    def draw(self, blocks: Ints, shares: Floats, rng: np.random.Generator) -> EdgeList:
        """Draw the edges of nodes whose blocks (N,) are given."""
        places = _Places.of(blocks, self._attractiveness(blocks.size, rng), shares.size)
        total = blocks.size * self.degree / (1 if self.is_directed else 2)
        sources, targets, weights = [], [], []
        for layer, matrix in zip(self.layers, self.joints(shares), strict=True):
            count = round(total * layer.share)
            pairs = rng.choice(matrix.size, count, p=matrix.ravel())
            first, second = np.divmod(pairs, shares.size)
            sources.append(places.draw(first, rng))
            targets.append(places.draw(second, rng))
            mean = 1.0 if layer.weight is None else layer.weight
            weights.append(rng.gamma(WEIGHT_SHAPE, mean / WEIGHT_SHAPE, count))
        is_weighted = any(layer.weight is not None for layer in self.layers)
        found = np.concatenate(weights) if is_weighted else None
        return distinct(np.concatenate(sources), np.concatenate(targets), found, self.is_directed)

    def _attractiveness(self, nodes: int, rng: np.random.Generator) -> Floats:
        values = np.exp(self.spread * rng.standard_normal(nodes))
        values[rng.permutation(nodes)[: round(self.isolated * nodes)]] = 0.0
        return values


@dataclass(frozen=True, slots=True)
class Lattice:
    """A square board: a node's neighbours are the up to eight fields around it."""

    is_directed: bool = False

    def draw(self, blocks: Ints, shares: Floats, rng: np.random.Generator) -> EdgeList:
        """Return the edges of the board; nothing is random."""
        side = round(blocks.size**0.5)
        if side * side != blocks.size:
            raise ValueError(f"{blocks.size} nodes do not fill a square board")
        number = np.arange(blocks.size).reshape(side, side)
        steps = [
            (number[:, :-1], number[:, 1:]),
            (number[:-1], number[1:]),
            (number[:-1, :-1], number[1:, 1:]),
            (number[:-1, 1:], number[1:, :-1]),
        ]
        source = np.concatenate([a.ravel() for a, _ in steps])
        target = np.concatenate([b.ravel() for _, b in steps])
        return EdgeList(source, target, None)


@dataclass(frozen=True, slots=True)
class _Places:
    """Nodes in the order of their blocks, to draw one of a block by its attractiveness."""

    order: Ints
    cumulated: Floats  # (N + 1,)
    bounds: Ints  # (K + 1,)

    @classmethod
    def of(cls, blocks: Ints, attractiveness: Floats, count: int) -> _Places:
        order = np.argsort(blocks, kind="stable")
        cumulated = np.concatenate([[0.0], np.cumsum(attractiveness[order])])
        return cls(order, cumulated, np.searchsorted(blocks[order], np.arange(count + 1)))

    def draw(self, blocks: Ints, rng: np.random.Generator) -> Ints:
        low, high = self.cumulated[self.bounds[blocks]], self.cumulated[self.bounds[blocks + 1]]
        value = low + (high - low) * rng.random(blocks.size)
        place = np.searchsorted(self.cumulated, value, side="right") - 1
        return self.order[np.clip(place, self.bounds[blocks], self.bounds[blocks + 1] - 1)]


def distinct(source: Ints, target: Ints, weight: Floats | None, is_directed: bool) -> EdgeList:
    """Return the edges without loops and repetitions."""
    if not is_directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    nodes = int(max(source.max(initial=0), target.max(initial=0))) + 1
    keep = np.unique(source * nodes + target, return_index=True)[1]
    keep = keep[source[keep] != target[keep]]
    return EdgeList(source[keep], target[keep], None if weight is None else weight[keep])


def joint(affinity: Matrix, masses: Floats) -> Floats:
    """Scale the odds of block pairs so that rows and columns sum to the masses (Sinkhorn).

    >>> joint(((1.0, 3.0), (3.0, 1.0)), np.array([0.5, 0.5]))
    array([[0.125, 0.375],
           [0.375, 0.125]])
    """
    matrix = np.array(affinity, np.float64)
    for _ in range(SCALING_STEPS):
        matrix *= (masses / matrix.sum(axis=1))[:, None]
        matrix *= masses / matrix.sum(axis=0)
        if np.abs(matrix.sum(axis=1) - masses).max() < 1e-12:
            break
    else:
        raise ValueError(f"no edges with these odds fill the masses {masses}")
    return matrix / matrix.sum()


def adjusted_homophily(by_class: Floats) -> float:
    """Return the adjusted homophily of a joint matrix of end classes (C, C)."""
    expected = float(by_class.sum(axis=1) @ by_class.sum(axis=0))
    return (float(np.trace(by_class)) - expected) / (1.0 - expected)


def label_informativeness(by_class: Floats) -> float:
    """Return the label informativeness of a joint matrix of end classes (C, C)."""
    rows, columns = by_class.sum(axis=1), by_class.sum(axis=0)
    independent = np.outer(rows, columns)
    used = by_class > 0
    mutual = float((by_class[used] * np.log(by_class[used] / independent[used])).sum())
    return mutual / float(-(rows[rows > 0] * np.log(rows[rows > 0])).sum())
