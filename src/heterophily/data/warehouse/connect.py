"""A connection to the engine that holds the tables, by its URL."""

from __future__ import annotations

import os
import tempfile
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pyarrow as pa

from heterophily.data.wording import short
from heterophily.errors import InputError, MissingExtraError

TESTED = ("duckdb", "postgresql", "spark")
"""Schemes that the tests of this package connect to; ibis knows others."""

_EXTRAS = {"duckdb": "warehouse", "postgres": "warehouse", "pyspark": "spark"}
_LOCAL_SPARK = {
    "spark.ui.enabled": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 1)),
}
_FILES: dict[str, str] = {".parquet": "read_parquet", ".csv": "read_csv"}


def connect(url: str, *, memory: int | None = None) -> Any:
    """Return an ibis backend for a URL.

    ``duckdb://`` (in memory) and ``duckdb:///folder/file.duckdb``, ``postgresql://user@host/base``,
    ``spark://host:7077`` and ``spark://local[4]`` (a Spark inside this process), ``sc://host:15002``
    (Spark Connect) are tested, but for the last one; every other URL goes to ``ibis.connect`` as it
    is: ``bigquery://``, ``snowflake://``, ``trino://``, ``clickhouse://``, ...

    Parameters
    ----------
    memory
        Bytes that a DuckDB inside this process may take; what is beyond goes to a folder for
        temporary files.
    """
    scheme, mark, _ = url.partition("://")
    if not scheme or not mark:
        raise InputError(
            f"--connect {short(url)} is not a URL; write duckdb:///file.duckdb, "
            "postgresql://user@host/database or spark://host:7077"
        )
    opener: Callable[[str, int | None], Any] = _OPENERS.get(scheme, _other)
    try:
        with quiet():
            return opener(url, memory)
    except (InputError, MissingExtraError):
        raise
    except ImportError as error:
        raise _missing(scheme, error) from None
    except Exception as error:
        raise InputError(
            f"cannot connect to {without_password(url)}: {first_line(error)}"
        ) from None


def _duckdb(url: str, memory: int | None) -> Any:
    ibis = load_ibis()
    path = urlsplit(url).path
    if path and not Path(path).parent.is_dir():
        raise InputError(f"cannot connect to {url}: there is no folder {Path(path).parent}")
    if path and not Path(path).exists():
        raise InputError(f"cannot connect to {url}: there is no file {path}")
    spill = tempfile.TemporaryDirectory(prefix="heterophily-duckdb-", ignore_cleanup_errors=True)
    options: dict[str, Any] = {"temp_directory": spill.name}
    if memory is not None:
        options["memory_limit"] = f"{max(memory * 3 // 4, 2**27) // 2**20}MiB"
    found = ibis.duckdb.connect(path or ":memory:", read_only=bool(path), **options)
    weakref.finalize(found, spill.cleanup)
    return found


def _postgresql(url: str, memory: int | None) -> Any:
    parts = urlsplit(url)
    return load_ibis().connect(urlunsplit(parts._replace(scheme="postgres")))


def _spark(url: str, memory: int | None) -> Any:
    ibis = load_ibis()
    from pyspark.sql import SparkSession

    where = url.removeprefix("spark://")
    is_local = where.startswith("local")
    builder = SparkSession.builder.appName("heterophily").master(where if is_local else url)
    options = {"spark.ui.showConsoleProgress": "false", **(_LOCAL_SPARK if is_local else {})}
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return ibis.pyspark.connect(session)


def _spark_connect(url: str, memory: int | None) -> Any:
    ibis = load_ibis()
    from pyspark.sql import SparkSession

    return ibis.pyspark.connect(SparkSession.builder.remote(url).getOrCreate())


def _other(url: str, memory: int | None) -> Any:
    ibis = load_ibis()
    known = {*_OPENERS, *(each.name for each in entry_points(group="ibis.backends"))}
    if urlsplit(url).scheme.partition("+")[0] not in known:
        raise InputError(
            f"--connect {short(without_password(url))}: no such engine; known: "
            f"{', '.join(sorted(known))}"
        )
    return ibis.connect(url)


_OPENERS: dict[str, Callable[[str, int | None], Any]] = {
    "duckdb": _duckdb,
    "postgres": _postgresql,
    "postgresql": _postgresql,
    "spark": _spark,
    "sc": _spark_connect,
}


