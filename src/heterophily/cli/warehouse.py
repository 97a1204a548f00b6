"""Tables that stay in an engine, on the command line: a database, or files that exceed memory."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from heterophily.data.memory import room_on_disk
from heterophily.data.source import GraphSource
from heterophily.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.diagnosis.diagnose import Diagnosis

_NOT_COUNTED = {"weight": "--weight", "edge_type": "--edge-type", "self_loops": "--self-loops"}
_READ_BY_DUCKDB = (".parquet", ".csv")
ENGINE_ROWS = 200_000_000
"""Rows of edges up to which DuckDB counts and probes files beyond memory; compiled counters stream
larger ones, in minutes instead of hours, and give no verdict."""

_EXPORTED = "--edges edges.parquet --nodes nodes.parquet"


def way_for(source: GraphSource, *, as_json: bool) -> str:
    """Choose how a graph is diagnosed by its size: ``"memory"``, ``"engine"``, or ``"shown"``:
    its metrics were streamed from disk and printed.
    """
    from heterophily.cli.disk import diagnose_on_disk, diagnose_tables, rows_beyond_memory

    if source.kind == "disk":
        return "shown" if diagnose_on_disk(source, as_json=as_json) else "memory"
    rows, needed = rows_beyond_memory(source)
    if needed == 0:
        return "memory"
    if rows <= ENGINE_ROWS and _has_engine(source):
        return "engine"
    diagnose_tables(source, needed, as_json=as_json)
    return "shown"


def _has_engine(source: GraphSource) -> bool:
    """Whether DuckDB and ibis are installed and read the files of a source."""
    names = [source.edges or "", source.nodes or ""]
    is_read = all(Path(name).suffix in _READ_BY_DUCKDB for name in names)
    return is_read and all(find_spec(package) is not None for package in ("ibis", "duckdb"))


def opened_or_diagnosed(
    source: GraphSource, *, quick: bool, seed: int
) -> tuple[Graph, None] | tuple[None, Diagnosis]:
    """Return the graph where it fits memory; else let DuckDB read the files and diagnose them."""
    from heterophily.errors import MemoryLimitError

    try:
        return source.open(), None
    except MemoryLimitError as error:
        resolved = source.resolved()
        files = [name for name in (resolved.edges, resolved.nodes) if name is not None]
        if len(files) < 2 or any(Path(name).suffix not in _READ_BY_DUCKDB for name in files):
            raise
        try:
            found = diagnose_in_engine(resolved, "duckdb://", quick=quick, seed=seed)
        except MissingExtraError as missing:
            raise MissingExtraError(f"{error}; or let DuckDB count the files: {missing}") from None
        return None, found


def diagnose_in_engine(source: GraphSource, url: str, *, quick: bool, seed: int) -> Diagnosis:
    """Diagnose tables in the engine behind a URL; only sums and a sample travel."""
    from heterophily.data.warehouse.connect import connect, without_password
    from heterophily.data.warehouse.graph import WarehouseGraph
    from heterophily.diagnosis.warehouse import diagnose_tables

    source = source.resolved()
    if source.edges is None:
        raise InputError(
            "--connect needs the names of two tables: --edges SCHEMA.TABLE --nodes SCHEMA.TABLE"
        )
    for key, word in _NOT_COUNTED.items():
        if getattr(source, key) not in (None, "remove"):
            raise InputError(f"{word} is for graphs in memory; an engine counts all edges alike")
    is_embedded = url == "duckdb://"
    memory = room_on_disk(source.memory)
    where = "DuckDB" if is_embedded else without_password(url)
    graph = WarehouseGraph.open(
        connect(url, memory=memory),
        source.edges,
        source.nodes,
        source=source.source,
        target=source.target,
        node_id=source.node_id,
        label=source.label,
        split=source.split,
        features=source.features,
        ignore=source.ignore,
        labels_are_classes=source.labels_are_classes,
        is_directed=source.direction == "keep",
        name=source.name,
        where=where,
    )
    words = source.arguments() if is_embedded else _EXPORTED
    command = f"heterophily convert {words} --out {graph.name}.disk"
    try:
        return diagnose_tables(
            graph,
            quick=quick,
            seed=seed,
            kinds=source.columns,
            encode=source.encode,
            next_command=command,
        )
    finally:
        graph.close()
