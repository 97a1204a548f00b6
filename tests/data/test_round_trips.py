"""A graph that leaves through any exporter and returns through its importer is the same graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from heterophily.data.graph import Graph, same_content
from heterophily.data.interchange import (
    from_dgl,
    from_networkx,
    from_pyg,
    from_scipy,
    to_networkx,
    to_pyg,
    to_scipy,
)
from heterophily.data.markup import read_markup, write_markup
from heterophily.data.npz import read_npz, write_npz
from heterophily.data.tables import read_tables, write_tables

graphs = strategies.graphs
ANY_TEXT = strategies.PLAIN_TEXT | strategies.LOOKS_LIKE_SOMETHING_ELSE | strategies.WITH_LINE_ENDS
XML_TEXT = strategies.PLAIN_TEXT | strategies.LOOKS_LIKE_SOMETHING_ELSE.filter(
    lambda text: "\t" not in text
)
quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".parquet"])
@quick
@given(graph=graphs(texts=ANY_TEXT))
def test_tables_give_the_graph_back(tmp_path: Path, suffix: str, graph: Graph) -> None:
    edges, nodes = tmp_path / f"edges{suffix}", tmp_path / f"nodes{suffix}"
    write_tables(graph, edges, nodes)
    assert same_content(read_tables(edges, nodes), graph)


def test_a_column_of_features_alone_is_not_taken_for_labels(tmp_path: Path) -> None:
    graph = Graph.from_edges([0], [1], num_nodes=4, features=np.array([[1.0], [0], [0], [0]]))
    write_tables(graph, tmp_path / "e.csv", tmp_path / "n.csv")
    assert same_content(read_tables(tmp_path / "e.csv", tmp_path / "n.csv"), graph)


@pytest.mark.parametrize("suffix", [".graphml", ".gexf"])
@quick
@given(graph=graphs(texts=XML_TEXT))
def test_markup_gives_the_graph_back(tmp_path: Path, suffix: str, graph: Graph) -> None:
    path = tmp_path / f"graph{suffix}"
    write_markup(graph, path)
    assert same_content(read_markup(path), graph)


@quick
@given(graph=graphs(texts=ANY_TEXT))
def test_npz_gives_the_graph_back(tmp_path: Path, graph: Graph) -> None:
    write_npz(graph, tmp_path / "graph.npz")
    assert same_content(read_npz(tmp_path / "graph.npz"), graph)


@quick
@given(graph=graphs(texts=ANY_TEXT))
def test_networkx_gives_the_graph_back(graph: Graph) -> None:
    assert same_content(from_networkx(to_networkx(graph)), graph)


@quick
@given(graph=graphs(texts=ANY_TEXT))
def test_scipy_gives_the_structure_back(graph: Graph) -> None:
    returned = from_scipy(
        to_scipy(graph),
        features=graph.features,
        labels=graph.labels,
        class_names=graph.class_names,
        node_ids=graph.node_ids,
        splits=graph.splits,
    )
    assert same_content(returned, graph)


@quick
@given(graph=graphs(texts=ANY_TEXT), dense=st.booleans())
def test_pyg_gives_the_graph_back(graph: Graph, dense: bool) -> None:
    pytest.importorskip("torch_geometric")
    assert same_content(from_pyg(to_pyg(graph, dense_features=dense)), graph)


class DglLike:
    """The part of the interface of a DGL graph that the importer uses."""

    is_homogeneous, is_block = True, False

    def __init__(self, graph: Graph) -> None:
        import torch

        coo = graph.adjacency.tocoo()
        self._edges = torch.from_numpy(coo.row.copy()), torch.from_numpy(coo.col.copy())
        self._num_nodes = graph.num_nodes
        self.edata: dict[str, Any] = {"weight": torch.from_numpy(coo.data.copy())}
        self.ndata: dict[str, Any] = {"label": torch.from_numpy(graph.labels.copy())}
        if graph.features is not None:
            features: Any = graph.features
            dense = features.toarray() if hasattr(features, "toarray") else features.copy()
            self.ndata["feat"] = torch.from_numpy(dense)
        if graph.splits is not None:
            masks = graph.splits.train, graph.splits.validation, graph.splits.test
            for name, mask in zip(("train_mask", "val_mask", "test_mask"), masks, strict=True):
                self.ndata[name] = torch.from_numpy(mask.T.copy())

    def edges(self) -> Any:
        return self._edges

    def num_nodes(self) -> int:
        return self._num_nodes


@quick
@given(graph=graphs())
def test_dgl_gives_structure_features_labels_and_splits(graph: Graph) -> None:
    returned = from_dgl(DglLike(graph))
    assert returned.content_hash == graph.content_hash
    assert (returned.splits is None) == (graph.splits is None)
    if graph.splits is not None and returned.splits is not None:
        assert np.array_equal(returned.splits.test, graph.splits.test)


@pytest.mark.parametrize("exporter", ["tables", "graphml", "gexf", "networkx", "scipy", "pyg"])
def test_direction_and_self_loops_survive_when_they_are_kept(tmp_path: Path, exporter: str) -> None:
    graph = Graph.from_edges(
        [0, 1, 1, 2],
        [1, 0, 2, 2],
        weight=[1.0, 2.0, 3.0, 4.0],
        labels=[0, 1, 1],
        direction="keep",
        self_loops="keep",
    )
    keep: dict[str, Any] = {"direction": "keep", "self_loops": "keep"}
    if exporter == "tables":
        write_tables(graph, tmp_path / "e.csv", tmp_path / "n.csv")
        returned = read_tables(tmp_path / "e.csv", tmp_path / "n.csv", **keep)
    elif exporter in ("graphml", "gexf"):
        write_markup(graph, tmp_path / f"g.{exporter}")
        returned = read_markup(tmp_path / f"g.{exporter}", **keep)
    elif exporter == "networkx":
        returned = from_networkx(to_networkx(graph), **keep)
    elif exporter == "scipy":
        returned = from_scipy(to_scipy(graph), labels=graph.labels, **keep)
    else:
        pytest.importorskip("torch_geometric")
        returned = from_pyg(to_pyg(graph), **keep)
    assert returned.is_directed
    assert same_content(returned, graph)


def test_real_dataset_survives_tables_and_networkx(tmp_path: Path, data_folder: Path) -> None:
    graph = read_npz(data_folder / "texas.npz")
    write_tables(graph, tmp_path / "edges.csv", tmp_path / "nodes.parquet")
    assert same_content(read_tables(tmp_path / "edges.csv", tmp_path / "nodes.parquet"), graph)
    assert same_content(from_networkx(to_networkx(graph)), graph)
