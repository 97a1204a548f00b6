"""Wide or sparse node features as a few hundred dense columns, without forming them densely."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

MAX_COLUMNS = 256
MAX_ENTRIES = 2**26  # of the dense result: a graph of 1e6 nodes gets 67 columns, half a gigabyte
BASIS_ROWS = 20_000  # rows from which the projection is found
WORDS_DENSITY = 0.3
OVERSAMPLING, POWER_ITERATIONS = 10, 3
LARGE = 2**25  # entries from which single precision serves
LARGEST = 1e100
_ROWS = 1 << 16  # that are drawn or multiplied together


def scale_features(features: Any) -> Any:
    """Put features on a common scale, keeping zeros zero.

    Sparse non-negative features (fewer than 30 % of the entries filled: words, tags, one-hot
    columns) are scaled by rows to length 1; others by columns to standard deviation 1, as their
    columns may have different units. Decided by the values, not by how they are stored.
    """
    is_sparse = sp.issparse(features)
    values = features.data if is_sparse else features
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest > LARGEST:  # or its square is infinite
        features = features / largest
        values = features.data if is_sparse else features
    filled = np.count_nonzero(values) / max(features.shape[0] * features.shape[1], 1)
    if filled < WORDS_DENSITY and (values.size == 0 or values.min() >= 0):
        square = features.multiply(features) if is_sparse else np.square(features, dtype=np.float64)
        return _divide(features, np.sqrt(_sums(square, axis=1)), axis=1)
    mean = _sums(features, axis=0) / features.shape[0]
    square = features.multiply(features) if is_sparse else np.square(features, dtype=np.float64)
    variance = _sums(square, axis=0) / features.shape[0] - mean**2
    noise = 1e-12 * (variance + mean**2)  # a constant column is not blown up
    return _divide(features, np.sqrt(np.where(variance > noise, variance, 0.0)), axis=0)


def _sums(matrix: Any, *, axis: int) -> NDArray[np.float64]:
    return np.asarray(matrix.sum(axis=axis, dtype=np.float64)).reshape(-1)


def _divide(matrix: Any, divisor: NDArray[np.float64], *, axis: int) -> Any:
    """Divide rows (axis 1) or columns (axis 0); what would be divided by zero becomes zero."""
    factor = np.divide(1.0, divisor, out=np.zeros_like(divisor), where=divisor > 0)
    if sp.issparse(matrix):
        diagonal = sp.diags_array(factor)
        return sp.csr_array(diagonal @ matrix if axis == 1 else matrix @ diagonal)
    return matrix * (factor[:, None] if axis == 1 else factor)


def compress(matrix: Any, *, seed: int = 0, columns: int = MAX_COLUMNS) -> NDArray[np.float64]:
    r"""Return ``matrix @ V``, (N, D) with D at most ``columns``: the leading singular directions.

    V comes from a randomised singular value decomposition of up to 20,000 rows. It has orthonormal
    columns, so a ridge classifier on the result is the one on the matrix whenever N or F is at
    most D, and close to it otherwise. No labels are used. As the map is linear,
    :math:`\hat A (X V) = (\hat A X) V`.
    """
    num_rows, num_columns = matrix.shape
    limit = max(min(columns, MAX_ENTRIES // max(num_rows, 1)), 1)
    if num_columns <= limit:
        return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, dtype=np.float64)
    directions = leading_directions(matrix, limit, seed=seed)
    return np.asarray(matrix @ directions.T, dtype=np.float64)


def leading_directions(
    matrix: Any,
    columns: int,
    *,
    seed: int,
    max_rows: int = BASIS_ROWS,
    is_symmetric: bool = False,
) -> NDArray[Any]:
    """Return the leading right singular vectors, (at most ``columns``, F), of ``max_rows`` rows.

    Subspace iteration from random directions (Halko et al. 2011). Directions are made orthonormal
    through their Gram matrix, which for a million rows takes a hundredth of the time of a QR
    decomposition; those that the matrix does not have are left out.
    """
    rng = np.random.default_rng(seed)
    sample = matrix
    if matrix.shape[0] > max_rows:
        sample = matrix[np.sort(rng.choice(matrix.shape[0], max_rows, replace=False))]
    width = min(columns + OVERSAMPLING, *sample.shape)
    is_large = max(sample.shape) * width > LARGE
    dtype = np.float32 if is_large else np.float64
    if sp.issparse(sample):
        sample = sp.csr_array(sample, dtype=dtype)
        is_whole = is_symmetric and sample.shape == matrix.shape
        turned = sample if is_whole else sample.T if is_large else sp.csr_array(sample.T)
    else:
        sample = np.asarray(sample, dtype=dtype)
        turned = sample.T
    found: Any = np.empty((sample.shape[1], width), dtype)
    for first in range(0, len(found), _ROWS):
        found[first : first + _ROWS] = rng.standard_normal(found[first : first + _ROWS].shape)
    for _ in range(POWER_ITERATIONS):
        image: Any = _orthonormal(sample @ found)
        del found  # it may be hundreds of megabytes
        found = _orthonormal(turned @ image)
    image = sample @ found
    _, rotation = np.linalg.eigh((image.T @ image).astype(np.float64))
    turn = rotation[:, ::-1][:, :columns].astype(dtype)
    directions = _times(found, turn).T
    return directions if is_large else np.ascontiguousarray(directions)


def _orthonormal(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return an orthonormal basis of the columns, without those that are combinations of others."""
    gram = matrix.T @ matrix
    values, vectors = np.linalg.eigh(gram.astype(np.float64))
    floor = np.finfo(matrix.dtype).eps * gram.shape[0]
    kept = values > floor * max(float(values[-1]), 0.0)
    if not kept.any():  # the matrix is zero: any direction serves
        return np.eye(*matrix.shape, dtype=matrix.dtype)[:, :1]
    return _times(matrix, (vectors[:, kept] / np.sqrt(values[kept])).astype(matrix.dtype))


def _times(matrix: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return ``matrix @ right``, which has no more columns; a large matrix is overwritten."""
    if matrix.size <= LARGE:
        return np.asarray(matrix @ right)
    count, kept = len(matrix), right.shape[1]
    flat = matrix.reshape(-1)
    for first in range(0, count, _ROWS):
        block = matrix[first : first + _ROWS] @ right
        flat[first * kept : first * kept + block.size] = block.reshape(-1)
    return flat[: count * kept].reshape(count, kept)
