"""What is wrong with a connection, a table or a column is one sentence."""

from __future__ import annotations

import builtins
import socket
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from warehouses import duckdb_with, random_tables

pytest.importorskip("ibis", reason="ibis is not installed: pip install 'heterophily[warehouse]'")

from heterophily.data.warehouse.connect import connect
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.errors import InputError, MissingExtraError


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("warehouse", "is not a URL; write duckdb:///file.duckdb"),
        ("duckdb:///no/such/folder/a.duckdb", "there is no folder /no/such/folder"),
        ("nonsense://x", "nonsense://x': no such engine; known: "),
    ],
)
def test_a_connection_that_cannot_be(url: str, told: str) -> None:
    with pytest.raises((InputError, MissingExtraError)) as caught:
        connect(url)
    assert told in str(caught.value)


def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(InputError, match="cannot connect to postgresql://me@127") as caught:
        connect(f"postgresql://me:secret@127.0.0.1:{port}/base")
    assert "secret" not in str(caught.value)


def test_a_missing_file_is_no_new_database(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        connect(f"duckdb://{tmp_path}/a.duckdb")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("url", "extra"),
    [
        ("duckdb://", "heterophily[warehouse]"),
        ("spark://local", "heterophily[spark]"),
        ("bigquery://project", "ibis-framework[bigquery]"),
    ],
)
def test_a_package_that_is_missing_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, url: str, extra: str
) -> None:
    import ibis

    real = builtins.__import__

    def without(name: str, *more: Any, **options: Any) -> Any:
        if name.startswith(("pyspark", "google")) or (url == "duckdb://" and name == "ibis"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *more, **options)

    if url.startswith("bigquery"):

        def connect_to(url: str) -> Any:
            raise ModuleNotFoundError("No module named 'google'", name="google")

        monkeypatch.setattr(ibis, "connect", connect_to)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError) as caught:
        connect(url)
    assert f"pip install '{extra}'" in str(caught.value)


EDGES = pa.table({"source": [1, 2], "target": [2, 3]})
NODES = pa.table({"id": [1, 2, 3], "label": ["a", "b", "a"]})


@pytest.mark.parametrize(
    ("names", "options", "told"),
    [
        (("no_edges", "nodes"), {}, "--edges no_edges: the database has no such table; it has"),
        (("edges", "main.people"), {}, "--nodes main.people: the database has no such table"),
        (("edges", None), {}, "needs --nodes too"),
        (("edges", "nodes.parquet"), {}, "--nodes nodes.parquet: no such file"),
        (("edges", "nodes"), {"label": "colour"}, "colour"),
        (("edges", "nodes"), {"source": "from", "target": "to"}, "from"),
    ],
)
def test_a_table_or_a_column_that_is_not_there(
    names: tuple[str, str | None], options: dict[str, Any], told: str
) -> None:
    with pytest.raises(InputError) as caught:
        WarehouseGraph.open(duckdb_with(EDGES, NODES), *names, **options)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def changed(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values))


@pytest.mark.parametrize(
    ("edges", "nodes", "told"),
    [
        (EDGES, changed(NODES, "id", [1, 2, 2]), "node id '2' occurs more than once"),
        (EDGES, changed(NODES, "id", [1, 2, None]), "1 rows have no id"),
        (changed(EDGES, "target", [2, None]), NODES, "column 'target': 1 rows have no id"),
        (EDGES, changed(NODES, "label", [None] * 3).cast(NODES.schema), "the column is empty"),
        (EDGES, changed(NODES, "label", [0.5, 1.5, 2.5]), "is not a whole number"),
        (
            changed(EDGES, "target", [2, 9]),
            NODES.append_column("age", pa.array([1, 2, 3])),
            "node '9' is not in nodes",
        ),
        (EDGES, NODES.slice(0, 0), "no row|is empty"),
    ],
)
def test_rows_that_are_wrong(edges: pa.Table, nodes: pa.Table, told: str) -> None:
    with pytest.raises(InputError, match=told):
        WarehouseGraph.open(duckdb_with(edges, nodes), "edges", "nodes")


def test_a_file_of_duckdb_is_read_and_not_written(tmp_path: Path) -> None:
    import duckdb

    path = tmp_path / "g.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("CREATE SCHEMA s")
        for name, table in zip("en", random_tables(0, 3), strict=True):
            base.register("rows", table)
            base.execute(f"CREATE TABLE s.{name} AS FROM rows")
    before = path.read_bytes()
    connection = connect(f"duckdb://{path}", memory=2**28)
    graph = WarehouseGraph.open(connection, "s.e", "s.n")
    assert graph.num_edges > 0
    graph.close()
    connection.disconnect()
    assert path.read_bytes() == before
