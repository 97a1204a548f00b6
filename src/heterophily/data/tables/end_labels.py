"""Labels that stand in the edge table: one column for each end of an edge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.labels import encode_words
from heterophily.data.tables.columns import LABELS, EdgeColumns
from heterophily.data.tables.table import Table, place
from heterophily.data.wording import short
from heterophily.errors import InputError

_FORMS = ("{end}_{stem}", "{stem}_{end}", "{end}.{stem}", "{end} {stem}", "{end}{stem}")


def end_label_columns(
    table: Table, columns: EdgeColumns, label: str | None, *, ignore: Sequence[str] = ()
) -> tuple[str, str] | None:
    """Return the columns with the labels of the sources and of the targets, if there are two.

    With the ends ``payer`` and ``payee`` these are for example ``payer_label`` and
    ``payee_label``; with ``label="fraud"``, ``payer_fraud`` and ``payee_fraud``.
    """
    names_of = (name for name in reversed(table.columns) if name not in ignore)
    plain = {name.strip().lower(): name for name in names_of}
    pairs = ((columns.source, columns.target), ("source", "target"))
    for stem in LABELS if label is None else (label,):
        for ends in pairs:
            for form in _FORMS:
                names = [form.format(end=end, stem=stem).strip().lower() for end in ends]
                if names[0] != names[1] and all(name in plain for name in names):
                    return plain[names[0]], plain[names[1]]
    return None


def label_stem(columns: EdgeColumns, first: str, second: str) -> str | None:
    """Return the label that two columns hold for the two ends, by their names.

    >>> label_stem(EdgeColumns("payer", "payee", None, None, False), "payer_fraud", "payee_fraud")
    'fraud'
    """
    for form in _FORMS:
        before, after = form.split("{stem}")
        before, after = (part.format(end=columns.source) for part in (before, after))
        stem = first.removeprefix(before).removesuffix(after)
        if (
            stem
            and form.format(end=columns.source, stem=stem) == first
            and second == form.format(end=columns.target, stem=stem)
        ):
            return stem
    return None


def labels_of_ends(
    table: Table,
    columns: tuple[str, str],
    words: list[Any],
    numbers: list[NDArray[np.int32]],
    ids: NDArray[Any],
    *,
    labels_are_classes: bool,
) -> dict[str, Any]:
    """Return the labels of the nodes as fields of a graph; a node that has two is refused."""
    trimmed = [pc.utf8_trim_whitespace(side) for side in words]
    both = pa.chunked_array([chunk for side in trimmed for chunk in side.chunks])
    coded = pc.if_else(pc.equal(both, ""), None, both).combine_chunks().dictionary_encode()
    codes = pc.fill_null(coded.indices, -1).to_numpy().astype(np.int64)
    nodes = np.concatenate(numbers)
    found = np.full(ids.size, -1, np.int64)
    rows = np.flatnonzero(codes >= 0)[::-1]  # the first row of a node wins
    found[nodes[rows]] = codes[rows]
    odd = np.flatnonzero((codes >= 0) & (found[nodes] != codes))
    values = coded.dictionary.to_pylist()
    if odd.size:
        where, node = int(odd[0]), int(nodes[odd[0]])
        side, row = divmod(where, numbers[0].size)
        raise InputError(
            f"{table.path.name}, {place(table, row)}, column {short(columns[side])}: node "
            f"{short(ids[node])} has the label {short(values[codes[where]])} here and "
            f"{short(values[found[node]])} elsewhere; keep one label per node"
        )
    where_told = f"{table.path.name}, columns {short(columns[0])} and {short(columns[1])}"
    if not values:
        raise InputError(f"{where_told}: no node has a label; fill in the labels")
    labels, names, remarks = encode_words(
        values,
        found,
        cell=lambda node: f"{where_told}, node {short(ids[node])}",
        place=where_told,
        labels_are_classes=labels_are_classes,
    )
    table.remarks += [f"{table.path.name}: labels from {columns[0]!r}, {columns[1]!r}", *remarks]
    if len(names) == 1:
        raise InputError(
            f"{where_told}: all labels are {short(names[0])}; at least two classes are needed"
        )
    return {"labels": labels, "class_names": names}
