r"""Means of the similarity matrix S(F, X) over classes, without S and without F X.

Definitions 1 and 2 of the paper compare, for a node v, the mean of
:math:`S(F, X)_{vu} = (FX)_v \cdot (FX)_u` over the nodes u of its class with the mean over all
other nodes. Both follow from the class sums :math:`G = Z^\top F X` (C x F): the sum of S over
class k is :math:`W_{vk} = (F X G^\top)_{vk}`. With :math:`F = a I + b \hat A`,

.. math:: G = \bigl(F^\top Z\bigr)^\top X, \qquad W = F\,(X G^\top),

so only N x C and C x F matrices are formed, in O((nnz(A) + nnz(X)) C).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from heterophily.data.graph import Graph
from heterophily.errors import InputError, UndefinedError
from heterophily.filters.filter import Filter
from heterophily.filters.normalization import Normalization, NormalizedAdjacency
from heterophily.metrics.label_counts import label_counts, need_labels, one_hot_labels
from heterophily.metrics.neighbour_classes import count_threads
from heterophily.native.edges import label_means

_LARGEST = 1e30  # of a feature; beyond it, or below its inverse, products leave the range of floats
_WIDEST = 1e270  # times that one row may be longer than another; beyond, the short one is lost
_SMALLEST_SQUARE = 1e-250
_WIDE = 1e5  # times that one row may be longer than another under the plain bound
_ZERO = 1e-13  # of its bound, up to which a row is zero
_BLOCK = 4096  # rows worked on at a time, so that temporary arrays stay small


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """Mean similarity of each node to its own class and to all other nodes.

    Only the rows of ``is_compared`` mean something. ``scale`` bounds both means from above, before
    anything cancels: rounding is a small multiple of it. ``is_zero`` marks rows that are zero, or
    that cancel to zero up to rounding; None where nobody asked.
    """

    own: NDArray[np.float64]  # (N,)
    other: NDArray[np.float64]  # (N,)
    scale: NDArray[np.float64]  # (N,)
    is_compared: NDArray[np.bool_]  # (N,)
    is_zero: NDArray[np.bool_] | None = None  # (N,): nothing is left of the node's row of F X


def compared_nodes(graph: Graph, nodes: ArrayLike | None, metric: str) -> NDArray[np.bool_]:
    """Return the mask of nodes that are compared: labelled, and in ``nodes`` if given."""
    need_labels(graph, metric, classes=2)
    if nodes is None:
        return graph.is_labelled
    mask = np.asarray(nodes)
    if mask.dtype != np.bool_ or mask.shape != (graph.num_nodes,):
        raise InputError(
            f"nodes must be a mask of {graph.num_nodes} booleans, got {mask.dtype} of shape "
            f"{mask.shape}"
        )
    mask = mask & graph.is_labelled
    if np.unique(graph.labels[mask]).size < 2:
        raise UndefinedError(
            f"{metric} of {graph.name!r}",
            "it compares classes, and the compared nodes have fewer than two",
        )
    return mask


def label_class_means(
    graph: Graph,
    *,
    filter: Filter,
    normalization: Normalization,
    renormalize: bool,
    is_compared: NDArray[np.bool_],
) -> ClassMeans:
    """Return the class means of S(F, Z): X is the one-hot label matrix of the labelled nodes."""
    counts = label_counts(graph)
    operator = NormalizedAdjacency.of(
        graph.adjacency, kind=normalization, renormalize=renormalize, row_sums=counts.rows.degrees
    )
    if operator.right is None:  # random walk: A Z is counted already
        rows, weight = counts.neighbours, filter.aggregate * operator.left
        diagonal = operator.loop * weight + filter.identity
    else:
        rows = operator @ counts.one_hot.toarray()
        weight = np.full(graph.num_nodes, filter.aggregate)
        diagonal = np.full(graph.num_nodes, filter.identity)
    return _label_means(rows, weight, diagonal, graph.labels, is_compared)


def _label_means(
    rows: NDArray[np.float64],
    weight: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    labels: NDArray[np.int64],
    is_compared: NDArray[np.bool_],
) -> ClassMeans:
    """Return the means for a signal ``weight_v rows_v + diagonal_v e(z_v)``, which is not formed.

    With the class sums G (C x C), S summed over class k is ``signal_v . G_k``; the sum over the
    other classes needs ``sum of G_m, m != k``, a C x C matrix too.
    """
    num_classes = rows.shape[1]
    # One column for each node; those that are not compared weigh nothing in class 0.
    classes, columns = np.maximum(labels, 0), np.arange(labels.size + 1)
    members = sp.csc_array((weight * is_compared, classes, columns), (num_classes, labels.size))
    class_sums = np.asarray(members @ rows)
    class_sums += np.diag(np.bincount(classes, diagonal * is_compared, num_classes))
    others = (1.0 - np.eye(num_classes)) @ class_sums
    sizes = np.bincount(classes, is_compared, num_classes)
    own_mean = class_sums / np.maximum(sizes, 1)[:, None]
    other_mean = others / np.maximum(sizes.sum() - sizes, 1)[:, None]
    given = (rows, weight, diagonal, labels, own_mean, other_mean)
    dots = label_means(*given, threads=count_threads(rows.size)) or label_dots(*given)
    return ClassMeans(*dots, np.ones(labels.size), is_compared)


def label_dots(
    rows: NDArray[np.float64],
    weight: NDArray[np.float64],
    diagonal: NDArray[np.float64],
    labels: NDArray[np.int64],
    own_mean: NDArray[np.float64],
    other_mean: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return with NumPy what :func:`~heterophily.native.edges.label_means` does natively.

    The values of unlabelled nodes mean nothing.
    """
    own, other = np.empty(labels.size), np.empty(labels.size)
    for at in range(0, labels.size, _BLOCK):
        block = slice(at, at + _BLOCK)
        of_block = labels[block]
        for result, mean in ((own, own_mean), (other, other_mean)):
            dots = np.einsum("vc,vc->v", rows[block], mean.take(of_block, axis=0))
            dots *= weight[block]
            dots += diagonal[block] * np.diag(mean).take(of_block)
            result[block] = dots
    return own, other


