"""Files of the collection GraphData."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.readers.graph_data import read_graph_data
from heterophily.errors import InputError

ADJACENCY = sp.csr_matrix([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
WORDS = sp.csr_matrix([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])


def _write(folder: Path, **changes: Any) -> Path:
    path = folder / "toy.npz"
    fields = {"adj_matrix": ADJACENCY, "node_attr": WORDS, "node_label": np.array([0, 1, 0])}
    np.savez(path, **{**fields, **changes})
    return path


@pytest.mark.parametrize("features", [WORDS, WORDS.toarray()])
def test_pickled_matrices_and_plain_arrays_are_read(tmp_path: Path, features: Any) -> None:
    graph = read_graph_data(_write(tmp_path, node_attr=features)).graph()
    assert (graph.num_nodes, graph.num_edges, graph.num_classes) == (3, 2, 2)
    held = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    assert np.array_equal(held, WORDS.toarray())  # type: ignore[arg-type]


class _Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("true",)


def test_a_pickle_that_asks_for_more_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing was executed"):
        read_graph_data(_write(tmp_path, adj_matrix=_Evil()))


def test_fields_that_are_missing_or_do_not_fit_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="different sizes"):
        read_graph_data(_write(tmp_path, node_label=np.array([0, 1])))
    with pytest.raises(InputError, match="not a square sparse matrix"):
        read_graph_data(_write(tmp_path, adj_matrix=np.eye(3)))
    path = tmp_path / "other.npz"
    np.savez(path, adj_matrix=ADJACENCY)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no field 'node_attr'"):
        read_graph_data(path)
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match="damaged"):
        read_graph_data(path)
