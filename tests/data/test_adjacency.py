"""Edge lists and what becomes of them, against a slow reference that counts pair by pair."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heterophily.data import adjacency
from heterophily.data.adjacency import EdgeNotes, adjacency_from_edges, is_sealed
from heterophily.errors import InputError


def reference(
    edges: list[tuple[int, int, int]], num_nodes: int, weighted: bool, undirected: bool, keep: bool
) -> tuple[Any, EdgeNotes]:
    """Dictionaries instead of sorted keys."""
    kept = [(u, v, w) for u, v, w in edges if not weighted or w != 0]
    total: dict[tuple[int, int], float] = defaultdict(float)
    for u, v, w in kept:
        total[u, v] = total[u, v] + w if weighted else 1
    matrix = np.zeros((num_nodes, num_nodes))
    loops = {pair for pair in total if pair[0] == pair[1]}
    links = {pair for pair in total if pair[0] != pair[1]}
    for u, v in links:
        matrix[u, v] = total[u, v]
        if undirected:
            matrix[u, v] = matrix[v, u] = max(total[u, v], total.get((v, u), 0))
    if keep:
        for u, _ in loops:
            matrix[u, u] = total[u, u]
    mutual = {(u, v) for u, v in links if (v, u) in links}
    unequal = sum(u < v and total[u, v] != total[v, u] for u, v in mutual)
    notes = EdgeNotes(
        rows=len(edges),
        duplicates=len(kept) - len(total),
        zero_weights=len(edges) - len(kept),
        self_loops=len(loops),
        self_loops_kept=keep,
        one_way=len(links) - len(mutual),
        direction_kept=not undirected,
        unequal_weights=unequal if undirected else 0,
    )
    return matrix, notes


edge_lists = st.integers(1, 6).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(
            st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(0, 3)), max_size=25
        ),
    )
)


@settings(max_examples=200, deadline=None)
@given(edge_lists, st.booleans(), st.booleans(), st.booleans(), st.sampled_from([1, 3, 1 << 15]))
def test_matrix_and_notes_equal_the_reference(
    case: tuple[int, list[tuple[int, int, int]]],
    weighted: bool,
    undirected: bool,
    keep: bool,
    block: int,
) -> None:
    num_nodes, edges = case
    columns = np.array(edges, np.int64).reshape(-1, 3).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjacency, "_BLOCK", block)
        matrix, notes = adjacency_from_edges(
            columns[0],
            columns[1],
            num_nodes=num_nodes,
            weight=columns[2] if weighted else None,
            direction="drop" if undirected else "keep",
            self_loops="keep" if keep else "remove",
        )
    expected, expected_notes = reference(edges, num_nodes, weighted, undirected, keep)
    assert np.array_equal(matrix.toarray(), expected)
    assert notes == expected_notes
    matrix.check_format(full_check=True)
    assert all(np.all(np.diff(matrix.indices[a:b]) > 0) for a, b in _rows(matrix.indptr))


def _rows(indptr: Any) -> list[tuple[int, int]]:
    return list(zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True))


def test_notes_of_a_small_list_worked_out_by_hand() -> None:
    _, notes = adjacency_from_edges(
        [0, 0, 1, 2, 2, 3], [1, 1, 0, 2, 2, 0], num_nodes=4, weight=[1, 2, 2, 1, 1, 0]
    )
    assert notes == EdgeNotes(
        rows=6, duplicates=2, zero_weights=1, self_loops=1, one_way=0, unequal_weights=1
    )


def test_the_larger_of_two_weights_holds_in_both_directions() -> None:
    matrix, _ = adjacency_from_edges([0, 1], [1, 0], num_nodes=2, weight=[2.0, 5.0])
    assert matrix.toarray().tolist() == [[0, 5], [5, 0]]


def test_node_numbers_up_to_two_to_the_31_fit_the_keys() -> None:
    last = 2**31 - 2
    keys = adjacency._packed(np.array([last, 0]), np.array([0, last]))
    assert (keys >> np.uint64(33)).tolist() == [last, 0, 0, last]
    assert keys[3] == keys[0] + 1  # the reverse of the reverse edge sorts right behind
    assert keys[2] == keys[1] + 1


@pytest.mark.parametrize("direction", ["drop", "keep"])
def test_threads_change_nothing(direction: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, 300, (2, 5_000))
    alone, notes = adjacency_from_edges(source, target, num_nodes=300, direction=direction)
    monkeypatch.setattr(adjacency, "_cuts", lambda size: [0, size // 3, size // 2, size])
    beside, notes_beside = adjacency_from_edges(source, target, num_nodes=300, direction=direction)
    assert notes == notes_beside
    for part in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(alone, part), getattr(beside, part))


def test_only_the_very_matrix_that_was_made_is_trusted() -> None:
    matrix, _ = adjacency_from_edges([0], [1], num_nodes=2)
    assert is_sealed(matrix, is_symmetric=True)
    assert not is_sealed(matrix.copy(), is_symmetric=True)
    matrix.data = np.array([1.0, 2.0])
    assert not is_sealed(matrix, is_symmetric=True)
    directed, _ = adjacency_from_edges([0], [1], num_nodes=2, direction="keep")
    assert is_sealed(directed, is_symmetric=False)
    assert not is_sealed(directed, is_symmetric=True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0, 5], [1, 1]), r"source\[1\] = 5 is not a node number; the graph has 3 nodes"),
        (([0, 1], [1, -1]), r"target\[1\] = -1 is not a node number"),
        (([0.5], [1]), "source must hold integer node numbers, got float64"),
        (([[0]], [1]), r"source must be one-dimensional, got shape \(1, 1\)"),
        (([0, 1], [1]), "source has 2 entries but target has 1"),
    ],
)
def test_bad_ends_are_named(arguments: tuple[Any, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        adjacency_from_edges(*arguments, num_nodes=3)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"weight": [1.0]}, r"weight has shape \(1,\), expected \(2,\)"),
        ({"weight": [1.0, -1.0]}, r"weight\[1\] = -1.0"),
        ({"weight": [np.nan, 1.0]}, r"weight\[0\] = nan"),
        ({"direction": "both"}, "direction='both'; choose 'drop' or 'keep'"),
        ({"self_loops": "drop"}, "self_loops='drop'; choose 'remove' or 'keep'"),
        ({"num_nodes": 2**31}, "num_nodes=2147483648 is outside"),
    ],
)
def test_bad_options_are_named(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        adjacency_from_edges([0, 1], [1, 2], **{"num_nodes": 3, **options})
