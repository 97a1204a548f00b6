"""Objects of other libraries: what is read from them, and what is refused by name."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch

from heterophily.data.graph import Graph
from heterophily.data.interchange import (
    from_dgl,
    from_networkx,
    from_pyg,
    from_scipy,
    to_networkx,
    to_pyg,
    to_scipy,
)
from heterophily.errors import InputError, MissingExtraError

# --- SciPy ----------------------------------------------------------------------------------------


def test_scipy_matrix_of_any_format_gives_the_same_graph() -> None:
    dense = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 1]])
    matrices = [dense, sp.coo_array(dense), sp.csc_matrix(dense), sp.lil_array(dense)]
    hashes = {from_scipy(matrix).content_hash for matrix in matrices}
    assert len(hashes) == 1
    graph = from_scipy(dense)
    assert (graph.num_edges, graph.report.one_way_edges, graph.report.self_loops_removed) == (
        2,
        2,
        1,
    )


def test_scipy_entries_other_than_one_are_weights_and_stored_twice_add_up() -> None:
    twice = sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2))
    assert from_scipy(twice).adjacency.toarray().tolist() == [[0, 3], [3, 0]]


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\), expected \(N, N\)"),
        ([[0, -1], [0, 0]], r"adjacency\[0, 1\] = -1.0; edge weights must be finite"),
        ([[0, 0], [np.nan, 0]], r"adjacency\[1, 0\] = nan"),
        ([["a", "b"], ["c", "d"]], "does not hold numbers"),
    ],
)
def test_scipy_refusals(matrix: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        from_scipy(matrix)


def test_to_scipy_gives_a_matrix_that_may_be_changed() -> None:
    graph = Graph.from_edges([0], [1])
    matrix = to_scipy(graph)
    matrix.data[:] = 9
    assert graph.adjacency.max() == 1


# --- networkx -------------------------------------------------------------------------------------


def test_karate_club() -> None:
    graph = from_networkx(nx.karate_club_graph(), label="club")
    assert (graph.num_nodes, graph.num_edges) == (34, 78)
    assert graph.class_names == ("Mr. Hi", "Officer")
    assert graph.is_weighted
    assert graph.report.one_way_edges == 0  # an undirected edge has no direction to lose


def test_parallel_edges_are_merged_and_their_weights_added() -> None:
    multi = nx.MultiGraph()
    multi.add_edge("a", "b", weight=1.5)
    multi.add_edge("b", "a", weight=2.0)
    graph = from_networkx(multi)
    assert graph.adjacency.toarray().tolist() == [[0, 3.5], [3.5, 0]]
    assert graph.report.duplicates_merged == 1


def test_directed_networkx_edges_lose_their_direction_with_a_note_or_keep_it() -> None:
    arcs = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    assert from_networkx(arcs).report.one_way_edges == 1
    assert from_networkx(arcs, direction="keep").num_edges == 3
    undirected = from_networkx(nx.Graph([(0, 1), (1, 1)]), direction="keep", self_loops="keep")
    assert undirected.adjacency.toarray().tolist() == [[0, 1], [1, 1]]


def test_missing_weights_are_one_with_a_remark() -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=3)
    graph.add_edge(1, 2)
    read = from_networkx(graph)
    assert sorted(set(read.adjacency.data.tolist())) == [1.0, 3.0]
    assert read.remarks == ("1 edges without the attribute 'weight' have weight 1",)


def test_nodes_of_other_types_are_known_by_their_text() -> None:
    graph = from_networkx(nx.grid_2d_graph(2, 2))
    assert graph.node_ids.tolist() == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]
    assert graph.remarks == ("node ids are the nodes written as text",)
    with pytest.raises(InputError, match="node id 1 occurs more than once"):
        from_networkx(nx.Graph([(1, "1")]))


def test_scalar_vector_and_numbered_features() -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: 1.5, 1: 2.5}, "age")
    nx.set_node_attributes(graph, {0: [1, 2], 1: np.array([3, 4])}, "x")
    nx.set_node_attributes(graph, {0: 7.0}, "feature_0")
    assert np.asarray(from_networkx(graph).features).tolist() == [[1, 2], [3, 4]]
    by_name = from_networkx(graph, features=["age"])
    assert np.asarray(by_name.features).tolist() == [[1.5], [2.5]]
    assert by_name.remarks == ("node attributes ignored: feature_0, x",)
    for node in graph:
        del graph.nodes[node]["x"]
    assert sp.csr_array(from_networkx(graph).features).toarray().tolist() == [[7], [0]]


def node_attribute(values: dict[int, Any], name: str = "y") -> nx.Graph:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, values, name)
    return graph


@pytest.mark.parametrize(
    ("graph", "options", "sentence"),
    [
        (
            node_attribute({0: 0, 1: -1}),
            {},
            "node '1', attribute 'y': label '-1' is negative; leave",
        ),
        (node_attribute({0: 0, 1: 0.5}), {}, "node '1', attribute 'y': label '0.5' is not a whole"),
        (
            node_attribute({}),
            {"label": "club"},
            "no node has an attribute 'club'; attributes: none",
        ),
        (node_attribute({0: [1], 1: [2, 3], 2: [1]}, "x"), {}, "node '1', attribute 'x': int64 of"),
        (node_attribute({0: [1.0]}, "x"), {}, "node '1', attribute 'x': missing"),
        (
            node_attribute({0: {5: 1.0}, 1: {}, 2: {-1: 2.0}}, "x"),
            {},
            "node '2'.*column -1, but there are only 6",
        ),
        (
            node_attribute({0: 1}, "age"),
            {"features": ["age"]},
            "node '1', attribute 'age': missing",
        ),
        (node_attribute({0: "old"}, "age"), {"features": ["age"]}, "'old' is not a finite number"),
        (
            node_attribute({0: "tain"}, "split"),
            {},
            "node '0', attribute 'split': 'tain' is not a part",
        ),
        (nx.Graph([(0, 1, {"weight": -1})]), {}, r"edge \(0, 1\): weight = '-1'"),
        (nx.Graph(), {}, "has no nodes"),
        ([(0, 1)], {}, "list is not a networkx graph"),
    ],
)
def test_networkx_refusals(graph: Any, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        from_networkx(graph, **options)


def test_class_order_and_empty_classes_survive_networkx() -> None:
    graph = Graph.from_edges([0], [1], labels=[2, 0], class_names=("z", "never", "a"))
    assert from_networkx(to_networkx(graph)).class_names == ("z", "never", "a")


# --- PyTorch Geometric ----------------------------------------------------------------------------


def data(**fields: Any) -> Any:
    """An object with the attributes of PyG's Data, without PyG."""
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    return SimpleNamespace(**{"edge_index": edges, **fields})


