"""Ids of edges to numbers of nodes: as they are, by a table in memory, or by DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heterophily.data.atomic import atomic_path
from heterophily.data.disk.convert.edge_batches import BigTable, EdgeTable, Ends
from heterophily.data.disk.convert.workspace import Workspace
from heterophily.data.wording import short
from heterophily.errors import InputError, MissingExtraError

_ROOM = 8  # a lookup table may be this many times longer than the list of ids


@dataclass(frozen=True, eq=False)
class NodeIds:
    """The ids of a node table: how many, and how they become numbers."""

    count: int
    are_numbers: bool  # already 0, 1, 2, ... in this order
    low: int = 0
    table: NDArray[np.int32] | None = None  # integers in a narrow range: id - low -> number

    def map_ends(self, ends: Ends) -> Ends:
        """Return the ends of edges as numbers of nodes; -1 where there is no such node."""
        if self.table is None:
            return ends
        return self._numbers(ends[0]), self._numbers(ends[1])

    def _numbers(self, ids: NDArray[Any]) -> NDArray[np.int32]:
        assert self.table is not None
        places = ids.astype(np.int64) - self.low
        outside = (places < 0) | (places >= self.table.size)
        if outside.any():
            places[outside] = 0
            found = self.table[places]
            found[outside] = -1
            return found
        return self.table[places]

    @property
    def need_mapping(self) -> bool:
        """Whether the edges must be joined with the nodes by a database."""
        return not self.are_numbers and self.table is None


def read_node_ids(nodes: BigTable, column: str, memory: int) -> NodeIds:
    """Look at the ids of a node table; refuse ids that are empty or occur twice."""
    is_integer = pa.types.is_integer(nodes.schema().field(column).type)
    count, low, high, are_numbers = 0, 2**63, -(2**63), is_integer
    for batch in nodes.batches([column]):
        ids = batch.column(0)
        if ids.null_count:
            raise InputError(
                f"{nodes.path.name}, column {short(column)}: empty id after data row {count:,}; "
                "every row needs the id of a node"
            )
        if is_integer and len(ids):
            values = ids.to_numpy(zero_copy_only=False)
            expected = np.arange(count, count + values.size, dtype=values.dtype)
            are_numbers = are_numbers and bool((values == expected).all())
            low, high = min(low, int(values.min())), max(high, int(values.max()))
        count += len(ids)
    if count == 0:
        raise InputError(f"{nodes.path.name} has no row; a node table has one row per node")
    if are_numbers or not is_integer or high - low >= _ROOM * count + (1 << 20):
        return NodeIds(count, are_numbers)
    size = high - low + 1
    if 4 * size > memory // 2:
        return NodeIds(count, False)
    return NodeIds(count, False, low, _lookup_table(nodes, column, low, size))


def _lookup_table(nodes: BigTable, column: str, low: int, size: int) -> NDArray[np.int32]:
    table = np.full(size, -1, np.int32)
    count = 0
    for batch in nodes.batches([column]):
        places = batch.column(0).to_numpy(zero_copy_only=False).astype(np.int64) - low
        taken = np.flatnonzero(table[places] >= 0)
        table[places] = np.arange(count, count + places.size, dtype=np.int32)
        again = np.flatnonzero(table[places] != np.arange(count, count + places.size))
        if taken.size or again.size:
            place = int(places[(taken if taken.size else again)[0]])
            raise InputError(
                f"{nodes.path.name}, column {short(column)}: node id {place + low} occurs more "
                "than once; keep one row per node"
            )
        count += places.size
    return table


def map_with_duckdb(
    edges: EdgeTable, nodes: BigTable, node_id: str, workspace: Workspace, memory: int, threads: int
) -> EdgeTable:
    """Write the edges with numbers of nodes in place of ids that are words or wide numbers."""
    path = workspace.folder / "edges.parquet"
    mapped = EdgeTable(BigTable(path), "source", "target") if path.exists() else None
    if mapped is not None and workspace.done("mapped") is not None:
        return mapped
    database = duckdb_database(workspace.folder / "duckdb", memory, threads)
    try:
        node_rows, edge_rows = duckdb_reader(nodes), duckdb_reader(edges.table)
        key, ends = _quoted(node_id), [_quoted(edges.source), _quoted(edges.target)]
        database.execute(
            f"CREATE TABLE nodes AS SELECT CAST({key} AS VARCHAR) AS id, "
            f"CAST(row_number() OVER () - 1 AS INTEGER) AS number FROM {node_rows}"
        )
        twice = database.execute(
            "SELECT id FROM nodes GROUP BY id HAVING count(*) > 1 LIMIT 1"
        ).fetchone()
        if twice is not None:
            raise InputError(
                f"{nodes.path.name}, column {short(node_id)}: node id {short(str(twice[0]))} "
                "occurs more than once; keep one row per node"
            )
        with atomic_path(path) as temporary:
            query = (
                f"SELECT coalesce(a.number, -1)::INTEGER AS source, "
                f"coalesce(b.number, -1)::INTEGER AS target FROM {edge_rows} AS e "
                f"LEFT JOIN nodes AS a ON CAST(e.{ends[0]} AS VARCHAR) = a.id "
                f"LEFT JOIN nodes AS b ON CAST(e.{ends[1]} AS VARCHAR) = b.id"
            )
            database.execute(f"COPY ({query}) TO {_text(temporary)} (FORMAT parquet)")
        _refuse_unknown(database, edges, edge_rows, ends, nodes)
    except Exception as error:
        if type(error).__module__.startswith(("duckdb", "_duckdb")):
            raise InputError(f"DuckDB could not map the ids: {error}") from None
        raise
    finally:
        database.close()
    workspace.note("mapped", {})
    return EdgeTable(BigTable(path), "source", "target")


def _refuse_unknown(
    database: Any, edges: EdgeTable, edge_rows: str, ends: list[str], nodes: BigTable
) -> None:
    for end, name in zip(ends, (edges.source, edges.target), strict=True):
        found = database.execute(
            f"SELECT e.{end} FROM {edge_rows} AS e "
            f"ANTI JOIN nodes AS a ON CAST(e.{end} AS VARCHAR) = a.id LIMIT 1"
        ).fetchone()
        if found is not None:
            fault = "empty id; every row needs the id of a node"
            if found[0] is not None:
                fault = f"node {short(str(found[0]))} is not in {nodes.path.name}; add it there "
                fault += "or remove the edge"
            raise InputError(f"{edges.table.path.name}, column {short(name)}: {fault}")


def duckdb_database(folder: Path, memory: int, threads: int) -> Any:
    """Open a DuckDB in a folder of its own, with a limit of memory; nothing leaves the machine."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError(
            "ids that are not integers need DuckDB: pip install 'heterophily[scale]'"
        ) from None
    folder.mkdir(exist_ok=True)
    return duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{max(memory * 3 // 4, 2**28) // 2**20}MiB",
            "threads": threads,
            "temp_directory": str(folder),
            "preserve_insertion_order": True,
        },
    )


def duckdb_reader(table: BigTable) -> str:
    """Return the words of SQL that read a table."""
    if table.is_parquet:
        return f"read_parquet({_text(table.path)})"
    header = "true" if table.has_header else "false"
    return f"read_csv({_text(table.path)}, header={header}, all_varchar=true)"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: object) -> str:
    return "'" + str(value).replace("'", "''") + "'"
