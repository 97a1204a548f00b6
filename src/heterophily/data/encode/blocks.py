"""Encoded columns put side by side: one matrix, CSR when it is wide and mostly zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.native.tables import Side, put_side_by_side

SPARSE_BELOW = 0.3
"""Share of non-zeros under which a matrix of at least SPARSE_FROM columns is CSR."""

SPARSE_FROM = 16
"""Columns from which a matrix may be CSR."""


_MANY = 128  # columns from which the matrix is filled by columns
_ROWS = 1 << 15  # cells worked on at a time: fits the cache


@dataclass(frozen=True)
class Values:
    """One column of numbers (N,)."""

    values: NDArray[Any]
    width: int = 1

    @property
    def filled(self) -> int:
        """Return the number of non-zeros."""
        return int(np.count_nonzero(self.values))

    def write(self, out: NDArray[Any]) -> None:
        """Write the block to its columns of a zero matrix."""
        out[:, 0] = self.values

    def entry(self, rows: slice) -> tuple[NDArray[Any], NDArray[np.int32] | int]:
        """Return the value of each row (0 for none) and its column in the block."""
        return self.values[rows], 0

    def side(self, first_column: int) -> Side:
        """Return the block for compiled code."""
        return Side(first_column, numbers=self.values)


@dataclass(frozen=True)
class OneOf:
    """At most one 1 per row: the column of each row (N,), -1 for none."""

    codes: NDArray[np.int32]
    width: int

    @property
    def filled(self) -> int:
        """Return the number of non-zeros."""
        return int(np.count_nonzero(self.codes >= 0))

    def write(self, out: NDArray[Any]) -> None:
        """Write the block to its columns of a zero matrix."""
        rows = np.flatnonzero(self.codes >= 0)
        out[rows, self.codes[rows]] = 1

    def entry(self, rows: slice) -> tuple[NDArray[Any], NDArray[np.int32] | int]:
        """Return the value of each row (0 for none) and its column in the block."""
        codes = self.codes[rows]
        return codes >= 0, codes

    def side(self, first_column: int) -> Side:
        """Return the block for compiled code."""
        return Side(first_column, codes=self.codes)


@dataclass(frozen=True)
class Bag:
    """Several entries per row, as a canonical CSR matrix (N, width)."""

    matrix: sp.csr_array

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return int(self.matrix.shape[1])

    @property
    def filled(self) -> int:
        """Return the number of non-zeros."""
        return int(self.matrix.nnz)

    def write(self, out: NDArray[Any]) -> None:
        """Write the block to its columns of a zero matrix."""
        rows = np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))
        out[rows, self.matrix.indices] = self.matrix.data

    def side(self, first_column: int) -> Side:
        """Return the block for compiled code."""
        of = self.matrix
        return Side(first_column, numbers=of.data, codes=of.indices, indptr=of.indptr)


ColumnBlock = Values | OneOf | Bag


def side_by_side(
    blocks: Sequence[ColumnBlock], num_rows: int
) -> sp.csr_array | NDArray[Any] | None:
    """Return blocks as one matrix (N, F), bags last; ``None`` without columns.

    Single precision when that holds every value exactly, else double. Blocks that came as single
    precision are exact.

    >>> parts = [Values(np.array([0.5, 0.0], np.float32)), OneOf(np.array([1, -1], np.int32), 2)]
    >>> side_by_side(parts, 2).tolist()
    [[0.5, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    width = sum(block.width for block in blocks)
    if width == 0:
        return None
    dtype = np.float32 if all(map(_is_single, blocks)) else np.float64
    total = sum(block.filled for block in blocks)
    if width < SPARSE_FROM or total >= SPARSE_BELOW * num_rows * width:
        dense: NDArray[Any] = np.zeros((num_rows, width), dtype)
        start = 0
        for block in blocks:
            block.write(dense[:, start : start + block.width])
            start += block.width
        return dense
    return _sparse(blocks, total, (num_rows, width), dtype)


def _is_single(block: ColumnBlock) -> bool:
    if not isinstance(block, Values) or block.values.dtype == np.float32:
        return True
    with np.errstate(over="ignore"):  # beyond single precision: inf, which is not equal
        return bool(np.array_equal(block.values, block.values.astype(np.float32)))


def _by_column(strip: Sequence[Values | OneOf], num_rows: int, dtype: Any) -> Bag:
    """Return many single columns as one bag, column after column (as for a table of words)."""
    rows, columns, values, start = [], [], [], 0
    for block in strip:
        numbers, found = block.entry(slice(None))
        at = np.flatnonzero(numbers)
        rows.append(at)
        values.append(numbers[at].astype(dtype))
        columns.append(start + (found[at] if isinstance(found, np.ndarray) else np.zeros(at.size)))
        start += block.width
    entries = (np.concatenate(rows), np.concatenate(columns).astype(np.int64))
    matrix = sp.coo_array((np.concatenate(values), entries), shape=(num_rows, start)).tocsr()
    matrix.sort_indices()
    matrix.has_canonical_format = True
    return Bag(matrix)


def _sparse(
    blocks: Sequence[ColumnBlock], total: int, shape: tuple[int, int], dtype: Any
) -> sp.csr_array:
    """Fill the arrays of a CSR matrix."""
    starts = np.cumsum([0, *(block.width for block in blocks)])[:-1].tolist()
    if dtype == np.float32 and max(total, shape[1]) < 2**31 and len(blocks) <= _MANY:
        sides = [block.side(start) for block, start in zip(blocks, starts, strict=True)]
        if (found := put_side_by_side(sides, shape[0], total)) is not None:
            matrix = sp.csr_array(found, shape=shape)
            matrix.has_canonical_format = True
            return matrix
    return _sparse_in_strips(blocks, total, shape, dtype)


def _sparse_in_strips(
    blocks: Sequence[ColumnBlock], total: int, shape: tuple[int, int], dtype: Any
) -> sp.csr_array:
    """Fill them by NumPy, a few thousand rows at a time: nothing is held twice."""
    strip = [block for block in blocks if not isinstance(block, Bag)]
    bags = [block for block in blocks if isinstance(block, Bag)]
    assert [id(block) for block in blocks] == [id(block) for block in (*strip, *bags)]
    if len(strip) > _MANY:
        bags, strip = [_by_column(strip, shape[0], dtype), *bags], []
        if len(bags) == 1:
            return bags[0].matrix
        blocks = bags
    index = np.int32 if total < 2**31 else np.int64
    indptr = np.zeros(shape[0] + 1, index)
    data, indices = np.empty(total, dtype), np.empty(total, index)
    offsets = np.cumsum([0, *(block.width for block in blocks)])
    end = 0
    step = max(1, _ROWS // max(1, len(strip)))
    for begin in range(0, shape[0], step):
        rows = slice(begin, min(begin + step, shape[0]))
        size = rows.stop - rows.start
        values = np.empty((size, len(strip)), dtype)
        columns: NDArray[Any] = np.empty((size, len(strip)), index)
        for place, block in enumerate(strip):
            values[:, place], found = block.entry(rows)
            columns[:, place] = found
            columns[:, place] += offsets[place]
        is_filled = values != 0
        parts = [(values[is_filled], columns[is_filled], is_filled.sum(axis=1, dtype=index))]
        for bag, offset in zip(bags, offsets[len(strip) :], strict=False):
            cuts = bag.matrix.indptr[rows.start : rows.stop + 1]
            held = slice(cuts[0], cuts[-1])
            parts.append((bag.matrix.data[held], bag.matrix.indices[held] + offset, np.diff(cuts)))
        counts = np.stack([part[2] for part in parts], axis=1)  # (rows, parts)
        indptr[rows.start + 1 : rows.stop + 1] = end + np.cumsum(counts.sum(axis=1))
        inside = slice(end, int(indptr[rows.stop]))
        of_part = np.repeat(np.tile(np.arange(len(parts), dtype=np.uint8), size), counts.ravel())
        for place, (part_values, part_columns, _) in enumerate(parts):
            at = np.flatnonzero(of_part == place)
            data[inside][at], indices[inside][at] = part_values, part_columns
        end = int(indptr[rows.stop])
    matrix = sp.csr_array((data, indices, indptr), shape=shape)
    matrix.has_canonical_format = True
    return matrix
