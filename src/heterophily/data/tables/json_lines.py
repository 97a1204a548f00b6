"""JSON lines: one object per row, as databases and web services export them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json as pa_json

from heterophily.data.memory import need
from heterophily.data.tables.table import HEAD, WITHOUT_ROWS
from heterophily.data.tables.typed import TypedTable
from heterophily.errors import InputError

_BLOCK = 1 << 24  # bytes that pyarrow parses at a time: no row may be longer


class JsonTable(TypedTable):
    """One file of JSON lines. A key that some rows lack is a missing cell there."""

    row_word = "line"

    def __init__(self, path: Path) -> None:
        self.path, self.has_header, self.remarks = path, True, list[str]()
        self.columns: list[str] = list(self._rows.column_names)
        if self._rows.num_rows == 0 or not self.columns:
            raise InputError(f"{path.name} has no rows; {WITHOUT_ROWS}")

    @cached_property
    def _rows(self) -> Any:
        size = self.path.stat().st_size
        need(4 * size, f"{self.path.name}, JSON lines,")
        # A thread that gets no memory ends the process: small files are read by this one.
        options = pa_json.ReadOptions(block_size=_BLOCK, use_threads=size > _BLOCK)
        try:
            found = pa_json.read_json(self.path, read_options=options)
            list(found.column_names)  # a name that is not UTF-8 cannot be read
            found.validate(full=True)  # nor can such a cell
            return found
        except UnicodeDecodeError as error:
            raise InputError(f"{self.path.name}: a key is not UTF-8 text") from error
        except (pa.ArrowException, ValueError) as error:
            told = str(error).splitlines()[0].removeprefix("JSON parse error: ").rstrip(".")
            raise InputError(
                f"{self.path.name}: not JSON lines ({told}); every line must be one object with "
                "the same kind of value under each key"
            ) from error

    def first_rows(self) -> dict[str, Any]:
        """Return the first rows of all columns."""
        first = self._rows.slice(0, HEAD)
        return dict(zip(first.column_names, first.columns, strict=True))

    def columns_of(self, names: Sequence[str]) -> dict[str, Any]:
        """Return whole columns."""
        return {name: self._rows.column(name) for name in names}

    def release(self) -> None:
        """Let go of the rows; they are read again when they are asked for."""
        self.__dict__.pop("_rows", None)
