"""What is drawn is distinct, complete and uniform."""

from __future__ import annotations

import numpy as np
import pytest

from heterophily.data.synthetic.draws import (
    distinct_numbers,
    neighbours,
    pairs_in_triangle,
    spread_rounding,
)
from heterophily.errors import InputError


def test_distinct_numbers_are_distinct_and_complete() -> None:
    rng = np.random.default_rng(0)
    for count in (0, 1, 40, 60, 100):
        numbers = distinct_numbers(100, count, rng)
        assert numbers.size == count == np.unique(numbers).size
        assert count == 0 or (numbers.min() >= 0 and numbers.max() < 100)


def test_places_in_the_triangle_are_all_pairs_also_where_square_roots_round() -> None:
    low, high = pairs_in_triangle(np.arange(45))
    assert sorted(zip(low.tolist(), high.tolist(), strict=True)) == [
        (u, v) for u in range(10) for v in range(u + 1, 10)
    ]
    node = np.array([1_000_000_000, 94_906_267])
    low, high = pairs_in_triangle(node * (node - 1) // 2)
    assert (low == 0).all()
    assert (high == node).all()
    low, high = pairs_in_triangle(node * (node - 1) // 2 - 1)
    assert (low == node - 2).all()
    assert (high == node - 1).all()


def test_spread_rounding_keeps_the_sum_and_is_unbiased() -> None:
    rng = np.random.default_rng(0)
    values = np.array([0.25, 1.5, 2.0, 0.9, 3.1, 0.25])
    rounded = np.array([spread_rounding(values, rng) for _ in range(4000)])
    assert ((rounded == np.floor(values)) | (rounded == np.ceil(values))).all()
    assert np.abs(rounded.sum(1) - values.sum()).max() < 1
    assert np.abs(rounded.mean(0) - values).max() < 0.03


@pytest.mark.parametrize("is_directed", [True, False])
def test_every_node_gets_the_neighbours_it_asks_for(is_directed: bool) -> None:
    sizes = np.array([10, 25, 15])
    labels = np.repeat(np.arange(3), sizes)
    rng = np.random.default_rng(0)
    intra, inter = rng.integers(0, 4, 50), rng.integers(0, 8, 50)
    source, target = neighbours(intra, inter, sizes, is_directed=is_directed, rng=rng)
    is_same = labels[source] == labels[target]
    assert (np.bincount(source[is_same], minlength=50) == intra).all()
    assert (np.bincount(source[~is_same], minlength=50) == inter).all()
    assert (source != target).all()
    ends = np.stack([source, target])
    ends = ends if is_directed else np.sort(ends, axis=0)
    assert np.unique(ends, axis=1).shape[1] == source.size


def test_neighbours_are_uniform_over_the_eligible_nodes() -> None:
    """Every node of classes of 10 and 20 draws 3 and 4 neighbours, 500 times."""
    sizes, rng = np.array([10, 20]), np.random.default_rng(0)
    node_class = np.repeat([0, 1], sizes)
    intra, inter = np.full(30, 3), np.full(30, 4)
    counts = np.zeros((30, 30))
    for _ in range(500):
        source, target = neighbours(intra, inter, sizes, is_directed=True, rng=rng)
        np.add.at(counts, (source, target), 1)
    room = np.where(np.equal.outer(node_class, node_class), sizes[node_class, None] - 1, 0)
    room += np.where(room == 0, 30 - sizes[node_class, None], 0)
    share = np.where(np.equal.outer(node_class, node_class), 3, 4) / room
    np.fill_diagonal(share, 0)
    deviation = counts - 500 * share
    assert (np.abs(deviation) <= 5 * np.sqrt(500 * share * (1 - share))).all()
    assert np.diag(counts).sum() == 0


@pytest.mark.parametrize(
    ("intra", "inter", "is_directed", "message"),
    [
        (4, 0, True, "4 neighbours in its own class, which has 3"),
        (0, 5, True, "5 neighbours in other classes, which has 4"),
        (2, 0, False, "16 edges to its own class are asked for but there are 12 pairs"),
    ],
)
def test_too_many_neighbours_are_refused(
    intra: int, inter: int, is_directed: bool, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        neighbours(
            np.full(8, intra),
            np.full(8, inter),
            np.array([4, 4]),
            is_directed=is_directed,
            rng=np.random.default_rng(0),
        )


def test_an_undirected_graph_that_cannot_be_completed_is_refused() -> None:
    """Nodes 0 and 1 both ask for all others of their class: the pair (0, 1) is wanted twice."""
    with pytest.raises(InputError, match="no pair of nodes is left"):
        neighbours(
            np.array([3, 3, 0, 0]),
            np.zeros(4, np.int64),
            np.array([4]),
            is_directed=False,
            rng=np.random.default_rng(0),
        )
