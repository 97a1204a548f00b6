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


def feature_rows(graph: Graph, nodes: NDArray[np.int64], *, seed: int) -> NDArray[np.float32]:
    """Return the features of some nodes, (n, at most 30), rows scaled to length 1."""
    features: Any = graph.features
    if features is None or features.shape[1] == 0:
        raise InputError(f"{graph.name} has no features to embed")
    rows = features[nodes].astype(np.float64)
    if sp.issparse(rows):
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).reshape(-1))
        rows = sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1)) @ rows)
    else:
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
    """Return a t-SNE map of rows (n, d) as two lists of whole numbers from 0 to 1000."""
    from sklearn.manifold import TSNE

    count = len(rows)
    if count < _FEWEST:
        raise InputError(f"t-SNE needs at least {_FEWEST} nodes, got {count}")
    rows = np.asarray(rows, np.float32)
    if not np.isfinite(rows).all():
        raise InputError("t-SNE needs finite numbers; the model's output has others")
    columns = rows.shape[1]
    is_flat = columns < 2 or bool(np.isclose(rows.std(axis=0).max(), 0.0))
    mapped = TSNE(
        perplexity=min(30.0, (count - 1) / 3),
        init="random" if is_flat else "pca",
        random_state=seed,
    ).fit_transform(rows)
    low, span = mapped.min(axis=0), np.ptp(mapped, axis=0)
    scaled = np.round(SIDE * (mapped - low) / np.where(span > 0, span, 1)).astype(int)
    return [scaled[:, 0].tolist(), scaled[:, 1].tolist()]
