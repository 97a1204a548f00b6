"""Metrics counted straight from tables are those of the same graph in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from heterophily import Graph
from heterophily.errors import InputError
from heterophily.metrics.catalog import compute_metrics
from heterophily.metrics.collect import tables
from heterophily.metrics.collect.tables import NeedsConversionError, table_statistics
from heterophily.metrics.label_counts import label_counts
from heterophily.native.tally import Tally, TallyPlan, can_tally

pytestmark = pytest.mark.skipif(not can_tally(), reason="needs the native library")


def write_tables(folder: Path, ends: np.ndarray, labels: np.ndarray) -> tuple[Path, Path]:
    edges, nodes = folder / "edges.parquet", folder / "nodes.parquet"
    pq.write_table(pa.table({"source": ends[0], "target": ends[1]}), edges, row_group_size=97)
    words = [None if label < 0 else f"class {label}" for label in labels]
    pq.write_table(pa.table({"id": np.arange(labels.size), "y": words}), nodes)
    return edges, nodes


def neighbours(plan: TallyPlan, labels: np.ndarray, ends: np.ndarray) -> tuple[int, np.ndarray]:
    """Count with a plan; return the edges and the counts in the order of the nodes."""
    with tempfile.TemporaryFile() as spill, Tally(plan, spill.fileno()) as tally:
        tally.set_labels(labels)
        half = ends.shape[1] // 2
        for piece in (ends[:, :half], ends[:, half:]):
            assert tally.add(*piece).first_bad == -1
        edges = tally.finish()
        found = np.zeros((labels.size, plan.columns), np.int64)
        for number, size in enumerate(tally.ranges()):
            own, counts = tally.rows(number, 0, size)
            found[number :: 1 << plan.range_bits] = counts
            np.testing.assert_array_equal(own, labels[number :: 1 << plan.range_bits])
    return edges, found


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("unlabelled", [False, True])
def test_every_label_metric_equals_that_in_memory(
    tmp_path: Path, unlabelled: bool, directed: bool
) -> None:
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 290, (2, 2500))
    ends = np.concatenate([ends, ends[::-1, :300], ends[:, :200]], axis=1)
    labels = rng.integers(-1 if unlabelled else 0, 4, 300)
    direction = "keep" if directed else "drop"
    graph = Graph.from_edges(*ends, num_nodes=300, labels=labels, direction=direction)
    edges, nodes = write_tables(tmp_path, ends, labels)
    counted = table_statistics(edges, nodes, is_directed=directed, scratch=tmp_path, threads=2)
    assert counted.num_edges == graph.num_edges
    np.testing.assert_array_equal(counted.class_pairs, label_counts(graph).class_pairs)
    found, expected = compute_metrics(counted), compute_metrics(graph)
    for name, value in found.values.items():
        if value is not None:
            assert value == pytest.approx(expected[name], abs=1e-9), name


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_tiles_that_memory_cannot_hold_are_counted_in_slices(directed: bool, threads: int) -> None:
    rng = np.random.default_rng(threads)
    ends = rng.integers(0, 90, (2, 20_000)) * rng.integers(0, 2, 20_000)  # node 0 in half of them
    labels = rng.integers(0, 3, 90).astype(np.uint8)
    found = [
        neighbours(TallyPlan(90, 3, directed, threads, most_keys=keys, buffer_keys=8), labels, ends)
        for keys in (4, 1 << 20)
    ]
    adjacency = np.zeros((90, 90), np.int64)
    adjacency[ends[0], ends[1]] = 1
    if not directed:
        adjacency |= adjacency.T
    np.fill_diagonal(adjacency, 0)
    expected = adjacency @ np.eye(3, dtype=np.int64)[labels]
    for edges, counts in found:
        assert edges == adjacency.sum() // (1 if directed else 2)
        np.testing.assert_array_equal(counts, expected)


def test_a_hub_has_more_neighbours_than_a_byte_can_count() -> None:
    labels = np.repeat([0, 1], [1, 5000]).astype(np.uint8)
    ends = np.stack([np.zeros(5000, np.int32), np.arange(1, 5001, dtype=np.int32)])
    _, counts = neighbours(TallyPlan(5001, 2, most_keys=64), labels, ends)
    assert counts[0].tolist() == [0, 5000]
    assert counts[1:].tolist() == [[1, 0]] * 5000


def test_one_edge_many_times_is_one_edge() -> None:
    ends = np.zeros((2, 4000), np.int64)
    ends[1] = 1
    plan = TallyPlan(2, 1, most_keys=16, buffer_keys=4)
    edges, counts = neighbours(plan, np.zeros(2, np.uint8), ends)
    assert (edges, counts.tolist()) == (1, [[1], [1]])


def test_an_edge_to_an_unknown_node_is_named(tmp_path: Path) -> None:
    edges, nodes = write_tables(tmp_path, np.array([[0, 1], [1, 7]]), np.array([0, 1]))
    with pytest.raises(InputError, match="'target': node 7 is not in the node table"):
        table_statistics(edges, nodes, scratch=tmp_path)


def test_ids_that_are_words_and_too_little_memory_need_a_conversion(tmp_path: Path) -> None:
    edges, nodes = write_tables(tmp_path, np.array([[0], [1]]), np.array([0, 1]))
    with pytest.raises(NeedsConversionError, match=r"needs 0\.3 GB"):
        table_statistics(edges, nodes, memory="128MB")
    pq.write_table(pa.table({"source": ["a"], "target": ["b"]}), edges)
    with pytest.raises(NeedsConversionError, match="not integers"):
        table_statistics(edges, nodes)


def test_too_small_a_disk_is_said_before_the_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges, nodes = write_tables(tmp_path, np.array([[0], [1]]), np.array([0, 1]))
    usage = type("Usage", (), {"free": 7})
    monkeypatch.setattr(tables.shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(InputError, match="TMPDIR=FOLDER"):
        table_statistics(edges, nodes, scratch=tmp_path)
