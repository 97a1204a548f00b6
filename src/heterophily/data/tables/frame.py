"""Tables in memory: pandas, polars, pyarrow, and what else narwhals knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from heterophily.data.tables.table import HEAD, WITHOUT_ROWS, check_columns
from heterophily.data.tables.typed import TypedTable
from heterophily.data.wording import short
from heterophily.errors import InputError


class FrameTable(TypedTable):
    """A data frame. Messages call it by its role: edges, nodes."""

    def __init__(self, frame: Any, role: str) -> None:
        self.path, self.remarks = Path(role), list[str]()
        try:
            found = nw.from_native(_with_index(frame))
            self._frame: Any = found.collect() if isinstance(found, nw.LazyFrame) else found
        except TypeError:
            kind = type(frame)
            raise InputError(
                f"{role} is of type {kind.__module__}.{kind.__qualname__}; pass the name of a "
                f"file or a pandas, polars or pyarrow table"
            ) from None
        except ValueError as error:
            raise InputError(f"{role}: {_twice(frame) or ' '.join(str(error).split())}") from None
        self._names = {str(name): name for name in self._frame.columns}
        self.columns: list[str] = list(self._names)
        # pandas numbers columns that nobody named
        self.has_header = any(isinstance(name, str) for name in self._frame.columns)
        check_columns(self)
        if len(self._frame) == 0:
            raise InputError(f"{role} has no rows; {WITHOUT_ROWS}")

    def first_rows(self) -> dict[str, Any]:
        """Return the first rows of all columns."""
        first = self._frame.head(HEAD)
        return {name: _arrow(first.get_column(own)) for name, own in self._names.items()}

    def release(self) -> None:
        """Let go of what is held (the frame is the caller's)."""

    def columns_of(self, names: Sequence[str]) -> dict[str, Any]:
        """Return whole columns."""
        return {name: _arrow(self._frame.get_column(self._names[name])) for name in names}


def _with_index(frame: Any) -> Any:
    """Return a pandas frame with an index that has names, or holds text, as columns."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(frame, "rename_axis"):
        return frame
    if list(index.names) == [None] and index.inferred_type == "string":
        frame = frame.rename_axis("index")
    names = list(frame.index.names)
    if None in names or any(name in frame.columns for name in names):
        return frame
    return frame.reset_index()


def _twice(frame: Any) -> str:
    """Say which name two columns of a frame have; nothing if all differ."""
    names = list(map(str, frame.columns))
    found = next((name for name in names if names.count(name) > 1), None)
    return "" if found is None else f"two columns are called {short(found)}; rename one"


def _arrow(series: Any) -> Any:
    """Return a column as a chunked Arrow array; values that Arrow has no type for as text."""
    if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    try:
        if series.dtype == nw.Object or _holds_objects(series):
            array = pa.array(series.to_list(), from_pandas=True)
        else:
            array = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        values = series.to_list()
        array = pa.array([None if _is_missing(value) else str(value) for value in values])
    if str(array.type) == "string_view":
        array = array.cast(pa.large_string())
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _holds_objects(series: Any) -> bool:
    """Whether pandas keeps other things than numbers, text and times (intervals, sparse cells)."""
    kind = getattr(series.to_native(), "dtype", None)
    kind = getattr(getattr(kind, "categories", None), "dtype", kind)
    return type(kind).__name__ in ("IntervalDtype", "PeriodDtype", "SparseDtype")


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA; an array
        return type(value).__name__ == "NAType"
