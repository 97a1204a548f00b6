from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.pieces import Pieces
from heterophily.errors import InputError


def test_nodes_without_a_label_are_those_of_either_mark() -> None:
    pieces = Pieces(
        edge_index=np.array([[0], [1]]), labels=np.array([0, -1, 1]), unlabelled=np.array([2])
    )
    assert pieces.is_unlabelled.tolist() == [False, True, True]
    assert pieces.graph().labels.tolist() == [0, -1, -1]
    filled = pieces.graph(fill_unlabelled=0)
    assert filled.labels.tolist() == [0, 0, 0]
    assert filled.remarks == ("2 nodes without a label given class 0",)


def test_edges_listed_once_are_not_reported_as_one_way() -> None:
    edges, labels = np.array([[0, 1], [1, 2]]), np.array([0, 1, 0])
    assert Pieces(edge_index=edges, labels=labels, is_directed=False).graph().notes.one_way == 0
    assert Pieces(edge_index=edges, labels=labels).graph().notes.one_way == 2


def test_weights_and_loops_survive_the_writing_out_of_both_directions() -> None:
    pieces = Pieces(
        edge_index=np.array([[0, 1], [1, 1]]),
        labels=np.array([0, 1]),
        edge_weight=np.array([2.0, 3.0]),
        is_directed=False,
    )
    graph = pieces.graph(direction="keep", self_loops="keep")
    assert graph.adjacency.toarray().tolist() == [[0, 2], [2, 3]]


def test_pieces_without_a_number_of_nodes_are_refused() -> None:
    with pytest.raises(InputError, match="neither labels nor features"):
        Pieces(edge_index=np.zeros((2, 0), int))
