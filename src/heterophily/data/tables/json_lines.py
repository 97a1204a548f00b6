"""JSON lines: one object per row, as databases and web services export them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.json as pa_json

from heterophily.data.memory import need
from heterophily.data.tables.table import HEAD, Head
from heterophily.data.tables.typed import typed_columns, typed_head
from heterophily.errors import InputError

_BLOCK = 1 << 24  # bytes that pyarrow parses at a time: no row may be longer


class JsonTable:
    """One file of JSON lines. A key that some rows lack is a missing cell there."""

    def __init__(self, path: Path) -> None:
        self.path, self.has_header, self.remarks = path, True, list[str]()
        self.columns: list[str] = list(self._rows.column_names)
        if self._rows.num_rows == 0 or not self.columns:
            raise InputError(f"{path.name} has no rows")

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
                f"{self.path.name}: no JSON lines ({told}); every line must be one object with "
                "the same kind of value under each key"
            ) from error

    def places(self, rows: Sequence[int]) -> list[str]:
        """Say on which lines they are, counted from 1."""
        return [f"line {row + 1}" for row in rows]

    def head(self) -> Head:
        """Return the first rows of all columns as text."""
        first = self._rows.slice(0, HEAD)
        return typed_head(dict(zip(first.column_names, first.columns, strict=True)))

    def release(self) -> None:
        """Let go of the rows; they are read again when they are asked for."""
        self.__dict__.pop("_rows", None)

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

        ``cells`` keep their type.
        """
        wanted = dict.fromkeys([*ids, *numbers, *words, *cells])
        columns = {name: self._rows.column(name) for name in wanted}
        return typed_columns(self, columns, ids=ids, numbers=numbers, cells=cells, advice=advice)