def test_pyg_like_object_of_any_library_is_read() -> None:
    graph = from_pyg(
        data(
            x=torch.eye(3, requires_grad=True),
            y=torch.tensor([[0.0], [float("nan")], [1.0]]),
            train_mask=torch.tensor([[1, 0], [0, 1], [0, 0]], dtype=torch.bool),
            val_mask=torch.tensor([[0, 1], [1, 0], [0, 0]], dtype=torch.bool),
            test_mask=torch.tensor([False, False, True]),
            edge_attr=torch.tensor([[2.0], [2.0], [1.0], [1.0]]),
        )
    )
    assert graph.labels.tolist() == [0, -1, 1]
    assert graph.adjacency[0, 1] == 2
    assert graph.splits is not None
    assert graph.splits.test.tolist() == [[False, False, True]] * 2
    assert from_pyg(data(num_nodes=5)).num_nodes == 5


def test_numpy_arrays_serve_as_tensors() -> None:
    graph = from_pyg(SimpleNamespace(edge_index=np.array([[0], [1]]), y=np.array([0, 1, -1])))
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (3, 1, 2)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_sparse_and_short_features_are_read_exactly() -> None:
    dense = torch.tensor([[0.0, 0.5], [1.0, 0.0], [0.0, 0.0]])
    forms = [dense, dense.to_sparse(), dense.to_sparse_csr(), dense.bfloat16(), dense.half()]
    assert len({from_pyg(data(x=x)).content_hash for x in forms}) == 1
    assert sp.issparse(from_pyg(data(x=forms[1])).features)


