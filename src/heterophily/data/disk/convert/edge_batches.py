"""An edge table as tasks of a bounded number of rows, read one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from heterophily.data.tables.table import DELIMITERS, suffix_of
from heterophily.data.wording import short
from heterophily.errors import InputError

Ends = tuple[NDArray[Any], NDArray[Any]]
BATCH = 1 << 20  # rows read at a time
_SAMPLED = 2**20  # bytes of a text table by which its number of rows is guessed


@dataclass(frozen=True)
class BigTable:
    """A Parquet or text table of any size: its columns, its rows in batches, nothing held."""

    path: Path
    delimiter: str | None = None
    has_header: bool = True

    def __post_init__(self) -> None:
        """Refuse files that are not there or of another kind."""
        if not self.path.is_file():
            raise InputError(f"{self.path}: no such file")
        if suffix_of(self.path) in (".jsonl", ".ndjson"):
            raise InputError(
                f"{self.path.name}: a graph on disk can be made of CSV, other text tables and "
                "Parquet only; convert the file to one of these"
            )

    @property
    def is_parquet(self) -> bool:
        """Whether rows can be counted and skipped without reading them."""
        return suffix_of(self.path) == ".parquet"

    def parquet(self) -> Any:
        """Open the Parquet file."""
        try:
            return pq.ParquetFile(self.path, page_checksum_verification=True)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.path.name} is not a readable Parquet file: {error}") from None

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema().names)

    def schema(self) -> Any:
        """Return the Arrow schema: that of the file, or as the first block of a text is read."""
        if self.is_parquet:
            return self.parquet().schema_arrow
        with self._text() as reader:
            return reader.schema

    def largest_group(self, columns: Sequence[str]) -> int:
        """Return the bytes of these columns that Arrow holds at once: those of a row group."""
        if not self.is_parquet:
            return 0
        metadata, wanted = self.parquet().metadata, set(columns)
        return max(
            (
                sum(
                    group.column(k).total_uncompressed_size
                    for k in range(group.num_columns)
                    if group.column(k).path_in_schema.partition(".")[0] in wanted
                )
                for group in map(metadata.row_group, range(metadata.num_row_groups))
            ),
            default=0,
        )

    @property
    def num_rows(self) -> int:
        """Number of rows; of a text table about, from its first megabyte."""
        if self.is_parquet:
            return int(self.parquet().metadata.num_rows)
        with open(self.path, "rb") as stream:
            head = stream.read(_SAMPLED)
        lines = max(head.count(b"\n"), 1)
        packed = 8 if self.path.name.endswith(".gz") else 1
        return int(1.1 * packed * self.path.stat().st_size * lines / max(len(head), 1)) + 1

    def head(self) -> dict[str, list[str | None]]:
        """Return nothing: columns of large tables are chosen by their names alone."""
        return {}

    def batches(
        self, columns: Sequence[str], *, rows: int = 1 << 20, groups: Sequence[int] | None = None
    ) -> Iterator[Any]:
        """Yield record batches of some columns; ``groups`` are row groups of a Parquet file."""
        try:
            if self.is_parquet:
                file = self.parquet()
                for some in _together(file.metadata, groups, rows):
                    yield from file.iter_batches(
                        rows, columns=list(columns), row_groups=some, use_threads=True
                    )
                return
            with self._text(columns) as reader:
                yield from reader
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.path.name} cannot be read: {error}") from None

    def _text(self, columns: Sequence[str] | None = None) -> Any:
        suffix = suffix_of(self.path).removesuffix(".gz")
        delimiter = self.delimiter or DELIMITERS[suffix] or "\t"
        try:
            return pa_csv.open_csv(
                self.path,
                read_options=pa_csv.ReadOptions(
                    block_size=16 * 2**20, autogenerate_column_names=not self.has_header
                ),
                parse_options=pa_csv.ParseOptions(delimiter=delimiter),
                convert_options=pa_csv.ConvertOptions(
                    include_columns=None if columns is None else list(columns)
                ),
            )
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self.path.name} cannot be read: {error}") from None


@dataclass(frozen=True)
class EdgeTask:
    """Some rows of the edge table: row groups of a Parquet file, or all of a text file."""

    number: int
    groups: tuple[int, ...] | None
    num_rows: int


@dataclass(frozen=True)
class EdgeTable:
    """An edge table with its two columns of ids."""

    table: BigTable
    source: str
    target: str

    def tasks(self, rows: int) -> list[EdgeTask]:
        """Cut the table into tasks of about ``rows`` rows; the same cut every time."""
        if not self.table.is_parquet:
            return [EdgeTask(0, None, self.table.num_rows)]
        metadata = self.table.parquet().metadata
        tasks: list[EdgeTask] = []
        groups: list[int] = []
        held = 0
        for group in range(metadata.num_row_groups):
            size = metadata.row_group(group).num_rows
            if groups and held + size > rows:
                tasks.append(EdgeTask(len(tasks), tuple(groups), held))
                groups, held = [], 0
            groups.append(group)
            held += size
        if groups:
            tasks.append(EdgeTask(len(tasks), tuple(groups), held))
        return tasks

    def pieces(self, task: EdgeTask, rows: int) -> Iterator[Ends]:
        """Yield the ends of the edges of a task as integers, at most ``rows`` at a time."""
        held: list[list[NDArray[Any]]] = [[], []]
        step = min(rows, BATCH)
        count = before = 0  # rows that wait; data rows of the task
        for large in self.table.batches((self.source, self.target), rows=step, groups=task.groups):
            for at in range(0, large.num_rows, step):
                batch = large.slice(at, step)
                for side, name in enumerate((self.source, self.target)):
                    held[side].append(self._integers(batch.column(side), name, before))
                before += batch.num_rows
                count += batch.num_rows
                if count + step > rows:
                    yield _joined(held[0]), _joined(held[1])
                    held, count = [[], []], 0
        if count:
            yield _joined(held[0]), _joined(held[1])

    def _integers(self, column: Any, name: str, before: int) -> NDArray[Any]:
        if column.null_count:
            row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
            raise InputError(
                f"{self.table.path.name}, column {short(name)}, data row {before + row + 1:,}: "
                "empty id; every row needs the id of a node"
            )
        if not _hold_numbers(column.type):
            raise InputError(
                f"{self.table.path.name}, column {short(name)} holds {column.type}, not integers"
            )
        values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        if values.dtype.kind == "f":  # other programs store whole numbers so
            whole = np.abs(values) < 2.0**53
            whole &= values == np.floor(values)
            if not whole.all():
                row = int(np.argmin(whole))
                raise InputError(
                    f"{self.table.path.name}, column {short(name)}, data row {before + row + 1:,}: "
                    f"{values[row]} is not the id of a node; ids are whole numbers or words"
                )
            return values.astype(np.int64)
        return values if values.dtype.itemsize >= 4 else values.astype(np.int32)

    def are_integers(self) -> bool:
        """Whether both columns hold numbers (or nothing at all, which is refused later)."""
        schema = self.table.schema()
        kinds = [schema.field(name).type for name in (self.source, self.target)]
        return all(_hold_numbers(kind) or pa.types.is_null(kind) for kind in kinds)

    def largest(self) -> int:
        """Return the largest id, from the statistics of a Parquet file or by reading."""
        found = self._largest_by_statistics() if self.table.is_parquet else None
        if found is not None:
            return found
        largest = -1
        for task in self.tasks(1 << 22):
            for ends in self.pieces(task, 1 << 22):
                largest = max(largest, *(int(end.max(initial=-1)) for end in ends))
        return largest

    def _largest_by_statistics(self) -> int | None:
        metadata = self.table.parquet().metadata
        names = {metadata.schema.column(k).path: k for k in range(metadata.num_columns)}
        largest = -1
        for group in range(metadata.num_row_groups):
            for name in (self.source, self.target):
                statistics = metadata.row_group(group).column(names[name]).statistics
                if statistics is None or not statistics.has_min_max:
                    return None
                if not isinstance(statistics.max, int):
                    return None
                largest = max(largest, int(statistics.max))
        return largest


def _hold_numbers(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _together(metadata: Any, groups: Sequence[int] | None, rows: int) -> Iterator[list[int]]:
    """Yield row groups that are read in one go: Arrow keeps all of them until the last is read."""
    held: list[int] = []
    size = 0
    for group in range(metadata.num_row_groups) if groups is None else groups:
        count = metadata.row_group(group).num_rows
        if held and size + count > rows:
            yield held
            held, size = [], 0
        held.append(group)
        size += count
    if held:
        yield held


def _joined(pieces: list[NDArray[Any]]) -> NDArray[Any]:
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
