"""Metrics of a graph on disk are those of the same graph in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heterophily import Graph
from heterophily.data.disk.write import write_disk_graph
from heterophily.metrics.aggregation_homophily import (
    aggregation_homophily,
    aggregation_homophily_flags,
)
from heterophily.metrics.catalog import LINEAR, METRICS, compute_metrics
from heterophily.metrics.class_compatibility import class_compatibility
from heterophily.metrics.collect import disk
from heterophily.metrics.collect.disk import disk_statistics
from heterophily.metrics.label_counts import label_counts

LABEL_METRICS = [name for name in LINEAR if METRICS[name].needs == "labels"]


def random_graph(seed: int, classes: int, *, unlabelled: bool, directed: bool) -> Graph:
    rng = np.random.default_rng(seed)
    num_nodes = int(rng.integers(20, 300))
    ends = rng.integers(0, num_nodes - 2, (2, int(rng.integers(10, 6 * num_nodes))))
    return Graph.from_edges(
        *ends,
        num_nodes=num_nodes,
        labels=rng.integers(-1 if unlabelled else 0, classes, num_nodes),
        class_names=tuple("abcdefgh"[:classes]),
        direction="keep" if directed else "drop",
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("unlabelled", [False, True])
@pytest.mark.parametrize("classes", [2, 3, 5, 8])
def test_every_label_metric_equals_that_in_memory(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    classes: int,
    unlabelled: bool,
    directed: bool,
) -> None:
    monkeypatch.setattr(disk.row_blocks, "__kwdefaults__", {"rows": 17, "entries": 40})
    for seed in range(4):
        graph = random_graph(seed, classes, unlabelled=unlabelled, directed=directed)
        stored = write_disk_graph(graph, tmp_path / f"{seed}.disk", rows_per_part=50)
        counted = disk_statistics(stored, threads=2)
        np.testing.assert_array_equal(counted.class_pairs, label_counts(graph).class_pairs)
        np.testing.assert_array_equal(class_compatibility(counted), class_compatibility(graph))
        assert counted.consistent[0] == aggregation_homophily_flags(graph).sum()
        found, expected = compute_metrics(counted), compute_metrics(graph)
        for name in LABEL_METRICS:
            if name == "effective_homophily" or (directed and name == "two_hop_homophily"):
                assert "in memory only" in found.reasons[name]
            elif expected[name] is None:
                assert found[name] is None
            else:
                # Roots of eigenvalues that are zero but for rounding enter this one.
                close = 1e-7 if name == "neighbourhood_identifiability" else 1e-9
                assert found[name] == pytest.approx(expected[name], abs=close)


def test_equal_means_count_as_consistent_also_on_disk(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)  # two classes: balanced neighbourhoods are common
    ends = rng.integers(0, 4_000, (2, 8_000))
    graph = Graph.from_edges(*ends, num_nodes=4_000, labels=rng.integers(0, 2, 4_000))
    counted = disk_statistics(write_disk_graph(graph, tmp_path / "g.disk"))
    assert aggregation_homophily(counted) == aggregation_homophily(graph)


def test_result_does_not_depend_on_threads(tmp_path: Path) -> None:
    graph = random_graph(7, 4, unlabelled=True, directed=False)
    stored = write_disk_graph(graph, tmp_path / "g.disk", rows_per_part=11)
    values = [compute_metrics(disk_statistics(stored, threads=k)).values for k in (1, 2, 5)]
    assert values[0] == values[1] == values[2]


def test_more_than_255_classes_are_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    graph = Graph.from_edges(
        *rng.integers(0, 900, (2, 5_000)), num_nodes=900, labels=np.arange(900) % 300
    )
    counted = disk_statistics(write_disk_graph(graph, tmp_path / "g.disk"))
    np.testing.assert_array_equal(counted.class_pairs, label_counts(graph).class_pairs)


def test_graph_without_native_library_is_counted_by_numpy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(3, 3, unlabelled=True, directed=False)
    stored = write_disk_graph(graph, tmp_path / "g.disk")
    native = compute_metrics(disk_statistics(stored)).values
    monkeypatch.setenv("HETEROPHILY_ENGINE_ISA", "none")
    assert compute_metrics(disk_statistics(stored)).values == native


def test_single_class_is_refused_with_the_same_words(tmp_path: Path) -> None:
    graph = Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 0])
    counted = disk_statistics(write_disk_graph(graph, tmp_path / "graph.disk"))
    memory, stored = compute_metrics(graph).reasons, compute_metrics(counted).reasons
    assert stored["class_homophily"] == memory["class_homophily"]
