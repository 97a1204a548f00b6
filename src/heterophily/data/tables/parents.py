"""A table whose rows name other rows of it: accounts with a parent, people with a manager."""

from __future__ import annotations

import contextlib
import filecmp
from collections.abc import Collection, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from heterophily.data.encode.cells import MISSING, is_text, without_missing
from heterophily.data.remedies import remedy
from heterophily.data.tables.columns import IDS, EdgeColumns
from heterophily.data.tables.content import FITS, HOLDS_IDS, shares_of_ids
from heterophily.data.tables.end_names import is_measure, words_in
from heterophily.data.tables.ids import repeats
from heterophily.data.tables.table import Head, Table
from heterophily.data.wording import count, listed
from heterophily.errors import InputError

_PARENTS = {
    "parent", "manager", "boss", "supervisor", "superior", "reports", "referrer", "reply",
    "predecessor", "leader", "vorgesetzter", "übergeordnet",
}  # fmt: skip


def is_one_table(edges: object, nodes: object) -> bool:
    """Whether both tables are the same file (or a copy of it), or the same frame."""
    if isinstance(edges, str | PathLike) and isinstance(nodes, str | PathLike):
        with contextlib.suppress(OSError):
            return Path(edges).samefile(nodes) or filecmp.cmp(edges, nodes, shallow=False)
        return False
    return edges is nodes


def parent_columns(
    table: Table, columns: EdgeColumns, node_id: str | None, others: Collection[str | None]
) -> EdgeColumns:
    """Return the id column and the one column whose cells are ids of other rows as ends.

    ``others`` are columns that have another role. Of several a column called parent, manager, ...
    is taken.
    """
    id_column = _id_column(table, node_id)
    ids = table.read(words=[id_column])[id_column]
    head: Head = {
        name: [cell for cell in cells if cell and cell.strip().lower() not in MISSING]
        for name, cells in table.head().items()
        if name not in (id_column, *others) and not is_measure(name)
    }
    shares = shares_of_ids(head, ids)
    good = [name for name, share in shares.items() if share >= HOLDS_IDS]
    found = good or [name for name, share in shares.items() if share >= FITS]
    if len(called := [name for name in found if _PARENTS & {*words_in(name)}]) == 1:
        found = called
    if len(found) != 1:
        named = f"columns {listed(found)} all hold" if found else "no other column holds"
        raise InputError(
            f"{table.path.name}: {named} ids of {id_column!r}; {remedy('name-ends')}, such as "
            f"{id_column!r} and the column of the parent"
        )
    return replace(
        columns,
        source=id_column,
        target=found[0],
        by_position=False,
        why="each row names another one",
    )


def _id_column(table: Table, node_id: str | None) -> str:
    if node_id is not None:
        return node_id
    named = [name for name in table.columns if name.strip().lower() in IDS]
    for name in [*named, *table.columns]:
        cells = table.read(words=[name])[name]
        if not cells.null_count and repeats(cells) is None:
            return name
    raise InputError(
        f"{table.path.name}: no column has a different value in each row; {remedy('name-id')}"
    )


def with_own_ids(
    table: Table, columns: EdgeColumns, ends: Sequence[Any]
) -> tuple[list[Any], NDArray[np.bool_]]:
    """Return the ends, rows without a parent with their own id twice, and which rows those are."""
    own, parent = ends
    given = without_missing(parent) if is_text(parent.type) else parent
    is_root = pc.is_null(given)
    roots = np.asarray(is_root.to_numpy())
    if roots.any():
        table.remarks.append(
            f"{table.path.name}: {count(int(roots.sum()), 'row')} without {columns.target!r}: "
            "no edge"
        )
        if own.type != parent.type:
            own, parent, given = (side.cast("string") for side in (own, parent, given))
        parent = pc.if_else(is_root, own, parent)
    return [own, parent], roots
