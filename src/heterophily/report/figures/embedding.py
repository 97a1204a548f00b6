"""t-SNE maps with whole coordinates: small to store, the same for the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.errors import InputError

SIDE = 1000
_COLUMNS = 30  # features are reduced to so many before t-SNE
_FEWEST = 5
_LARGEST, _SMALLEST = 1e9, 1e-9  # beyond, float32 loses squares or differences


def feature_rows(graph: Graph, nodes: NDArray[np.int64], *, seed: int) -> NDArray[np.float32]:
    """Return the features of some nodes, (n, at most 30), rows scaled to length 1."""
    features: Any = graph.features
    if features is None or features.shape[1] == 0:
        raise InputError(f"{graph.name} has no features to embed")
    rows = features[nodes].astype(np.float64)
    peaks = abs(rows).max(axis=1)  # squares of huge numbers would overflow
    peaks = np.asarray(peaks.toarray() if sp.issparse(peaks) else peaks).reshape(-1)
    peaks = np.where(peaks > 0, peaks, 1.0)
    if sp.issparse(rows):
        rows = sp.csr_array(rows)
        rows.data /= np.repeat(peaks, np.diff(rows.indptr))
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1))
        rows = sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ rows)
    else:
        rows = rows / peaks[:, None]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths > 0, lengths, 1)
    most = min(_COLUMNS, min(rows.shape) - 1)
    if rows.shape[1] > _COLUMNS and most > 0:
        from sklearn.decomposition import TruncatedSVD

        rows = TruncatedSVD(most, random_state=seed).fit_transform(rows)
    elif sp.issparse(rows):
        rows = rows.toarray()  # at most 30 columns
    return np.ascontiguousarray(rows, np.float32)


def embed(rows: NDArray[Any], *, seed: int) -> list[list[int]]:
    """Return a t-SNE map of rows (n, d) as two lists of whole numbers from 0 to 1000.

    Equal rows lie on one point when there are no others.

    >>> embed(np.full((9, 2), 0.37), seed=0)[0]
    [500, 500, 500, 500, 500, 500, 500, 500, 500]
    """
    from sklearn.manifold import TSNE

    count = len(rows)
    if count < _FEWEST:
        raise InputError(f"t-SNE needs at least {_FEWEST} nodes, got {count}")
    if not np.isfinite(rows).all():
        raise InputError("t-SNE needs finite numbers; the model's output has others")
    rows = _in_range(np.asarray(rows))
    if rows.shape[1] == 0 or not np.ptp(rows, axis=0).any():
        return [[SIDE // 2] * count, [SIDE // 2] * count]
    mapped = TSNE(
        perplexity=min(30.0, (count - 1) / 3),
        init=_start(rows, seed=seed),
        random_state=seed,
    ).fit_transform(rows)
    if not np.isfinite(mapped).all():
        raise InputError("t-SNE found no map: its coordinates are not finite numbers")
    low, span = mapped.min(axis=0), np.ptp(mapped, axis=0)
    scaled = np.round(SIDE * (mapped - low) / np.where(span > 0, span, 1)).astype(int)
    return [scaled[:, 0].tolist(), scaled[:, 1].tolist()]


def _in_range(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Return rows as float32, scaled where their squares or differences would be lost in it."""
    wide = rows.astype(np.float64)
    largest = float(np.abs(wide).max(initial=0.0))
    if largest >= _LARGEST:
        wide /= largest
    span = float(np.ptp(wide, axis=0).max(initial=0.0))
    if 0 < span <= _SMALLEST:
        wide = (wide - wide.mean(axis=0)) / span
    return wide.astype(np.float32)


def _start(rows: NDArray[np.float32], *, seed: int) -> NDArray[np.float32] | str:
    """Return where t-SNE starts: the first two principal components, or "random".

    scikit-learn divides the components by their spread. Where that is zero its start is not a
    number, and its compiled tree then overflows the stack: so the start is made and checked here.
    """
    if rows.shape[1] < 2:
        return "random"
    from sklearn.decomposition import PCA

    places = PCA(2, random_state=seed).fit_transform(rows)
    spread = float(np.std(places[:, 0]))
    if not (np.isfinite(places).all() and spread > 0):
        return "random"
    start = np.asarray(places / spread * 1e-4, np.float32)
    return start if np.isfinite(start).all() else "random"