def feature_class_means(
    graph: Graph,
    *,
    filter: Filter,
    normalization: Normalization,
    renormalize: bool,
    normalize_features: bool,
    is_compared: NDArray[np.bool_],
    metric: str,
) -> ClassMeans:
    """Return the class means of S(F, X); X may have each row divided by its L1 norm."""
    features = graph.features
    if features is None:
        raise UndefinedError(f"{metric} of {graph.name!r}", "the graph has no features")
    features = _in_range(features, normalize_features, f"{metric} of {graph.name!r}")
    norms, row_scale = _row_norms(features, normalize_features)
    if not norms[is_compared].any():
        raise UndefinedError(
            f"{metric} of {graph.name!r}", "the features of all labelled nodes are zero"
        )
    operator = None
    if filter.aggregate:
        operator = NormalizedAdjacency.of(
            graph.adjacency, kind=normalization, renormalize=renormalize
        )

    members = one_hot_labels(graph.labels, graph.num_classes, nodes=is_compared).toarray()
    spread = filter.identity * members  # (N, C): Fᵀ Z
    if operator is not None:
        spread += filter.aggregate * operator.transpose_matmul(members)
    if row_scale is not None:
        spread *= row_scale[:, None]
    sums = _times_class_sums(features, spread)  # (N, C): X Gᵀ
    if row_scale is not None:
        sums *= row_scale[:, None]
    affinity = filter.identity * sums
    bound = abs(filter.identity) * norms
    if operator is not None:
        affinity += filter.aggregate * (operator @ sums)
        bound = bound + abs(filter.aggregate) * (operator @ norms)
    sizes, totals = (
        np.bincount(graph.labels[is_compared], weights=weights, minlength=graph.num_classes)
        for weights in (None, bound[is_compared])
    )
    class_bound = (totals / np.maximum(sizes, 1)).max()
    scale = bound * class_bound
    positive = norms[is_compared & (norms > 0)]
    if positive.max() > _WIDE * positive.min():  # or one large row would blur all small ones
        spread = abs(filter.identity) * members
        if operator is not None:
            spread += abs(filter.aggregate) * operator.transpose_matmul(members)
        spread /= np.maximum(sizes, 1)
        if row_scale is not None:
            spread *= row_scale[:, None]
        sums = _times_class_sums(abs(features), spread)
        if row_scale is not None:
            sums *= row_scale[:, None]
        largest = abs(filter.identity) * sums
        if operator is not None:
            largest += abs(filter.aggregate) * (operator @ sums)
        scale = largest.max(axis=1)
    found = _feature_means(affinity, scale, graph.labels, is_compared)
    return replace(found, is_zero=_zero_rows(features, operator, filter, row_scale, bound))


