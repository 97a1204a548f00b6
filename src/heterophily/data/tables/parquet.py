"""Parquet tables: typed columns, rows instead of lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from heterophily.data.memory import need, refuse_bomb
from heterophily.data.tables.seal import is_intact, names_fit
from heterophily.data.tables.table import check_columns
from heterophily.data.wording import short
from heterophily.errors import InputError

_CHANGED = "was changed after it was written: its columns do not fit their checksums"
_DAMAGED = "is not a readable Parquet file; it may be cut off or of another kind"


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_boolean(kind)
        or types.is_decimal(kind)
    )


class ParquetTable:
    """One Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path, self.has_header, self.remarks = path, True, list[str]()
        try:
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
            self._seal = self._file.schema_arrow.metadata
            self.columns: list[str] = list(self._file.schema_arrow.names)
            is_ours = names_fit(self._seal, self.columns)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{path.name} {_DAMAGED}") from error
        if not is_ours:
            raise InputError(f"{path.name} {_CHANGED}")
        check_columns(self)
        if self._file.metadata.num_rows == 0:
            raise InputError(f"{path.name} has columns but no rows")

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say which rows they are, counted from 1."""
        return [f"row {row + 1}" for row in rows]

    def release(self) -> None:
        """Let go of what is held (nothing)."""

    def read(
        self,
        *,
        ids: Sequence[str] = (),
        numbers: Sequence[str] = (),
        words: Sequence[str] = (),
        cells: Sequence[str] = (),
        advice: str = "",
    ) -> dict[str, Any]:
        """Return columns: ids as int64 or string, numbers as float64, words as string (or null).

        ``cells`` are left as the file has them.
        """
        wanted = list(dict.fromkeys([*ids, *numbers, *words, *cells]))
        rows, place = self._file.metadata.num_rows, self.path.name
        unpacked = 8 * rows * len(wanted)
        refuse_bomb(place, held=self.path.stat().st_size, unpacked=unpacked)
        need(3 * unpacked, f"{place}: {rows:,} rows of {len(wanted)} columns")
        try:
            table = self._file.read(columns=wanted)
            is_ours = is_intact(self._seal, table)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{self.path.name} {_DAMAGED}") from error
        if not is_ours:
            raise InputError(f"{self.path.name} {_CHANGED}")
        found = {}
        for name in wanted:
            column = table.column(name)
            if pa.types.is_dictionary(column.type):
                column = column.cast(column.type.value_type)
            if name in cells:
                found[name] = column
            elif name in numbers:
                found[name] = self._number(name, column, advice)
            else:
                found[name] = (self._id if name in ids else self._word)(name, column)
        return found

    def _refuse(self, name: str, kind: Any, expected: str) -> InputError:
        return InputError(
            f"{self.path.name}, column {short(name)}: holds {kind} values, expected {expected}"
        )

    def _id(self, name: str, column: Any) -> Any:
        if _is_text(column.type):
            return column.cast(pa.string())
        if pa.types.is_floating(column.type):  # as pandas keeps integers beside an empty cell
            whole = pc.cast(column, pa.int64(), safe=False)
            if column.null_count == 0 and pc.all(pc.equal(column, whole)).as_py():
                self.remarks.append(
                    f"{self.path.name}, column {short(name)}: whole numbers with a point read as "
                    "integers"
                )
                return whole
        if not pa.types.is_integer(column.type):
            raise self._refuse(name, column.type, "ids: whole numbers or strings")
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:  # beyond 2^63
            return column.cast(pa.string())

    def _number(self, name: str, column: Any, advice: str) -> Any:
        if _is_text(column.type) and len(column):
            value = short(column[0].as_py() or "")
            raise InputError(
                f"{self.path.name}, row 1, column {short(name)}: {value} is not a number; {advice}"
            )
        if not _is_number(column.type):
            raise self._refuse(name, column.type, "numbers")
        return pc.cast(column, pa.float64(), safe=False)

    def _word(self, name: str, column: Any) -> Any:
        if not _is_text(column.type) and not _is_number(column.type):
            raise self._refuse(name, column.type, "words or whole numbers")
        texts = column.cast(pa.string())
        if pa.types.is_floating(column.type):
            texts = pc.if_else(pc.is_nan(column), None, texts)
        return pc.if_else(pc.equal(texts, ""), None, texts)
