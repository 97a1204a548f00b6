"""Graphs that may stay where they are, on the command line: in a database, or on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heterophily.data.memory import in_units, room_on_disk
from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.diagnosis.diagnose import Diagnosis

_NOT_COUNTED = {"weight": "--weight", "edge_type": "--edge-type", "self_loops": "--self-loops"}
_EXPORTED = "--edges edges.parquet --nodes nodes.parquet"


def diagnosed(
    source: GraphSource, *, quick: bool, seed: int, as_json: bool
) -> tuple[Graph | None, Diagnosis | None]:
    """Return the graph where it fits memory, else its diagnosis from disk.

    Neither, where there is no room for a conversion: then the metrics of labels were printed.
    """
    from heterophily.cli import disk
    from heterophily.errors import MemoryLimitError

    if source.kind == "disk":
        found = disk.diagnose_folder(source, quick=quick, seed=seed)
        return (None, found) if found is not None else (source.open(), None)
    needed = disk.bytes_beyond_memory(source)
    if not needed:
        try:
            return source.open(), None
        except MemoryLimitError:
            resolved = source.resolved()
            files = [name for name in (resolved.edges, resolved.nodes) if name is not None]
            if len(files) < 2 or any(Path(name).suffix not in disk.BIG_TABLES for name in files):
                raise
            source = resolved
    why = disk.lacks_room(source)
    if why:
        disk.show_metrics(source, why, as_json=as_json)
        return None, None
    if not as_json:
        size = f"about {in_units(needed)} in memory" if needed else "more memory"
        limit = in_units(disk.most_memory(source))
        print(f"The tables need {size}, the limit is {limit}: they are converted to disk first.")
    return None, disk.diagnose_converted(source, quick=quick, seed=seed)


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
            raise InputError(
                f"{word} works only for graphs in memory; a database counts all edges alike"
            )
    is_embedded = url == "duckdb://"
    memory = room_on_disk(source.memory)
    where = "DuckDB" if is_embedded else without_password(url)
    graph = WarehouseGraph.open(
        connect(url, memory=memory),
        source.edges,
        source.nodes,
        **source.column_choices(),
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
