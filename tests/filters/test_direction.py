import numpy as np
import pytest
import scipy.sparse as sp

from heterophily.data.adjacency import adjacency_from_edges
from heterophily.errors import UnknownNameError
from heterophily.filters.direction import EDGE_DIRECTIONS, is_one_way, turned

EDGES = ([0, 0, 1, 2, 3, 3], [1, 2, 0, 2, 0, 1])
WEIGHTS = [1.0, 2.0, 5.0, 1.0, 3.0, 4.0]


def read(direction, *, weight=WEIGHTS):
    return adjacency_from_edges(
        *EDGES, num_nodes=4, weight=weight, direction=direction, self_loops="keep"
    )[0]


@pytest.mark.parametrize("weight", [WEIGHTS, None], ids=["weighted", "plain"])
def test_both_directions_are_what_reading_without_direction_gives(weight):
    both = turned(read("keep", weight=weight), "both")
    np.testing.assert_array_equal(both.toarray(), read("drop", weight=weight).toarray())
    assert both.has_sorted_indices


def test_reversed_edges_are_the_transpose_and_given_ones_the_matrix():
    given = read("keep")
    np.testing.assert_array_equal(turned(given, "reversed").toarray(), given.toarray().T)
    np.testing.assert_array_equal(turned(given, "given").toarray(), given.toarray())


@pytest.mark.parametrize("way", EDGE_DIRECTIONS)
def test_a_symmetric_matrix_stays_as_it_is(way):
    symmetric = read("drop")
    np.testing.assert_array_equal(turned(symmetric, way).toarray(), symmetric.toarray())
    assert not is_one_way(symmetric)


def test_an_edge_without_a_twin_or_with_a_twin_of_another_weight_is_one_way():
    assert is_one_way(read("keep"))
    assert is_one_way(sp.csr_array([[0.0, 1.0], [2.0, 0.0]]))


def test_an_unknown_direction_is_named():
    with pytest.raises(UnknownNameError, match="unknown edge direction 'out'"):
        turned(read("keep"), "out")
