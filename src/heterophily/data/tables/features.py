"""The columns of a node table as features: encoded, or numbers as they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.encode.blocks import Values, side_by_side
from heterophily.data.encode.cells import Strange
from heterophily.data.encode.date_column import DateColumn
from heterophily.data.encode.dates import spelling_remark
from heterophily.data.encode.encoder import Encoder
from heterophily.data.leaks import warning
from heterophily.data.remedies import remedy
from heterophily.data.tables.nodes import cell
from heterophily.data.tables.table import Table, first_null
from heterophily.data.wording import count, short
from heterophily.errors import InputError

_SHOWN = 5  # strange cells that a remark names
_NOUN = {"number": "number", "count": "number", "raw": "number", "boolean": "yes or no",
         "date": "date"}  # fmt: skip


def encoded_features(
    table: Table,
    found: dict[str, Any],
    *,
    num_rows: int,
    labels: NDArray[np.int64] | None,
    kinds: Mapping[str, str] | None = None,
    encoder: Encoder | None = None,
) -> dict[str, Any]:
    """Return features, their names and the encoder as fields of a graph; remark on the columns.

    ``found`` are the columns and is emptied. With an ``encoder`` nothing is learnt: the columns are
    encoded as it says, and remarks tell which of them look different.
    """
    name = table.path.name
    if encoder is not None:
        encoded = encoder.transform(found, num_rows)
        table.remarks += [f"{name}: {drift.sentence}" for drift in encoder.drift(found)]
        found.clear()
    else:
        try:
            encoder, encoded = Encoder.fit(found, kinds=kinds, labels=labels, empty_table=True)
        except InputError as error:
            raise InputError(f"{name}, {error}") from error
        if (encoder.columns and not encoder.is_raw) or encoder.left_out:
            table.remarks.append(f"{name}: kinds of columns: {encoder.summary}")
        table.remarks += warning(encoded.leaking)
    _refuse_second_header(table, encoder, encoded.strange, labels)
    table.remarks += [
        f"{name}, column {short(column.name)}: {told}"
        for column in encoder.columns
        if isinstance(column, DateColumn) and (told := spelling_remark(column.formats))
    ]
    for column, strange in encoded.strange.items():
        table.remarks.append(_strange_remark(table, column, encoder.kinds[column], strange))
    return {
        "features": encoded.features,
        "feature_names": encoder.feature_names if encoder.columns else None,
        "encoder": encoder,
    }


def _strange_remark(table: Table, column: str, kind: str, strange: Strange) -> str:
    places = table.places(strange.rows[:_SHOWN])
    cells = [f"{short(text)} on {place}" for text, place in zip(strange.texts, places)]  # noqa: B905
    more = ", ..." if strange.count > len(cells) else ""
    is_one = strange.count == 1
    return (
        f"{table.path.name}, column {short(column)}: {count(strange.count, 'cell')} "
        f"{'is' if is_one else 'are'} no {_NOUN[kind]} and {'counts' if is_one else 'count'} as "
        f"missing: {', '.join(cells)}{more}"
    )


def _refuse_second_header(
    table: Table,
    encoder: Encoder,
    strange: Mapping[str, Strange],
    labels: NDArray[np.int64] | None,
) -> None:
    """Refuse a first row that fits in none of several columns where all other rows do.

    One column is enough if no other could tell, and the label of that row is a class of its own.
    """
    texts = [s.texts[0] for s in strange.values() if s.rows[:1] == (0,) and s.count == 1]
    typed = [column for column in encoder.columns if column.kind in _NOUN]
    is_alone = labels is not None and labels[0] >= 0 and np.count_nonzero(labels == labels[0]) == 1
    if len(texts) > 1 or (len(texts) == len(typed) == 1 and is_alone):
        shown = ", ".join(short(text) for text in texts[:_SHOWN])
        raise InputError(
            f"{table.path.name}, {table.places([0])[0]}: looks like a second header line ({shown} "
            "where the other rows hold numbers or dates); remove it"
        )


def plain_features(table: Table, found: dict[str, Any]) -> sp.csr_array | NDArray[Any] | None:
    """Return columns of numbers as one matrix (N, F), as they are: CSR when wide and mostly zero.

    Single precision when that holds every value exactly, else double.
    """
    if not found:
        return None
    arrays: list[NDArray[np.float64]] = []
    for column in list(found):
        row = first_null(found[column])
        if row is not None:
            raise InputError(
                f"{cell(table, column, row)}: empty cell; every node needs a number here, or "
                f"{remedy('leave-out', column=column)}"
            )
        values = found.pop(column).to_numpy()
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise InputError(
                f"{cell(table, column, int(bad[0]))}: {values[bad[0]]} is not a finite number"
            )
        arrays.append(values)
    return side_by_side([Values(values) for values in arrays], arrays[0].size)
