"""Spark, a local cluster of two threads, counts what memory counts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from warehouses import in_memory, random_tables, same_numbers, write_files

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install 'heterophily[spark]'")

from heterophily.data.warehouse.connect import connect
from heterophily.data.warehouse.features import engine_features
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.diagnosis.diagnose import diagnose
from heterophily.diagnosis.engine_columns import EngineColumns
from heterophily.diagnosis.probe_columns import GraphColumns
from heterophily.diagnosis.warehouse import diagnose_tables
from heterophily.metrics.collect.relational import relational_statistics

SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""For hundreds of questions about few rows: to compile each takes longer than to answer it."""


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    if shutil.which("java") is None:
        pytest.skip("there is no Java on this machine (package openjdk-17-jre-headless)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        connection = connect("spark://local[1]")
    for name, value in SMALL.items():
        connection._session.conf.set(name, value)
    yield connection
    connection._session.stop()


def test_spark_counts_as_memory_does(spark: Any, tmp_path: Path) -> None:
    tables = random_tables(5, 3)
    graph = WarehouseGraph.open(spark, *write_files(tmp_path, *tables))
    same_numbers(relational_statistics(graph), in_memory(*tables))
    assert graph.notes == in_memory(*tables).notes


def test_the_probe_of_spark_has_the_columns_of_memory(spark: Any, tmp_path: Path) -> None:
    edges, nodes = random_tables(3, 3, num_nodes=80, count=150)
    nodes = nodes.sort_by("id")
    memory = in_memory(edges, nodes)
    there = WarehouseGraph.open(spark, *write_files(tmp_path, edges, nodes))
    labelled = np.flatnonzero(memory.is_labelled)
    expected = GraphColumns(memory, labelled, 0, True, 1000)
    sizes = np.bincount(memory.labels[labelled])
    found = EngineColumns(there, sizes, engine_features(there), 0, True, 1000)
    for name in ("own", "average", "mean", "two"):
        np.testing.assert_allclose(found.blocks[name], expected.blocks[name], atol=2e-5)
    for (mine, here), (theirs, other) in zip(found.folds, expected.folds, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(here.one, other.one)
        np.testing.assert_allclose(here.two, other.two, atol=1e-6)
    assert (
        diagnose_tables(there, quick=True).verdict.kind == diagnose(memory, quick=True).verdict.kind
    )
