"""Streamed graphs: the same rows for any number of threads, with the homophily that was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from heterophily import read_tables
from heterophily.data.synthetic import stream
from heterophily.data.synthetic.stream import StreamedGraph
from heterophily.errors import InputError
from heterophily.metrics.edge_homophily import edge_homophily


@pytest.mark.parametrize("degrees", ["uniform", "power-law"])
def test_streamed_graph_has_the_homophily_that_was_asked(tmp_path: Path, degrees: Any) -> None:
    plan = StreamedGraph(20_000, 100_000, 0.3, degrees=degrees, features=2)
    told = plan.write(tmp_path / "e.parquet", tmp_path / "n.parquet")
    graph = read_tables(tmp_path / "e.parquet", tmp_path / "n.parquet", encode=False)
    assert told.edge_homophily == pytest.approx(0.3, abs=0.006)
    assert edge_homophily(graph) == pytest.approx(0.3, abs=0.02)
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (20_000, 2, 5)


def test_rows_do_not_depend_on_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "_BLOCK", 700)
    plan = StreamedGraph(1_000, 5_000, 0.5, features=1)
    for threads in (1, 3):
        plan.write(tmp_path / f"e{threads}", tmp_path / f"n{threads}", threads=threads)
    for table in "en":
        assert pq.read_table(tmp_path / f"{table}1").equals(pq.read_table(tmp_path / f"{table}3"))


def test_power_law_has_hubs(tmp_path: Path) -> None:
    largest = {}
    for degrees in ("uniform", "power-law"):
        plan = StreamedGraph(10_000, 50_000, 0.2, degrees=degrees)  # type: ignore[arg-type]
        plan.write(tmp_path / "e.parquet", tmp_path / "n.parquet")
        ends = pq.read_table(tmp_path / "e.parquet")
        largest[degrees] = np.bincount(np.concatenate([c.to_numpy() for c in ends])).max()
    assert largest["uniform"] < 40 < 500 < largest["power-law"]


@pytest.mark.parametrize(
    "wrong", [{"homophily": 1.5}, {"classes": 1}, {"num_edges": 0}, {"degrees": "x"}]
)
def test_wrong_numbers_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        StreamedGraph(**{"num_nodes": 100, "num_edges": 10, "homophily": 0.5, **wrong})
