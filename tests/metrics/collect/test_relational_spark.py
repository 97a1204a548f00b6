"""Spark, a local cluster of two threads, counts what memory counts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from warehouses import in_memory, random_tables, same_numbers, write_files

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'heterophily[spark]'")

from heterophily.data.warehouse.connect import connect
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.metrics.collect.relational import relational_statistics


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine (package openjdk-17-jre-headless)")
    connection = connect("spark://local[2]")
    connection._session.conf.set("spark.sql.shuffle.partitions", "1")
    yield connection
    connection._session.stop()


def test_spark_counts_as_memory_does(spark: Any, tmp_path: Path) -> None:
    tables = random_tables(5, 3)
    graph = WarehouseGraph.open(spark, *write_files(tmp_path, *tables))
    same_numbers(relational_statistics(graph), in_memory(*tables))
    assert graph.notes == in_memory(*tables).notes
