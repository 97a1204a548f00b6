"""Feature columns of a node table as numbers that the engine computes, encoded as in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heterophily.data.encode.category_column import CategoryColumn
from heterophily.data.encode.encoder import Encoder
from heterophily.data.encode.number_column import NumberColumn
from heterophily.data.encode.scaling import _FARTHEST, IQR_OF_NORMAL, LIMIT
from heterophily.data.warehouse.connect import engine_errors, load_ibis
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.data.wording import listed

SAMPLED = 20_000
"""Rows of the node table that travel, from which the encoder learns."""

CHUNK = 64
"""Columns that one query works on."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ColumnSums:
    """Sums over all nodes for each feature, (F,) each."""

    mean: Floats
    square: Floats
    smallest: Floats
    filled: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EngineFeatures:
    """The features of all nodes as queries: columns ``id``, ``f0``, ``f1``, ...

    ``cells`` are the expressions of the features on the table of nodes. With ``lengths``, a table
    of ``id`` and ``length``, every row is divided by its length.
    """

    graph: WarehouseGraph
    cells: tuple[Any, ...]
    names: tuple[str, ...]
    remarks: tuple[str, ...]
    lengths: Any = None

    def of(self, columns: Sequence[str]) -> Any:
        """Return the query of some columns: a query of thousands would take minutes to write."""
        chosen = {name: self.cells[int(name[1:])] for name in columns}
        table = self.graph.rows.select(id=self.graph.key, **chosen)
        if self.lengths is None:
            return table
        length = self.lengths.length
        inverse = load_ibis().cases((length > 0.0, 1.0 / length), else_=0.0)
        table = table.join(self.lengths.select("id", inverse=inverse), "id")
        return table.select("id", **{name: table[name] * table.inverse for name in columns})

    @property
    def columns(self) -> list[str]:
        """The names of all columns in queries."""
        return [f"f{number}" for number in range(self.width)]

    @property
    def width(self) -> int:
        """Number of features F."""
        return len(self.names)

    def chunks(self) -> Iterator[list[str]]:
        """Give the names of the columns, some at a time."""
        for at in range(0, self.width, CHUNK):
            yield self.columns[at : at + CHUNK]

    @cached_property
    def sums(self) -> ColumnSums:
        """Sums over all nodes."""
        found: dict[str, list[float]] = {"mean": [], "square": [], "least": [], "filled": []}
        for columns in self.chunks():
            table = self.of(columns)
            asked: dict[str, Any] = {}
            for name in columns:
                asked |= {
                    f"mean_{name}": table[name].mean(),
                    f"square_{name}": (table[name] * table[name]).mean(),
                    f"least_{name}": table[name].min(),
                    f"filled_{name}": table.count(where=table[name] != 0.0),
                }
            row = self.graph.one(table.agg(**asked), "sums over features")
            for kind, values in found.items():
                values += [float(row[f"{kind}_{name}"]) for name in columns]
        return ColumnSums(
            np.array(found["mean"]),
            np.array(found["square"]),
            np.array(found["least"]),
            np.array(found["filled"]).astype(np.int64),
        )

    def with_unit_rows(self) -> EngineFeatures:
        """Return the features with every row divided by its length."""
        squares = balanced([cell * cell for cell in self.cells])
        query = self.graph.rows.select(id=self.graph.key, length=squares.sqrt())
        return replace(self, lengths=self.graph.kept(query, "lengths of features"))

    def sample(self, limit: int, *, seed: int) -> Floats:
        """Return the features of some nodes, drawn at random, (n, F)."""
        parts = []
        for columns in self.chunks():
            drawn = drawn_rows(self.graph, self.of(columns), limit, seed=seed)
            found = self.graph.ask(drawn, "drawing rows of features")
            order = np.argsort(found["id"], kind="stable")
            parts += [found[name].astype(np.float64)[order] for name in columns]
        return np.stack(parts, axis=1)


def balanced(terms: list[Any]) -> Any:
    """Return the sum of many expressions as a balanced tree: long chains overflow the stack."""
    while len(terms) > 1:
        pairs = zip(terms[::2], terms[1::2], strict=False)
        terms = [a + b for a, b in pairs] + (terms[-1:] if len(terms) % 2 else [])
    return terms[0]


def drawn_rows(graph: WarehouseGraph, table: Any, limit: int, *, seed: int) -> Any:
    """Return the query of ``limit`` rows of a table with a column ``id``, drawn at random.

    By a hash of seed and id, so that the same seed draws the same rows; where ibis has no hash for
    an engine, by its random numbers.
    """
    ibis = load_ibis()
    text = ibis.literal(f"{seed}:") + table.id.cast("string")
    drawn = table.order_by(text.hash(), table.id).limit(limit)
    try:
        graph.connection.compile(drawn)
    except Exception:
        drawn = table.order_by(ibis.random()).limit(limit)
    return drawn


