"""The cells of a node table as labels and splits; each refusal names its cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.labels import encode_words
from heterophily.data.remedies import remedy
from heterophily.data.splits import PARTS, Split, SplitBatch
from heterophily.data.tables.table import Table, place
from heterophily.data.wording import short
from heterophily.errors import InputError

_PART_OF = {
    "train": 0, "training": 0,
    "val": 1, "valid": 1, "validation": 1, "dev": 1,
    "test": 2, "testing": 2,
}  # fmt: skip


_UNFILLED = "; if the empty cells are a class too, write its name into them"


def cell(table: Table, column: str, row: int) -> str:
    """Say where a cell is, for a message."""
    return f"{table.path.name}, {place(table, row)}, column {short(column)}"


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
            f"or {remedy('leave-out', column=column)}"
        )
    labels, names, remarks = encode_words(
        values,
        codes,
        cell=lambda row: cell(table, column, row),
        place=f"{table.path.name}, column {short(column)}",
        labels_are_classes=labels_are_classes,
    )
    table.remarks.extend(remarks)
    if len(names) == 1:
        raise InputError(
            f"{table.path.name}, column {short(column)}: all labels are {short(names[0])}; "
            f"at least two classes are needed{_UNFILLED if (labels < 0).any() else ''}"
        )
    return labels, names


def read_splits(table: Table, columns: Sequence[str], found: dict[str, Any]) -> SplitBatch | None:
    """Return the fixed splits: one per column, cells train, val, test or empty."""
    splits = []
    for column in columns:
        values, codes = _coded(found[column])
        for code, value in enumerate(values):
            if value.strip().lower() not in _PART_OF:
                row = int(np.flatnonzero(codes == code)[0])
                raise InputError(
                    f"{cell(table, column, row)}: {short(value)} is not a part of a split; write "
                    "train, val or test, or leave the cell empty"
                )
        parts = np.array([*(_PART_OF[value.strip().lower()] for value in values), -1])[codes]
        for part, name in enumerate(PARTS):
            if not (parts == part).any():
                raise InputError(
                    f"{table.path.name}, column {short(column)}: no node is in the {name} set; "
                    f"a split needs all three, or {remedy('leave-out', column=column)}"
                )
        splits.append(Split(*(parts == part for part in range(3))))
    return SplitBatch.stack(splits) if splits else None
