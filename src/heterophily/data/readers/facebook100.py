"""Facebook100 ``.mat`` files: ``A``, the friendships of one school, and ``local_info``."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from heterophily.data.pieces import Pieces
from heterophily.errors import InputError

GENDER = 1  # column of local_info; the others: status, major, second major, dorm, year, school


def read_facebook100(path: Path) -> Pieces:
    """Read one school as Lim et al. do: the label is the gender, the rest is one-hot.

    ``local_info`` (N, 7) holds status, gender (1 or 2, 0 = missing), major, second major, dorm,
    year and high school. Each value that occurs in a column but the gender's is a feature, 0
    ("missing") included.
    """
    from scipy.io import loadmat

    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        contents = loadmat(BytesIO(data), variable_names=("A", "local_info"))
    except Exception as error:  # the parser raises whatever a damaged file leads it into
        raise InputError(f"{path} is damaged or not a MATLAB file of version 4 to 7.2") from error
    for field in ("A", "local_info"):
        if field not in contents:
            raise InputError(f"{path} has no variable {field!r}")
    adjacency, info = contents["A"], np.asarray(contents["local_info"])
    num_nodes = info.shape[0] if info.ndim == 2 else -1
    if not sp.issparse(adjacency) or adjacency.shape != (num_nodes, num_nodes):
        raise InputError(
            f"{path}: 'A' has shape {adjacency.shape} and 'local_info' {info.shape}; expected a "
            "sparse (N, N) and an (N, 7) matrix"
        )
    if info.shape[1] <= GENDER or info.dtype.kind not in "iuf":
        raise InputError(f"{path}: 'local_info' must hold numbers in 7 columns")
    if not (info == np.floor(info)).all():  # false for nan as well
        raise InputError(f"{path}: 'local_info' holds a value that is not a whole number")
    info = info.astype(np.int64)
    labels = info[:, GENDER] - 1
    if num_nodes and not -1 <= labels.min() <= labels.max() <= 1:
        raise InputError(f"{path}: the gender column of 'local_info' holds values besides 0, 1, 2")
    blocks = [_one_hot(info[:, column]) for column in range(info.shape[1]) if column != GENDER]
    return Pieces(
        edge_index=np.stack(sp.coo_array(adjacency).coords),
        labels=labels,
        features=sp.csr_array(sp.hstack(blocks, format="csr")),
        name=f"fb100-{path.stem}",
    )


def _one_hot(values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> sp.csr_array:
    """Return (N, V): a column per distinct value, in increasing order."""
    distinct, columns = np.unique(values, return_inverse=True)
    ones = np.ones(values.size, np.float32)
    indptr = np.arange(values.size + 1)
    return sp.csr_array((ones, columns, indptr), shape=(values.size, distinct.size))
