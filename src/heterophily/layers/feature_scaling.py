"""What a model sees of the features: counts by rows, numbers by columns, or X as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.graph import Graph

FeatureKind = Literal["counts", "numbers", "as-given"]
FEATURE_KINDS: Mapping[str, str] = {
    "counts": "a bag of words: rows are divided by their sum where the model wants it so",
    "numbers": "every column gets mean 0 and standard deviation 1",
    "as-given": "nothing is changed: they were scaled before",
}

SPARSE_BELOW = 0.25
"""Share of nonzeros up to which features count as sparse."""

_SMALLEST = 1e-300  # the inverse of a smaller number may be infinite
UNEQUAL_ROWS = 0.8
"""Deviation of the sums of rows, over their mean, from which the size of a row is information."""

_UNSCALED = {"count", "boolean", "raw"}  # kinds of columns that an encoder leaves as they are


def feature_kind(graph: Graph) -> FeatureKind:
    """Return what the features of a graph are.

    Sparse ones that are never negative are counts, as in the paper's datasets. Features that an
    encoder made from a table with categories, dates or numbers were scaled by it. All others are
    numbers.

    >>> from heterophily.data.graph import Graph
    >>> age_and_income = [[31.0, 2400.0], [40.0, 3100.0], [28.0, 1900.0]]
    >>> feature_kind(Graph.from_edges([0, 1], [1, 2], features=age_and_income))
    'numbers'
    """
    features: Any = graph.features
    if features is None or features.shape[1] == 0:
        return "counts"  # every node has its own indicator
    if graph.encoder is not None and not _UNSCALED.issuperset(graph.encoder.kept_kinds):
        return "as-given"
    values = features.data if sp.issparse(features) else features
    share = np.count_nonzero(values) / max(1, features.shape[0] * features.shape[1])
    is_never_negative = values.size == 0 or values.min() >= 0
    return "counts" if is_never_negative and share <= SPARSE_BELOW else "numbers"


def has_unequal_rows(features: Any) -> bool:
    """Whether the sums of rows differ so much that dividing by them would hide what they tell.

    Abstracts are about equally long; pages are not, and their size says something about them.
    Measured on sums above 0: their standard deviation over their mean is 0.1 to 0.7 on cora,
    citeseer, pubmed, film and the WebKB graphs, 1.0 and more on chameleon, squirrel and
    blogcatalog.

    >>> has_unequal_rows(np.eye(4)), has_unequal_rows(np.diag([1.0, 1.0, 1.0, 20.0]))
    (False, True)
    """
    with np.errstate(over="ignore"):
        sums = np.asarray(abs(features).sum(axis=1), np.float64).reshape(-1)
    sums = sums[np.isfinite(sums) & (sums > 0)]
    if not sums.size:
        return False
    sums = sums / sums.max()  # squares of huge sums would overflow
    return bool(sums.std() >= UNEQUAL_ROWS * sums.mean())


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """Mean and standard deviation of every column of the graph a model is trained on.

    Another graph is scaled by the same numbers. Columns of a matrix that is mostly zero are
    divided and not centred, so that it stays sparse. A column of one number becomes one of ones.

    >>> ColumnScale.fit(np.array([[1.0, 5.0], [3.0, 5.0]])).apply(np.array([[5.0, 6.0]]))
    array([[3. , 1.2]])
    """

    center: NDArray[np.float64]  # (F,)
    spread: NDArray[np.float64]  # (F,)

    @classmethod
    def fit(cls, features: Any) -> ColumnScale:
        """Measure the columns of a matrix (N, F)."""
        count = max(1, features.shape[0])
        unit = _largest(features)  # squares of huge numbers would overflow
        if sp.issparse(features) and features.nnz <= SPARSE_BELOW * np.prod(features.shape):
            matrix = features.astype(np.float64) @ sp.diags_array(1.0 / unit)
            squares = np.asarray(matrix.multiply(matrix).sum(axis=0)).reshape(-1)
            center, spread = np.zeros(matrix.shape[1]), unit * np.sqrt(squares / count)
        else:
            matrix = _dense(features) / unit
            center, spread = unit * matrix.mean(axis=0), unit * matrix.std(axis=0)
        size = np.abs(center)
        is_constant = spread <= 1e-12 * size  # rounding errors of the mean
        spread = np.where(is_constant, np.where(size > 0, size, 1.0), spread)
        return cls(np.where(is_constant, 0.0, center), spread)

    def apply(self, features: Any) -> Any:
        """Return a matrix (N, F) with scaled columns, in float64."""
        if sp.issparse(features) and not self.center.any():
            if self.spread.size and self.spread.min() < _SMALLEST:  # its inverse is infinite
                return sp.csr_array(_dense(features) / self.spread)
            return sp.csr_array(features.astype(np.float64) @ sp.diags_array(1.0 / self.spread))
        try:
            with np.errstate(over="raise"):
                return (_dense(features) - self.center) / self.spread
        except FloatingPointError:
            with np.errstate(over="ignore"):  # infinite ones are cut by within_range
                return (_dense(features) / 4 - self.center / 4) / (self.spread / 4)

    def to_dict(self) -> dict[str, list[float]]:
        """Return plain data."""
        return {"center": self.center.tolist(), "spread": self.spread.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ColumnScale:
        """Return the scale that :meth:`to_dict` wrote; refuse anything else."""
        try:
            center, spread = (np.array(data[key], np.float64) for key in ("center", "spread"))
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise InputError(f"the scale of the columns is damaged ({error})") from error
        is_sound = np.isfinite(center).all() and np.isfinite(spread).all() and (spread > 0).all()
        if center.ndim != 1 or center.shape != spread.shape or not is_sound:
            raise InputError("the scale of the columns is damaged: it needs finite numbers above 0")
        return cls(center, spread)


def _largest(features: Any) -> NDArray[np.float64]:
    """Return a power of two near the largest size in each column, (F,); 1 for a column of zeros.

    A power of two: dividing by it changes no digit.
    """
    if features.shape[0] == 0:
        return np.ones(features.shape[1])
    sizes = abs(features).max(axis=0)
    sizes = np.asarray(sizes.toarray() if sp.issparse(sizes) else sizes, np.float64).reshape(-1)
    return np.asarray(np.exp2(np.floor(np.log2(np.where(sizes > 0, sizes, 1.0)))))


def _dense(features: Any) -> NDArray[np.float64]:
    return np.asarray(features.toarray() if sp.issparse(features) else features, np.float64)


def row_normalized(features: Any) -> Any:
    """Divide each row by the sum of its absolute values, in float64; zero rows stay zero.

    >>> row_normalized(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    matrix = features.astype(np.float64)
    sums = np.asarray(abs(matrix).sum(axis=1)).reshape(-1)
    if ((sums > 1 / _SMALLEST) | ((sums > 0) & (sums < _SMALLEST))).any():
        peaks = abs(matrix).max(axis=1)
        peaks = np.asarray(peaks.toarray() if sp.issparse(peaks) else peaks).reshape(-1)
        return row_normalized(_over(matrix, np.where(peaks > 0, peaks, 1.0)))
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    if sp.issparse(matrix):
        return sp.csr_array(sp.diags_array(inverse) @ matrix)
    return matrix * inverse[:, None]


def _over(matrix: Any, divisors: NDArray[np.float64]) -> Any:
    """Return rows divided by numbers, where multiplying by their inverse could overflow."""
    if not sp.issparse(matrix):
        return matrix / divisors[:, None]
    found = sp.csr_array(matrix, copy=True)
    found.data /= np.repeat(divisors, np.diff(found.indptr))
    return found


def within_range(features: Any, limit: float) -> tuple[Any, tuple[str, ...]]:
    """Return features of at most a size, and a remark when some had to be cut to it.

    >>> within_range(np.array([[1e300, 2.0]]), 1e38)[1]
    ('features beyond 1e+38 were cut to it: a model computes in float32',)
    """
    values = features.data if sp.issparse(features) else features
    if values.size == 0 or (float(values.max()) <= limit and float(values.min()) >= -limit):
        return features, ()
    remark = f"features beyond {limit:.2g} were cut to it: a model computes in float32"
    found = features.copy()
    if sp.issparse(found):
        found.data = np.clip(found.data, -limit, limit)
    else:
        found = np.clip(found, -limit, limit)
    return found, (remark,)
