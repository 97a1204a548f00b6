"""All columns of a table to one matrix, and the state of that as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.encode.blocks import ColumnBlock, side_by_side
from heterophily.data.encode.cells import Strange
from heterophily.data.encode.column import Column
from heterophily.data.encode.columns import COLUMNS
from heterophily.data.encode.date_column import PARTS
from heterophily.data.encode.dates import FORMATS
from heterophily.data.encode.drift import Drift, drift_of
from heterophily.data.encode.kinds import KINDS, LEFT_OUT, kinds_of
from heterophily.data.leaks import LeakDetector
from heterophily.data.wording import listed
from heterophily.errors import InputError

FORMAT = 1
_MOST_HASHED = 1 << 16  # columns of a text or of a hashed category


def _is_share(value: float) -> bool:
    return 0 <= value <= 1


def _is_spread(value: float) -> bool:
    return value > 0


_RULES: Mapping[str, Callable[[Any], bool]] = {
    "missing": _is_share,
    "known": _is_share,
    "spread": _is_spread,
    "year_spread": _is_spread,
    "width": lambda width: 0 <= width <= _MOST_HASHED,
    "words": lambda words: words >= 0,
    "levels": lambda levels: len({*levels}) == len(levels),
    "formats": set(FORMATS).issuperset,
    "parts": lambda parts: parts == tuple(part for part in PARTS if part in parts),
}
"""What the state of a column must be beyond its type."""


@dataclass(frozen=True)
class Encoded:
    """An encoded table: the matrix (N, F), and the cells that did not fit, by column."""

    features: sp.csr_array | NDArray[Any] | None
    strange: Mapping[str, Strange]
    leaking: tuple[str, ...] = ()  # columns that tell the label by themselves


@dataclass(frozen=True)
class Encoder:
    """How the columns of a node table become features; learnt once, then used for other tables.

    A table is a mapping from column names to Arrow arrays. The state is plain data
    (:meth:`to_dict`, :meth:`from_dict`): it travels in a model folder without pickles.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = {"age": pa.array([31, None, 40]), "city": pa.array(["Rome", "Oslo", "Rome"])}
    >>> encoder, encoded = Encoder.fit(table)
    >>> encoder.feature_names
    ('age', 'age: missing', 'city=Oslo', 'city=Rome')
    >>> Encoder.from_dict(encoder.to_dict()) == encoder
    True
    """

    columns: tuple[Column, ...]
    left_out: tuple[tuple[str, str], ...] = ()  # names and kinds

    @classmethod
    def fit(
        cls,
        table: Mapping[str, Any],
        *,
        kinds: Mapping[str, str] | None = None,
        labels: NDArray[np.int64] | None = None,
        empty_table: bool = False,
    ) -> tuple[Encoder, Encoded]:
        """Learn from a table; return the encoder and the encoded table.

        The features stand in the order of the columns, texts at the end.

        Parameters
        ----------
        table
            Arrow arrays by column name.
        kinds
            Kinds of some columns; the others are guessed.
        labels
            (N,) classes, -1 = unlabelled, to find columns that tell them.
        empty_table
            Take each column out of the table (a dictionary) once it is encoded, so that a large
            table and its features are not held together.
        """
        chosen = kinds_of(table, kinds)
        held = table if empty_table and isinstance(table, dict) else dict(table)
        columns: list[Column] = []
        blocks: list[ColumnBlock] = []
        strange: dict[str, Strange] = {}
        leaking: list[str] = []
        detector = None if labels is None else LeakDetector(labels)
        rows = 0
        for name, kind in sorted(chosen.items(), key=lambda item: item[1] == "text"):
            column = held.pop(name)
            rows = len(column)
            if kind in LEFT_OUT:
                continue
            fitted, cells, odd = COLUMNS[kind].learn(name, kind, column)
            del column
            columns.append(fitted)
            blocks += fitted.encode(cells)
            if odd.count:
                strange[name] = odd
            if detector is not None and detector.tells(fitted.values(cells)):
                leaking.append(name)
        left_out = tuple((name, kind) for name, kind in chosen.items() if kind in LEFT_OUT)
        encoded = Encoded(side_by_side(blocks, rows), strange, tuple(leaking))
        return cls(tuple(columns), left_out), encoded

    def transform(self, table: Mapping[str, Any], num_rows: int | None = None) -> Encoded:
        """Encode another table; a column that it lacks counts as missing everywhere."""
        import pyarrow as pa

        if num_rows is None:
            if not table:
                raise InputError("the table has no columns: how many rows are there?")
            num_rows = len(next(iter(table.values())))
        blocks: list[ColumnBlock] = []
        strange: dict[str, Strange] = {}
        for column in self.columns:
            given = table.get(column.name)
            if given is None:
                given = pa.chunked_array([pa.array([None] * num_rows, pa.string())])
            cells, odd = column.parse(given)
            blocks += column.encode(cells)
            if odd.count:
                strange[column.name] = odd
        return Encoded(side_by_side(blocks, num_rows), strange)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """One name per feature: the column and, where it has several, which of them."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns that become features."""
        return tuple(column.name for column in self.columns)

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each column, those that are left out included."""
        return {column.name: column.kind for column in self.columns} | dict(self.left_out)

    @property
    def kept_kinds(self) -> set[str]:
        """Kinds of the columns that become features."""
        return {column.kind for column in self.columns}

    @property
    def is_raw(self) -> bool:
        """Whether every column is a number that is left as it is."""
        return all(column.kind == "raw" for column in self.columns)

    @property
    def summary(self) -> str:
        """One line on the kinds of the columns."""
        groups: dict[str, list[str]] = {}
        for name, kind in self.kinds.items():
            groups.setdefault(kind, []).append(name)
        order = sorted(groups, key=list(KINDS).index)
        return "; ".join(f"{kind}: {listed(groups[kind])}" for kind in order)

    def drift(self, table: Mapping[str, Any]) -> tuple[Drift, ...]:
        """Return how the columns of another table differ from those of training."""
        return drift_of(self.columns, table)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "format": FORMAT,
            "columns": [column.to_dict() for column in self.columns],
            "left_out": [list(pair) for pair in self.left_out],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Encoder:
        """Return the encoder that :meth:`to_dict` wrote; refuse anything else."""
        try:
            if data["format"] != FORMAT:
                raise InputError(
                    f"the encoder has format {data['format']!r}, this version reads {FORMAT}"
                )
            columns = tuple(_column(entry) for entry in data["columns"])
            left_out = tuple((str(name), str(kind)) for name, kind in data["left_out"])
            names = [column.name for column in columns]
            if len({*names}) < len(names):
                raise InputError(f"the encoder is damaged: two columns of one name in {names}")
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"the encoder is damaged: {type(error).__name__} {error}") from error
        return cls(columns, left_out)


def _column(entry: Mapping[str, Any]) -> Column:
    """Return one column from plain data; every field must be there and of its type."""
    cls = COLUMNS[entry["kind"]]
    values = dict(entry)
    names = {field.name: str(field.type) for field in fields(cls)}
    if "kind" not in names:
        del values["kind"]
    if values.keys() != names.keys():
        raise InputError(
            f"the encoder is damaged: column {entry.get('name')!r} has fields {sorted(values)}"
        )
    for key, declared in names.items():
        place = f"{entry.get('name')!r}, {key}"
        values[key] = _checked(values[key], declared, place)
        if key in _RULES and not _RULES[key](values[key]):
            raise InputError(f"the encoder is damaged: column {place}: {values[key]!r}")
    column: Column = cls(**values)
    return column


def _checked(value: Any, declared: str, place: str) -> Any:
    if declared.startswith("tuple"):
        if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
            return tuple(value)
    elif declared == "float":
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
            if number == number and abs(number) != float("inf"):
                return number
    elif declared in ("int", "bool", "str"):
        if type(value).__name__ == declared:
            return value
    elif declared == "Decimal" and value in (".", ","):
        return value
    raise InputError(f"the encoder is damaged: column {place}: {value!r} is not of type {declared}")
