"""The ends of edges as numbers of nodes: of the node table, or of the edge table alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.splits import PARTS, SplitBatch
from heterophily.data.tables.columns import EdgeColumns
from heterophily.data.tables.edges import refuse_unknown
from heterophily.data.tables.ids import find_ids, repeats, same_kind, without_points
from heterophily.data.tables.spelt_otherwise import spelt_otherwise
from heterophily.data.tables.table import Table, place
from heterophily.data.wording import count, short
from heterophily.errors import InputError

Numbers = list[NDArray[np.int32]]
UnknownEnds = Literal["refuse", "add", "drop"]
"""What becomes of an end of an edge that the node table does not have."""

_TOTALS = {"total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "somme"}


def number_ends(
    edge_table: Table,
    columns: EdgeColumns,
    ends: list[Any],
    node_table: Table,
    id_column: str,
    ids: Any,
    *,
    unknown: UnknownEnds,
) -> tuple[Numbers, NDArray[Any], int]:
    """Return the ends as numbers of nodes, the ids, and how many nodes were added.

    An end that is not in the node table is refused; or it becomes a node, if others are there; or
    its number is -1, so that its edges can be dropped. Blanks around ids are removed if the ends
    are found only then.
    """
    *ends, ids = without_points(
        [
            (edge_table, columns.source, ends[0]),
            (edge_table, columns.target, ends[1]),
            (node_table, id_column, ids),
        ]
    )
    *sides, known = same_kind(*ends, ids)
    numbers, node_ids = find_ids(sides, known)
    if not _unknown(numbers):
        return numbers, node_ids, 0
    if known.type == pa.string():
        trimmed = [pc.utf8_trim_whitespace(column) for column in (*sides, known)]
        if repeats(trimmed[-1]) is None:
            after, after_ids = find_ids(trimmed[:2], trimmed[-1])
            if _unknown(after) < _unknown(numbers):
                edge_table.remarks.append(
                    f"{edge_table.path.name}, {node_table.path.name}: blanks around ids removed"
                )
                (*sides, known), ends = trimmed, trimmed[:2]
                numbers, node_ids = after, after_ids
    is_unknown = [side < 0 for side in numbers]
    if not _unknown(numbers):
        return numbers, node_ids, 0
    strange = [side.filter(pa.array(mask)) for side, mask in zip(sides, is_unknown, strict=True)]
    strange_ids = pa.chunked_array([chunk for side in strange for chunk in side.chunks])
    why = spelt_otherwise(strange_ids, known, node_table.path.name)
    if unknown == "refuse" or all(side.all() for side in is_unknown):
        refuse_unknown(edge_table, columns, ends, numbers, node_table, why)
    if why:
        edge_table.remarks.append(f"warning: {edge_table.path.name}: {why}")
    if unknown == "drop":
        dropped = int((is_unknown[0] | is_unknown[1]).sum())
        edge_table.remarks.append(
            f"{edge_table.path.name}: {count(dropped, 'edge')} dropped, an end is not in "
            f"{node_table.path.name}"
        )
        return numbers, node_ids, 0
    new = pc.unique(strange_ids)
    new = new.take(pc.array_sort_indices(new))
    numbers, node_ids = find_ids(sides, pa.chunked_array([*known.chunks, new]))
    edge_table.remarks.append(
        f"{edge_table.path.name}: {count(len(new), 'node')} not in {node_table.path.name}, taken "
        "without a label"
    )
    return numbers, node_ids, len(new)


def refuse_totals(
    table: Table, column: str, ids: NDArray[Any], numbers: Numbers, rows: int
) -> None:
    """Refuse a last row that is called a total and is no end of an edge."""
    last = str(ids[rows - 1])
    if last.strip().casefold() in _TOTALS and not any((side == rows - 1).any() for side in numbers):
        raise InputError(
            f"{table.path.name}, {place(table, rows - 1)}, column {short(column)}: no edge has "
            f"the node {short(last)}; if it is a line of totals, remove it, otherwise add an edge"
        )


def _unknown(numbers: Numbers) -> int:
    return sum(int((side < 0).sum()) for side in numbers)


def with_more_nodes(parts: Mapping[str, Any], added: int) -> dict[str, Any]:
    """Return fields of a graph for so many further nodes: without label, all features 0."""
    if not added:
        return dict(parts)
    changes: dict[str, Any] = {}
    if parts.get("labels") is not None:
        changes["labels"] = np.pad(parts["labels"], (0, added), constant_values=-1)
    features: Any = parts.get("features")
    if sp.issparse(features):
        ends = np.pad(features.indptr, (0, added), mode="edge")
        shape = (features.shape[0] + added, features.shape[1])
        changes["features"] = sp.csr_array((features.data, features.indices, ends), shape=shape)
        changes["features"].has_canonical_format = True
    elif features is not None:
        changes["features"] = np.pad(features, ((0, added), (0, 0)))
    if parts.get("splits") is not None:
        masks = (getattr(parts["splits"], part) for part in PARTS)
        changes["splits"] = SplitBatch(*(np.pad(mask, ((0, 0), (0, added))) for mask in masks))
    return {**parts, **changes}