def load_ibis() -> Any:
    """Return the module ibis, or say which extra it is in."""
    try:
        with quiet():
            import ibis
    except ImportError:
        raise MissingExtraError(
            "tables in a database need ibis: pip install 'heterophily[warehouse]'"
        ) from None
    return ibis


def _missing(scheme: str, error: ImportError) -> MissingExtraError:
    names = {"postgresql": "postgres", "spark": "pyspark", "sc": "pyspark"}
    backend = names.get(scheme, scheme)
    extra = _EXTRAS.get(backend)
    package = f"heterophily[{extra}]" if extra else f"ibis-framework[{backend}]"
    return MissingExtraError(
        f"{scheme}:// needs a package that is not installed ({error.name or first_line(error)}): "
        f"pip install '{package}'"
    )


def table_of(connection: Any, name: str, what: str) -> Any:
    """Return a table by its name, ``catalog.schema.table``, or a file that the engine reads."""
    reader = _FILES.get(Path(name).suffix.lower())
    if reader is not None:
        if "://" not in name and not Path(name).exists():
            raise InputError(f"--{what} {name}: no such file")
        with engine_errors(f"--{what} {name}"):
            return getattr(connection, reader)(name)
    *place, table = name.split(".")
    where = None if not place else place[0] if len(place) == 1 else tuple(place)
    try:
        with quiet():
            return connection.table(table, database=where)
    except Exception as error:
        known = _known(connection, where)
        told = f"; it has {', '.join(known[:8])}" if known else f" ({first_line(error)})"
        raise InputError(f"--{what} {name}: the database has no such table{told}") from None


def table_name(name: str) -> str:
    """Return what to call a graph by its table of edges.

    >>> table_name("bank.public.transfers"), table_name("data/transfers.parquet")
    ('transfers', 'transfers')
    """
    path = Path(name)
    return path.stem if path.suffix.lower() in _FILES else name.rsplit(".", 1)[-1]


def _known(connection: Any, where: Any) -> list[str]:
    try:
        with quiet():
            if connection.name == "duckdb":  # ibis 12 lists none with DuckDB 2
                rows = connection.raw_sql("SELECT table_name FROM duckdb_tables()").fetchall()
                return sorted(name for (name,) in rows)
            return sorted(connection.list_tables(database=where))
    except Exception:
        return []


def keep(connection: Any, query: Any) -> Any:
    """Return a temporary table with the rows of a query; the engine drops it with the session."""
    if connection.name == "pyspark":  # a temporary table of Spark is a view, counted anew each time
        return query.cache()
    return connection.create_table(f"heterophily_{uuid.uuid4().hex[:12]}", query, temp=True)


def send(connection: Any, rows: pa.Table) -> Any:
    """Return a temporary table with rows from this process."""
    if connection.name == "pyspark":  # its cache does not take rows that ibis holds
        name = f"heterophily_{uuid.uuid4().hex[:12]}"
        connection._session.createDataFrame(rows).createOrReplaceTempView(name)
        return connection.table(name)
    return keep(connection, load_ibis().memtable(rows))


def forget(connection: Any, table: Any) -> None:
    """Drop a table of :func:`keep` or :func:`send`."""
    with suppress(Exception), quiet():
        if connection.name == "pyspark" and hasattr(table, "release"):
            table.release()
        elif connection.name == "pyspark":
            connection._session.catalog.dropTempView(table.get_name())
        else:
            connection.raw_sql(f'DROP TABLE "{table.get_name()}"')


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out the warnings of engines about their own dependencies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turn what an engine raises into one sentence."""
    try:
        with quiet():
            yield
    except (InputError, MissingExtraError, MemoryError):
        raise
    except Exception as error:
        raise InputError(f"{what}: the engine said: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return short(lines[0], 200) if lines else type(error).__name__


def without_password(url: str) -> str:
    """Return a URL that may be printed.

    >>> without_password("postgresql://me:secret@host:5432/base")
    'postgresql://me@host:5432/base'
    """
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url
    user, host = parts.netloc.rsplit("@", 1)
    return urlunsplit(parts._replace(netloc=f"{user.split(':')[0]}@{host}"))