def test_what_pyg_holds_but_a_graph_does_not_is_remarked() -> None:
    graph = from_pyg(data(edge_attr=torch.ones(4, 2), train_mask=torch.ones(3, dtype=torch.bool)))
    assert graph.remarks == (
        "edge_attr of shape (4, 2) ignored: not one weight each",
        "train_mask ignored: a split needs val_mask and test_mask too",
    )


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (SimpleNamespace(node_types=["paper", "author"]), "has several kinds of nodes"),
        (data(x=(torch.eye(2), torch.eye(3))), "has several kinds of nodes"),
        (SimpleNamespace(x=torch.eye(3)), r"has no edge_index \(2, E\)"),
        (SimpleNamespace(edge_index=torch.ones(4, 3)), r"edge_index has shape \(4, 3\)"),
        (data(x=torch.eye(3), y=torch.eye(3)), r"y has shape \(3, 3\).*several labels"),
        (data(x=torch.eye(3), y=torch.tensor([0.5, 1, 2])), "y must hold whole numbers"),
        (data(x=torch.eye(3), y=torch.tensor([0, -2, 1])), r"labels\[1\] = -2"),
        (data(x=torch.eye(2)), r"source\[3\] = 2 is not a node number"),
        (
            data(num_nodes=3, train_mask=[0, 1, 2], val_mask=[1], test_mask=[2]),
            "train_mask is int64",
        ),
    ],
)
def test_pyg_refusals(given: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        from_pyg(given)


def test_to_pyg_holds_both_directions_masks_and_names() -> None:
    pytest.importorskip("torch_geometric")
    graph = Graph.from_edges(
        [0, 1], [1, 2], labels=[0, 1, -1], class_names=("a", "b"), features=np.eye(3)
    )
    result = to_pyg(graph)
    assert result.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert result.y.tolist() == [0, 1, -1]
    assert result.class_names == ["a", "b"]
    assert not result.is_directed()
    assert "edge_weight" not in result


def test_real_hetero_data_is_refused() -> None:
    pyg = pytest.importorskip("torch_geometric.data")
    with pytest.raises(InputError, match="HeteroData has several kinds of nodes"):
        from_pyg(pyg.HeteroData())


def test_to_pyg_without_pyg_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'heterophily\[pyg\]'"):
        to_pyg(Graph.from_edges([0], [1]))


# --- DGL ------------------------------------------------------------------------------------------


class Dgl:
    """The part of the interface of a DGL graph that the importer uses."""

    is_homogeneous, is_block = True, False

    def __init__(self, ndata: dict[str, Any], edata: dict[str, Any]) -> None:
        self.ndata, self.edata = ndata, edata

    def edges(self) -> Any:
        return torch.tensor([0, 1]), torch.tensor([1, 2])

    def num_nodes(self) -> int:
        return 4


def test_dgl_graph_is_read_by_its_usual_or_given_names() -> None:
    label, other = torch.tensor([0, 1, 1, -1]), torch.tensor([1, 0, 0, 0])
    dgl = Dgl({"feat": torch.eye(4), "label": label, "kind": other}, {"w": torch.tensor([1.0, 2])})
    graph = from_dgl(dgl)
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (4, 2, 4)
    assert graph.labels.tolist() == [0, 1, 1, -1]
    assert graph.adjacency[1, 2] == 2
    assert from_dgl(dgl, label="kind").labels.tolist() == [1, 0, 0, 0]


def test_dgl_refusals() -> None:
    with pytest.raises(InputError, match="no node data 'colour'; it has feat"):
        from_dgl(Dgl({"feat": torch.eye(4)}, {}), label="colour")
    several = Dgl({}, {})
    several.is_homogeneous = False  # type: ignore[misc]
    with pytest.raises(InputError, match="several kinds of nodes or edges"):
        from_dgl(several)
    with pytest.raises(InputError, match="int is not like a DGL graph"):
        from_dgl(3)


def test_importers_do_not_import_torch() -> None:
    code = (
        "import sys; import heterophily.data.interchange, heterophily.data.tables, "
        "heterophily.data.markup; print([m for m in ('torch', 'torch_geometric', 'dgl') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