def engine_features(
    graph: WarehouseGraph, *, kinds: Mapping[str, str] | None = None, encode: bool = True
) -> EngineFeatures | None:
    """Learn from some rows how columns become features, and let the engine compute them.

    None where no column does. Dates, texts and categories of over 100 levels are left out, and
    numbers that are stored as text.
    """
    if not graph.feature_columns:
        return None
    names = graph.feature_columns
    given_cells = {f"x{number}": graph.rows[name] for number, name in enumerate(names)}
    nodes = graph.rows.select(id=graph.key, **given_cells)
    drawn = drawn_rows(graph, nodes, SAMPLED, seed=0)
    with engine_errors(f"{graph.name}: drawing rows of the node table"):
        rows: pa.Table = graph.connection.to_pyarrow(drawn)
    cells = {name: rows.column(f"x{number}") for number, name in enumerate(names)}
    given = dict(kinds or {}) if encode else dict.fromkeys(names, "raw")
    encoder, _ = Encoder.fit(cells, kinds=given)
    columns: tuple[Any, ...] = encoder.columns
    if graph.num_nodes > rows.num_rows:
        columns = _with_exact_scales(graph, columns)
    found: dict[str, Any] = {}
    left_out: list[str] = []
    for column in columns:
        cell = graph.rows[column.name]
        write = _WRITERS.get(type(column))
        made = None if write is None else write(column, cell)
        if made is None:
            left_out.append(column.name)
            continue
        found |= dict(zip(column.feature_names, made, strict=True))
    remarks = []
    if left_out:
        remarks.append(
            f"columns that the engine does not turn into numbers are left out: {listed(left_out)}"
        )
    if graph.num_nodes > rows.num_rows:
        remarks.append(
            f"kinds and levels of columns were learnt from {rows.num_rows:,} rows, drawn at random"
        )
    if not found:
        return None
    return EngineFeatures(graph, tuple(found.values()), tuple(found), tuple(remarks))


def _with_exact_scales(graph: WarehouseGraph, columns: tuple[Any, ...]) -> tuple[Any, ...]:
    """Let the engine find median, quartiles and missing cells of numbers in the whole table."""
    numbers = {
        f"c{place}": column
        for place, column in enumerate(columns)
        if isinstance(column, NumberColumn) and graph.rows[column.name].type().is_numeric()
    }
    exact: dict[str, Any] = {}
    names = list(numbers)
    for at in range(0, len(names), CHUNK):
        asked: dict[str, Any] = {}
        for name in names[at : at + CHUNK]:
            cell = graph.rows[numbers[name].name].cast("float64")
            if graph.rows[numbers[name].name].type().is_floating():
                cell = load_ibis().cases((cell.isnan(), load_ibis().null()), else_=cell)
            asked[f"{name}_known"] = cell.count()
            if numbers[name].kind == "number":
                asked |= {f"{name}_q{q}": cell.quantile(q / 100) for q in (25, 50, 75)}
                asked[f"{name}_std"] = cell.std(how="pop")
        found = graph.one(graph.rows.agg(**asked), "medians and quartiles of columns")
        for name in names[at : at + CHUNK]:
            column = numbers[name]
            missing = 1.0 - float(found[f"{name}_known"]) / graph.num_nodes
            changes: dict[str, Any] = {"missing": missing}
            if column.kind == "number":
                low, high = (float(found[f"{name}_q{q}"]) / IQR_OF_NORMAL for q in (25, 75))
                spread = high - low if high > low else float(found[f"{name}_std"])
                changes |= {"center": float(found[f"{name}_q50"]), "spread": spread or 1.0}
            exact[column.name] = replace(column, **changes)
    return tuple(exact.get(column.name, column) for column in columns)


def _number(column: NumberColumn, cell: Any) -> list[Any] | None:
    """Write a column of numbers as :class:`NumberColumn` encodes it."""
    ibis = load_ibis()
    kind = cell.type()
    if not (kind.is_numeric() or kind.is_boolean()):
        return None
    value = cell.cast("int8").cast("float64") if kind.is_boolean() else cell.cast("float64")
    is_missing = value.isnull() | (value.isnan() if kind.is_floating() else False)
    if column.kind == "number":
        z = (value - column.center) / column.spread
        z = ibis.greatest(ibis.least(z, _FARTHEST), -_FARTHEST)
        part = z / LIMIT
        value = (z / (1.0 + part * part).sqrt()).cast("float32").cast("float64")
    made = [ibis.cases((is_missing, 0.0), else_=value).cast("float64")]
    return made + ([_indicator(is_missing)] if column.missing > 0 else [])


def _category(column: CategoryColumn, cell: Any) -> list[Any] | None:
    """Write a column of levels as :class:`CategoryColumn` encodes it."""
    kind = cell.type()
    if column.width or kind.is_floating():
        return None
    word = cell.cast("string")
    if kind.is_string():
        word = word.strip()
    is_missing = word.isnull() | (word == "")
    made = [_indicator((word == level).fill_null(False)) for level in column.levels]
    if column.has_other:
        made.append(_indicator(~word.isin(column.levels) & ~is_missing))
    return made + ([_indicator(is_missing)] if column.missing > 0 else [])


def _indicator(condition: Any) -> Any:
    return load_ibis().cases((condition, 1.0), else_=0.0).cast("float64")


_WRITERS: dict[type, Callable[[Any, Any], list[Any] | None]] = {
    NumberColumn: _number,
    CategoryColumn: _category,
}
