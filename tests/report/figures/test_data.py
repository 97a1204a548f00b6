"""The data of each figure, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from report.made import portrait, ring

from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.metrics.node_homophily import node_homophily_values
from heterophily.report.figures import (
    accuracy_by_homophily,
    alpha,
    compatibility,
    local_homophily,
    ternary,
    training_curves,
    where_it_stands,
)
from heterophily.report.figures.request import Request

# --- local homophily, compatibility, place ----------------------------------------------------


def test_every_node_of_the_ring_is_in_the_bin_of_one_half() -> None:
    found = local_homophily.histogram(ring(40))
    assert found["counts"] == [0] * 10 + [40] + [0] * 9
    assert (found["mean"], found["undefined"]) == (0.5, 0)


def test_nodes_without_a_labelled_neighbour_are_counted_apart() -> None:
    lonely = Graph.from_edges([0], [1], num_nodes=3, labels=[0, 1, 1])
    found = local_homophily.histogram(lonely)
    assert (sum(found["counts"]), found["undefined"]) == (2, 1)


def test_compatibility_rows_add_up_to_one() -> None:
    found = compatibility.matrix(ring())
    assert found["shares"] == [[0.5, 0.5], [0.5, 0.5]]
    assert found["sizes"] == [20, 20]


def test_too_many_classes_are_refused_with_the_way_to_the_numbers() -> None:
    many = ring(62, labels=np.arange(62) % 31)
    with pytest.raises(InputError, match="31 classes; the heat map shows at most 30"):
        compatibility.matrix(many)


def test_a_known_dataset_is_not_drawn_twice() -> None:
    twin = ring(name="cora")
    found = where_it_stands.collect(Request(graphs=(twin,)))["points"]
    assert [p["is_known"] for p in found if p["graph"] == "cora"] == [False]
    assert len(found) == 10


# --- weights ----------------------------------------------------------------------------------


def test_every_weight_is_counted_once_over_nodes_and_splits() -> None:
    graph = ring()
    found = alpha.histograms([portrait(graph, split=k) for k in range(3)], layer=-1)
    assert [sum(counts) for counts in found["counts"]] == [120] * 3
    assert sum(found["means"]) == pytest.approx(1.0, abs=1e-5)


def test_models_without_weights_or_hidden_layer_are_told() -> None:
    with pytest.raises(InputError, match="gcn has no mixing weights; choose an ACM model"):
        alpha.histograms([portrait(ring(), model="gcn", channels=())], layer=0)
    with pytest.raises(InputError, match="one layer, so no hidden one; draw alpha-output"):
        alpha.histograms([portrait(ring(), model="acm-sgc-1", layers=1)], layer=0)


def test_corners_of_the_triangle_are_the_channels() -> None:
    assert ternary.triangle(np.eye(3)) == pytest.approx(np.array(list(ternary.CORNERS.values())))
    middle = ternary.triangle(np.full((1, 3), 1 / 3))[0]
    distances = [np.hypot(*(middle - corner)) for corner in ternary.CORNERS.values()]
    assert max(distances) == pytest.approx(min(distances))


def test_columns_follow_the_names_not_the_order_of_the_channels() -> None:
    graph = ring()
    made = portrait(graph, channels=("identity", "low", "high"))
    found = ternary.points(made, node_homophily_values(graph), most=100, seed=0)
    low = [row[0] for row in found["layers"][-1]]
    assert low == pytest.approx(made.weights[-1][:, 1], abs=1e-4)


def test_other_channels_do_not_fit_the_triangle() -> None:
    graph = ring()
    made = portrait(graph, model="acm-gcn+", channels=("low", "high", "identity", "structure"))
    with pytest.raises(InputError, match=r"acm-gcn\+ mixes low, high, identity, structure"):
        ternary.points(made, node_homophily_values(graph), most=10, seed=0)


# --- accuracy by homophily --------------------------------------------------------------------


def test_accuracy_by_bin_worked_out_by_hand() -> None:
    """Six test nodes: homophily 0, 0.1 | 0.5 | 1, 1 and one undefined; two splits."""
    graph = ring(6)
    homophily = np.array([0.0, 0.1, 0.5, 1.0, 1.0, np.nan])
    everything = np.ones(6, bool)
    wrong = 1 - graph.labels
    right = graph.labels
    one = np.where(np.arange(6) == 0, wrong, right)  # node 0 is wrong
    made = [
        portrait(graph, split=0, test=everything, predictions=one),
        portrait(graph, split=1, test=everything, predictions=wrong),
    ]
    found = accuracy_by_homophily.by_bin(made, homophily)
    assert found["accuracy"] == [0.25, None, 0.5, None, 0.5]
    assert found["std"] == [0.25, None, 0.5, None, 0.5]
    assert found["nodes"] == [4, 0, 2, 0, 4]


def test_only_test_nodes_count() -> None:
    graph = ring(8)
    test = np.arange(8) < 4
    guess = np.where(test, graph.labels, 1 - graph.labels)
    found = accuracy_by_homophily.by_bin(
        [portrait(graph, test=test, predictions=guess)], node_homophily_values(graph)
    )
    assert found["accuracy"][2] == 1.0
    assert sum(found["nodes"]) == 4


# --- curves -----------------------------------------------------------------------------------


def test_long_runs_are_thinned_and_keep_their_epoch_numbers() -> None:
    found = training_curves.curves(portrait(ring(), epochs=1000))
    assert found["epoch"][:3] == [1, 4, 7]
    assert len(found["epoch"]) <= training_curves.MOST_POINTS
    assert len(found["train_loss"]) == len(found["epoch"])
    assert found["best_epoch"] == 500


def test_a_loss_that_is_no_number_leaves_a_gap() -> None:
    made = portrait(ring(), epochs=4)
    made.train_loss[2] = np.nan
    assert training_curves.curves(made)["train_loss"][2] is None
