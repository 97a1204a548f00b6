"""The best possible rule of a block model: the posterior under the true parameters.

A source of information is a matrix Q (N, K): how well what is seen of a node fits each block. Seen
through its neighbours, a node i of block b has the likelihood

    prod over edges (i, j) of  sum over blocks c of  M[b, c] Q[j, c]

where M[b, c] is the chance that a neighbour lies in block c, with weights the chance that it does
and the edge weighs so much. Neighbours' labels, features and blocks ("structure": which nodes they
are, for someone who knows every node's block) differ in Q only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp
from scipy.stats import gamma

from verdict_suite.edges import WEIGHT_SHAPE, BlockEdges, EdgeList
from verdict_suite.generate import Recipe, Sample

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TINY = 1e-300
QUADRATURE = 25


def own_density(sample: Sample) -> Floats:
    """Return log p(x | b) of each node and block, (N, K)."""
    recipe = sample.recipe
    total = np.zeros((sample.blocks.size, len(recipe.shares)))
    for columns, values in zip(recipe.columns, sample.parts, strict=True):
        groups, count = recipe.groups(columns)
        total += columns.log_density(values, count)[:, groups]
    return total


def neighbour_density(sample: Sample, evidence: Floats) -> Floats:
    """Return the log likelihood (N, K) of what is seen of the neighbours, ``evidence`` (N, K)."""
    recipe, edges = sample.recipe, sample.edges
    model = recipe.edges
    assert isinstance(model, BlockEdges)
    total = np.zeros_like(evidence)
    forward, backward = (edges.source, edges.target), (edges.target, edges.source)
    for (node, neighbour), is_reversed in ((forward, False), (backward, True)):
        likelihood = np.zeros((node.size, evidence.shape[1]))
        for (layer, matrix), density in zip(
            zip(model.layers, model.joints(recipe.block_shares), strict=True),
            weight_densities(model, edges),
            strict=True,
        ):
            used = matrix.T if is_reversed else matrix
            chances = used / used.sum(axis=1, keepdims=True)
            likelihood += layer.share * density[:, None] * (evidence[neighbour] @ chances.T)
        logs = np.log(np.maximum(likelihood, TINY))
        for block in range(logs.shape[1]):
            total[:, block] += np.bincount(node, logs[:, block], minlength=total.shape[0])
    return total


def weight_densities(model: BlockEdges, edges: EdgeList) -> list[Floats]:
    """Return for each layer the density of each edge's weight, (E,)."""
    if edges.weight is None:
        return [np.ones(edges.source.size) for _ in model.layers]
    means = [1.0 if layer.weight is None else layer.weight for layer in model.layers]
    return [gamma.pdf(edges.weight, WEIGHT_SHAPE, scale=mean / WEIGHT_SHAPE) for mean in means]


def degree_density(sample: Sample) -> Floats:
    """Return the log likelihood (N, K) of the number of neighbours: Poisson, mixed by the spread.

    Zero where all blocks have the same mean degree: then the number tells nothing.
    """
    recipe, model = sample.recipe, sample.recipe.edges
    assert isinstance(model, BlockEdges)
    shares = recipe.block_shares
    if model.volumes is None:
        return np.zeros((sample.blocks.size, shares.size))
    mean = model.degree * model.masses(shares) / shares  # (K,)
    degree = np.diff(sample.adjacency.indptr)
    points, weights = np.polynomial.hermite_e.hermegauss(QUADRATURE)
    factor = np.exp(model.spread * points - model.spread**2 / 2)
    rate = mean[:, None] * factor  # (K, Q)
    values = np.arange(int(degree.max()) + 1)
    logs = values[:, None, None] * np.log(rate) - rate - gammaln(values + 1)[:, None, None]
    table = logsumexp(logs, axis=2, b=weights / weights.sum())  # (max degree + 1, K)
    return np.asarray(table[degree])


def posteriors(sample: Sample) -> dict[str, Floats]:
    """Return for each source of information the posterior of the classes, (N, C)."""
    recipe = sample.recipe
    prior = np.log(recipe.block_shares)
    own, degree = own_density(sample), degree_density(sample)
    seen = np.exp(own - own.max(axis=1, keepdims=True))
    by_label = (recipe.class_of == sample.labels[:, None]).astype(np.float64)
    by_block = np.eye(len(recipe.shares))[sample.blocks]
    features, labels, structure = (
        neighbour_density(sample, evidence) for evidence in (seen, by_label, by_block)
    )
    together = neighbour_density(sample, by_label * seen)
    logs = {
        "own": prior + own,
        "neighbours_features": prior + features,
        "neighbours_labels": prior + degree + labels,
        "structure": prior + degree + structure,
        "own_features": prior + own + features,
        "own_labels": prior + own + degree + together,
        "everything": prior + own + degree + structure,
    }
    return {name: by_class(recipe, values) for name, values in logs.items()}


def by_class(recipe: Recipe, logs: Floats) -> Floats:
    """Sum the posterior of the blocks (N, K) over the blocks of each class, (N, C)."""
    values = np.exp(logs - logs.max(axis=1, keepdims=True))
    values /= values.sum(axis=1, keepdims=True)
    return np.asarray(values @ np.eye(recipe.num_classes)[recipe.class_of])


def averaged_columns(sample: Sample) -> Floats | None:
    """Return the few columns of ÂX (N, D) that averaging over neighbours is judged by.

    Of ÂX only the directions in which the groups' means differ can tell a class, as the noise
    around the means is alike in all directions.
    """
    recipe, kept = sample.recipe, []
    for columns, values in zip(recipe.columns, sample.parts, strict=True):
        kept.append(columns.linear(values, recipe.groups(columns)[1]))
    values = np.hstack(kept) if kept else np.zeros((sample.blocks.size, 0))
    return average(sample, values) if values.shape[1] else None


def average(sample: Sample, values: Floats) -> Floats:
    """Return ÂX, the mean over a node and its (out-)neighbours, edges counted by weight."""
    total = 1.0 + sample.adjacency @ np.ones(values.shape[0])
    return np.asarray((values + sample.adjacency @ values) / total[:, None])
