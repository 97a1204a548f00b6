"""The cells of a node table as labels, features and splits; each refusal names its cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.labels import encode_words
from heterophily.data.splits import PARTS, Split, SplitBatch
from heterophily.data.tables.table import Table, first_null
from heterophily.data.wording import short
from heterophily.errors import InputError

SPARSE_BELOW = 0.3  # share of non-zeros under which a table of at least SPARSE_FROM columns is CSR
SPARSE_FROM = 16
_PART_OF = {
    "train": 0, "training": 0,
    "val": 1, "valid": 1, "validation": 1, "dev": 1,
    "test": 2, "testing": 2,
}  # fmt: skip


def _cell(table: Table, column: str, row: int) -> str:
    return f"{table.path.name}, {table.place(row)}, column {short(column)}"


def _coded(words: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct words of a column, and per row the index of its word, -1 for none."""
    coded = words.combine_chunks().dictionary_encode()
    return coded.dictionary.to_pylist(), pc.fill_null(coded.indices, -1).to_numpy().astype(np.int64)


def read_labels(
    table: Table, column: str, words: Any, *, labels_are_classes: bool = False
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return classes 0..C-1 (-1 = unlabelled: an empty cell) and the sorted class names."""
    values, codes = _coded(words)
    if not values:
        raise InputError(
            f"{table.path.name}, column {short(column)}: no node has a label; fill in the labels, "
            f"or leave the column out with ignore=[{column!r}]"
        )
    labels, names, remarks = encode_words(
        values,
        codes,
        cell=lambda row: _cell(table, column, row),
        place=f"{table.path.name}, column {short(column)}",
        labels_are_classes=labels_are_classes,
    )
    table.remarks.extend(remarks)
    if len(names) == 1:
        raise InputError(
            f"{table.path.name}, column {short(column)}: all labels are {short(names[0])}; "
            "at least two classes are needed"
        )
    return labels, names


def read_features(
    table: Table, columns: Sequence[str], found: dict[str, Any]
) -> sp.csr_array | NDArray[Any] | None:
    """Return the feature columns as one matrix (N, F): CSR when wide and mostly zero.

    Single precision when that holds every value exactly, else double.
    """
    if not columns:
        return None
    arrays: list[NDArray[np.float64]] = []
    for column in columns:
        row = first_null(found[column])
        if row is not None:
            raise InputError(
                f"{_cell(table, column, row)}: empty cell; every node needs a number here, or "
                f"leave the column out with ignore=[{column!r}]"
            )
        values = found.pop(column).to_numpy()
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise InputError(
                f"{_cell(table, column, int(bad[0]))}: {values[bad[0]]} is not a finite number"
            )
        arrays.append(values)
    # a value beyond single precision becomes inf, which is not equal: no need to be warned
    with np.errstate(over="ignore"):
        is_single = all(np.array_equal(a, a.astype(np.float32)) for a in arrays)
    dtype = np.float32 if is_single else np.float64
    filled = sum(int(np.count_nonzero(values)) for values in arrays)
    shape = (arrays[0].size, len(arrays))
    if len(arrays) < SPARSE_FROM or filled >= SPARSE_BELOW * shape[0] * shape[1]:
        return np.stack(arrays, axis=1).astype(dtype, copy=False)
    rows = [np.flatnonzero(values) for values in arrays]
    data = [values[at].astype(dtype) for values, at in zip(arrays, rows, strict=True)]
    indptr = np.cumsum([0, *(at.size for at in rows)])
    by_column = sp.csc_array((np.concatenate(data), np.concatenate(rows), indptr), shape=shape)
    return sp.csr_array(by_column)


def read_splits(table: Table, columns: Sequence[str], found: dict[str, Any]) -> SplitBatch | None:
    """Return the fixed splits: one per column, cells train, val, test or empty."""
    splits = []
    for column in columns:
        values, codes = _coded(found[column])
        for code, value in enumerate(values):
            if value.strip().lower() not in _PART_OF:
                row = int(np.flatnonzero(codes == code)[0])
                raise InputError(
                    f"{_cell(table, column, row)}: {short(value)} is no part of a split; "
                    "write train, val or test, or leave the cell empty"
                )
        parts = np.array([*(_PART_OF[value.strip().lower()] for value in values), -1])[codes]
        for part, name in enumerate(PARTS):
            if not (parts == part).any():
                raise InputError(
                    f"{table.path.name}, column {short(column)}: no node is in the {name} set; "
                    f"a split needs all three, or leave the column out with ignore=[{column!r}]"
                )
        splits.append(Split(*(parts == part for part in range(3))))
    return SplitBatch.stack(splits) if splits else None
