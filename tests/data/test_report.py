"""The report: what was found and what was done, on graphs small enough to count by eye."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from heterophily.data.graph import Graph
from heterophily.data.npz import read_npz


def messy() -> Graph:
    """Six nodes: a pair, an arc, a loop, a duplicate, two isolated nodes, one of them looped."""
    return Graph.from_edges(
        [0, 1, 1, 1, 4],
        [1, 0, 2, 2, 4],
        labels=[0, 0, 1, -1, 2, 2],
        features=np.diag([1.0, 1, 1, 0, 1, 1]),
        name="messy",
        remarks=("read from a drawer",),
    )


def test_everything_found_and_done_is_counted() -> None:
    report = messy().report
    assert report.edge_rows == 5
    assert report.duplicates_merged == 1
    assert report.one_way_edges == 1
    assert report.direction_dropped
    assert (report.self_loops_found, report.self_loops_removed) == (1, 1)
    assert report.isolated_nodes == 3
    assert (report.connected_components, report.largest_component) == (4, 3)
    assert report.zero_feature_rows == 1
    assert report.unlabelled_nodes == 1
    assert report.class_sizes == {"0": 2, "1": 1, "2": 2}
    assert report.classes_with_one_node == ("1",)


def test_text_says_it_in_words() -> None:
    assert str(messy().report).splitlines()[:-1] == [
        "messy: 6 nodes, 2 edges (undirected), 6 features, 3 classes",
        "  found  3 isolated nodes",
        "  found  4 connected components, the largest has 3 nodes",
        "  found  1 node without any feature",
        "  found  1 unlabelled node",
        "  found  classes with one node: 1",
        "  done   1 duplicate edge merged",
        "  done   direction dropped: 1 edge had no reverse edge",
        "  done   1 self loop removed",
        "  done   read from a drawer",
    ]


def test_nothing_is_reported_about_a_clean_graph() -> None:
    report = Graph.from_edges([0, 1], [1, 0], labels=[0, 1]).report
    assert report.done == ()
    assert report.found == ("classes with one node: 0, 1",)


def test_kept_direction_and_loops_are_told_as_kept() -> None:
    graph = Graph.from_edges([0, 1, 2], [1, 2, 2], direction="keep", self_loops="keep")
    report = graph.report
    assert not report.direction_dropped
    assert report.self_loops_removed == 0
    assert report.done == ("1 self loop kept",)
    assert report.isolated_nodes == 0
    assert report.connected_components == 1


def test_a_loop_does_not_make_a_node_less_isolated() -> None:
    graph = Graph.from_edges([0, 2], [1, 2], direction="keep", self_loops="keep")
    assert graph.report.isolated_nodes == 1


def test_weights_are_reported() -> None:
    report = Graph.from_edges([0, 1, 1], [1, 0, 2], weight=[1.0, 2.0, 0.0], num_nodes=3).report
    assert report.is_weighted
    assert report.unequal_weights == 1
    assert report.zero_weight_edges_dropped == 1
    assert "1 edge of weight 0 dropped" in report.done


def test_report_is_plain_data() -> None:
    data = json.loads(json.dumps(messy().report.to_dict()))
    assert data["nodes"] == 6
    assert data["done"][-1] == "read from a drawer"


def test_empty_graph_has_a_report() -> None:
    report = Graph.from_edges([], []).report
    assert (report.nodes, report.connected_components, report.largest_component) == (0, 0, 0)


def test_texas_has_the_quirks_of_its_description(data_folder: Path) -> None:
    report = read_npz(data_folder / "texas.npz").report
    assert (report.nodes, report.edges, report.edge_rows) == (183, 279, 325)
    assert (report.self_loops_removed, report.duplicates_merged) == (16, 0)
    assert len(report.classes_with_one_node) == 1
    assert report.fixed_splits == 10
