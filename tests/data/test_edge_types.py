"""Types of edges are kept apart, and stay with the graph through files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily import Graph, read_npz, write_npz
from heterophily.data.edge_types import EdgeTypes
from heterophily.data.graph import same_content
from heterophily.errors import InputError

EDGES = ([0, 1, 1, 2, 0, 3], [1, 0, 2, 3, 1, 3])
TYPES = ["likes", "likes", "owns", "owns", "owns", "likes"]


def typed(**options: Any) -> Graph:
    return Graph.from_edges(*EDGES, edge_type=TYPES, labels=[0, 1, 0, 1], **options)


def test_each_type_has_its_edges_and_a_pair_may_have_several() -> None:
    graph = typed()
    assert graph.type_names == ("likes", "owns")
    assert graph.num_edges == 3
    assert graph.of_type("likes").num_edges == 1
    assert graph.of_type("owns").num_edges == 3
    assert graph.of_type("owns").edge_types is None
    assert graph.report.edge_types == {"likes": 1, "owns": 3}
    assert "2 types of edges: likes (1), owns (3)" in graph.report.found


def test_direction_and_self_loops_are_treated_alike_in_every_type() -> None:
    graph = typed(direction="keep", self_loops="keep")
    assert graph.of_type("likes").adjacency.toarray().astype(int).tolist() == [
        [0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]
    ]  # fmt: skip
    assert graph.of_type("owns").num_edges == 3


def test_weights_of_the_types_add_up() -> None:
    graph = typed(weight=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    # 0-1: likes in both directions (the larger is 2) and owns (5)
    assert graph.adjacency[0, 1] == graph.adjacency[1, 0] == 7
    assert graph.of_type("likes").adjacency[0, 1] == 2


def test_only_typed_graphs_have_another_hash() -> None:
    plain = Graph.from_edges(*EDGES, labels=[0, 1, 0, 1])
    assert plain.content_hash == typed().replace(edge_types=None).content_hash
    assert plain.content_hash != typed().content_hash
    other = Graph.from_edges(*EDGES, edge_type=["owns", *TYPES[:-1]], labels=[0, 1, 0, 1])
    assert other.content_hash != typed().content_hash
    assert typed().replace(adjacency=plain.adjacency).edge_types is None
    assert not same_content(typed(), plain)


@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 3.0, 0.1, 5.0, 6.0]])
@pytest.mark.parametrize("how", [{}, {"direction": "keep", "self_loops": "keep"}])
def test_types_survive_npz_files(tmp_path: Path, how: dict[str, str], weight: Any) -> None:
    graph = typed(weight=weight, **how)
    write_npz(graph, tmp_path / "g.npz")
    assert same_content(read_npz(tmp_path / "g.npz"), graph)


def test_bad_types_are_refused() -> None:
    with pytest.raises(InputError, match=r"edge_type has shape \(1,\), expected \(6,\)"):
        Graph.from_edges(*EDGES, edge_type=["a"])
    with pytest.raises(InputError, match="numbers from 0 to 1"):
        Graph.from_edges(*EDGES, edge_type=[0, 1, 2, 0, 0, 0], type_names=["a", "b"])
    with pytest.raises(InputError, match="there are 100 types of edges; at most 64"):
        Graph.from_edges(range(100), range(1, 101), edge_type=range(100))
    with pytest.raises(InputError, match="no type of edges 'hates'; types: 'likes', 'owns'"):
        typed().of_type("hates")
    with pytest.raises(InputError, match="have no types"):
        typed().replace(edge_types=None).of_type("likes")
    types = typed().edge_types
    assert types is not None
    with pytest.raises(InputError, match="need as many different names"):
        EdgeTypes(("a", "a"), types.matrices)
    with pytest.raises(InputError, match="together are not the edges"):
        typed().replace(edge_types=EdgeTypes(("a",), types.matrices[:1]))
    with pytest.raises(InputError, match="need matrices of shape"):
        typed().replace(edge_types=EdgeTypes(("a",), (sp.csr_array((2, 2)),)))


def test_npz_files_with_half_the_fields_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edge_index=np.array([[0], [1]]), y=[0, 1], edge_type=[0])
    with pytest.raises(InputError, match="one of them is missing"):
        read_npz(tmp_path / "g.npz")
