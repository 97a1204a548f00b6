"""The ``.npz`` files of Platonov et al. (heterophilous-graphs): one archive, plain arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.npz_arrays import read_arrays
from heterophily.data.pieces import Pieces
from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError

MASKS = ("train_masks", "val_masks", "test_masks")
FIELDS = {"node_features": (2, "fiub"), "node_labels": (1, "iu"), "edges": (2, "iu")}


def read_yandex(path: Path) -> Pieces:
    """Read ``node_features`` (N, F), ``node_labels`` (N,), ``edges`` (E, 2) and the masks (S, N).

    Edges are undirected and listed once each, except in the ``*_directed`` files.
    """
    return pieces_from_yandex(path, read_arrays(path))


def pieces_from_yandex(path: Path, arrays: dict[str, NDArray[Any]]) -> Pieces:
    """Return what the arrays of such a file hold."""
    for field, (dimensions, kinds) in FIELDS.items():
        if field not in arrays:
            raise InputError(f"{path} has no field {field!r}")
        if arrays[field].ndim != dimensions or arrays[field].dtype.kind not in kinds:
            raise InputError(
                f"{path}: field {field!r} is {arrays[field].dtype} of shape {arrays[field].shape}"
            )
    features, labels, edges = (arrays[field] for field in FIELDS)
    if features.shape[0] != labels.size or edges.shape[1] != 2:
        raise InputError(
            f"{path}: shapes do not fit: node_features {features.shape}, node_labels "
            f"{labels.shape}, edges {edges.shape}"
        )
    if features.dtype.kind == "f" and not np.isfinite(features).all():
        row, column = np.argwhere(~np.isfinite(features))[0]
        raise InputError(f"{path}: node_features[{row}, {column}] is not a finite number")
    if edges.size and (edges.min() < 0 or edges.max() >= labels.size):
        row = int(np.flatnonzero(((edges < 0) | (edges >= labels.size)).any(axis=1))[0])
        raise InputError(f"{path}: edges[{row}] names a node outside 0 .. {labels.size - 1}")
    split_sets = {}
    if all(field in arrays for field in MASKS):
        masks = [np.atleast_2d(arrays[field]).astype(np.bool_) for field in MASKS]
        try:
            split_sets["fixed"] = SplitBatch(*masks)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
    is_sparse = np.count_nonzero(features) < features.size / 4
    return Pieces(
        edge_index=edges.T,
        labels=labels,
        features=sp.csr_array(features.astype(np.float32)) if is_sparse else features,
        split_sets=split_sets,
        name=path.stem.replace("_", "-"),
        is_directed=path.stem.endswith("_directed"),
    )