def _zero_rows(
    features: Any,
    operator: NormalizedAdjacency | None,
    filter: Filter,
    row_scale: NDArray[np.float64] | None,
    bound: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which rows of F X are zero, without F X: a zero row is orthogonal to any vector.

    Two random vectors tell: to be orthogonal to both by chance has probability zero. ``bound`` (N,)
    is what the length of a row could be at most, so rounding is a small multiple of it.
    """
    probes = np.random.default_rng(0).normal(size=(features.shape[1], 2))
    signal = np.asarray(features @ probes, dtype=np.float64)  # (N, 2)
    if row_scale is not None:
        signal *= row_scale[:, None]
    found = filter.identity * signal
    if operator is not None:
        found = found + filter.aggregate * (operator @ signal)
    length = float(np.linalg.norm(probes))
    return np.asarray((np.abs(found) <= _ZERO * length * bound[:, None]).all(axis=1))


def _in_range(features: Any, normalize: bool, quantity: str) -> Any:
    """Return features whose products stay within floating-point numbers; the same comparison.

    The sign of a gap has no unit. Rows that are normalised anyway are divided one by one; others
    are divided by one number, and refused where the shortest row would vanish beside the longest.
    """
    peaks = _row_peaks(features)
    largest = float(peaks.max(initial=0.0))
    if normalize:
        is_odd = (peaks > _LARGEST) | ((peaks > 0) & (peaks < 1 / _LARGEST))
        return _divide_rows(features, np.where(is_odd, peaks, 1.0)) if is_odd.any() else features
    if largest and float(peaks[peaks > 0].min()) * _WIDEST < largest:
        raise UndefinedError(
            quantity,
            f"its features range from {float(peaks[peaks > 0].min()):.0e} to {largest:.0e}, too "
            "widely for floating-point numbers; scale the columns first",
        )
    if 1 / _LARGEST <= largest <= _LARGEST or not largest:
        return features
    return _divide_rows(features, np.full(peaks.size, largest))


def _row_peaks(features: Any) -> NDArray[np.float64]:
    """Return the largest absolute value of each row, (N,)."""
    if features.shape[1] == 0:
        return np.zeros(features.shape[0])
    if sp.issparse(features):
        found = abs(features).max(axis=1)
        return np.asarray(found.toarray(), np.float64).reshape(-1)
    return np.asarray(np.maximum(features.max(axis=1), -features.min(axis=1)), np.float64)


def _divide_rows(features: Any, divisors: NDArray[np.float64]) -> Any:
    if not sp.issparse(features):
        return features.astype(np.float64) / divisors[:, None]
    found = features.astype(np.float64)
    found.data /= np.repeat(divisors, np.diff(found.indptr))
    return found


def _times_class_sums(features: Any, spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return X (Xᵀ spread) in float64, shape (N, C), without a float64 copy of a dense X."""
    if sp.issparse(features):
        return np.asarray(features @ (features.T @ spread), dtype=np.float64)
    blocks = [slice(at, at + _BLOCK) for at in range(0, features.shape[0], _BLOCK)]
    class_sums = np.zeros((features.shape[1], spread.shape[1]))
    for block in blocks:
        class_sums += features[block].astype(np.float64, copy=False).T @ spread[block]
    result = np.empty_like(spread)
    for block in blocks:
        result[block] = features[block].astype(np.float64, copy=False) @ class_sums
    return result


def _row_norms(
    features: Any, normalize: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the L2 norm of each (scaled) row and the scale 1 / L1 norm, None when unused."""
    if sp.issparse(features):
        rows = np.repeat(np.arange(features.shape[0]), np.diff(features.indptr))
        values = np.abs(features.data).astype(np.float64)
        absolute, squares = (
            np.bincount(rows, weights=weights, minlength=features.shape[0])
            for weights in (values, values * values)
        )
    else:
        absolute, squares = np.empty(features.shape[0]), np.empty(features.shape[0])
        for at in range(0, features.shape[0], _BLOCK):
            values = np.abs(features[at : at + _BLOCK].astype(np.float64))
            absolute[at : at + _BLOCK] = values.sum(axis=1)
            squares[at : at + _BLOCK] = np.einsum("ij,ij->i", values, values)
    norms = np.sqrt(squares)
    is_tiny = (absolute > 0) & (squares < _SMALLEST_SQUARE)  # they would vanish
    if is_tiny.any():
        peaks = _row_peaks(features[is_tiny])
        rows = _divide_rows(features[is_tiny], peaks)
        squares = rows.multiply(rows).sum(axis=1) if sp.issparse(rows) else (rows * rows).sum(1)
        norms[is_tiny] = peaks * np.sqrt(np.asarray(squares).reshape(-1))
    if not normalize:
        return norms, None
    scale = np.divide(1.0, absolute, out=np.zeros_like(absolute), where=absolute > 0)
    return norms * scale, scale


def _feature_means(
    affinity: NDArray[np.float64],
    scale: NDArray[np.float64],
    labels: NDArray[np.int64],
    is_compared: NDArray[np.bool_],
) -> ClassMeans:
    """Turn the sums W of S over classes, (N, C), into the two means of each node; W is used up."""
    sizes = np.bincount(labels[is_compared], minlength=affinity.shape[1])
    rows = np.arange(labels.size)
    own_sum = affinity[rows, labels]
    affinity[rows, labels] = 0.0  # summing the others alone, nothing cancels
    other_sum = affinity.sum(axis=1)
    own_size = sizes[labels]
    other_size = sizes.sum() - own_size
    return ClassMeans(
        own=own_sum / np.maximum(own_size, 1),
        other=other_sum / np.maximum(other_size, 1),
        scale=scale,
        is_compared=is_compared,
    )
