"""Parquet tables: typed columns, rows instead of lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from heterophily.data.memory import need, refuse_bomb
from heterophily.data.tables.seal import is_intact, names_fit
from heterophily.data.tables.table import HEAD, WITHOUT_ROWS, check_columns
from heterophily.data.tables.typed import TypedTable
from heterophily.errors import InputError

_CHANGED = "was changed after it was written: its columns do not fit their checksums"
_DAMAGED = "is not a readable Parquet file; it may be cut off or of another kind"


class ParquetTable(TypedTable):
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
            raise InputError(f"{path.name} has columns but no rows; {WITHOUT_ROWS}")

    def first_rows(self) -> dict[str, Any]:
        """Return the first rows of all columns; none where they cannot be read."""
        try:
            batch = next(self._file.iter_batches(batch_size=HEAD), None)
        except (pa.ArrowException, OSError, ValueError):
            batch = None
        if batch is None:
            return {}  # reading the columns says why
        return dict(zip(batch.schema.names, batch.columns, strict=True))

    def release(self) -> None:
        """Let go of what is held (nothing)."""

    def columns_of(self, names: Sequence[str]) -> dict[str, Any]:
        """Return whole columns, compared with their checksums."""
        rows, place = self._file.metadata.num_rows, self.path.name
        unpacked = 8 * rows * len(names)
        refuse_bomb(place, held=self.path.stat().st_size, unpacked=unpacked)
        need(3 * unpacked, f"{place}: {rows:,} rows of {len(names)} columns")
        try:
            table = self._file.read(columns=list(names))
            is_ours = is_intact(self._seal, table)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise InputError(f"{self.path.name} {_DAMAGED}") from error
        if not is_ours:
            raise InputError(f"{self.path.name} {_CHANGED}")
        return {name: table.column(name) for name in names}
