import math

import pytest

from heterophily.prediction.cost import (
    EpochCost,
    OnceCost,
    Speed,
    TreesCost,
    WorkSize,
    seconds,
    shortened,
)
from heterophily.prediction.families import DIRECTED, FAMILIES

SMALL = WorkSize(nodes=1000, edges=4000, features=50, values=50_000, classes=3)
LARGE = WorkSize(nodes=100_000, edges=400_000, features=50, values=5_000_000, classes=3)


@pytest.mark.parametrize("family", [*FAMILIES, *DIRECTED], ids=lambda family: family.label)
def test_a_larger_graph_costs_more_time_and_memory_for_every_family(family):
    options = {**family.options, **family.portfolio.first[0]}
    assert 0 < seconds(family.cost, SMALL, options) < seconds(family.cost, LARGE, options)
    assert 0 < family.cost.gigabytes(SMALL, options) < family.cost.gigabytes(LARGE, options)


def test_the_declared_milliseconds_add_up():
    cost = EpochCost(fixed=2.0, node=3.0, edge=0.5, value=0.1, depth=2)
    assert cost.epoch_seconds(SMALL, {}) == pytest.approx(1e-3 * (2 + 3 + 2 + 5))
    deep = cost.epoch_seconds(SMALL, {"depth": 4, "hidden": 128})
    assert deep == pytest.approx(1e-3 * (2 + 4 * (3 + 2 + 5)))


def test_first_trainings_are_shortened_where_whole_ones_take_long():
    cost = EpochCost(fixed=0.0, node=50.0, value=0.0)  # an epoch: 0.05 s and 5 s
    assert shortened(cost, SMALL, {}, total=math.inf) == 100  # 200 epochs would take 10 s
    assert shortened(cost, SMALL, {}, total=60.0) == 40  # in haste
    assert shortened(cost, SMALL, {}, total=60.0, trainings=4) == 40
    assert shortened(cost, LARGE, {}, total=math.inf) == 40  # the least that tells anything
    assert shortened(EpochCost(fixed=1.0), SMALL, {}) is None


def test_in_haste_a_training_that_goes_on_for_longer_than_usual_is_cut_off():
    cost = EpochCost(fixed=3.0, value=0.0)  # 200 epochs take 0.6 s, 1,000 three
    assert shortened(cost, SMALL, {}, total=math.inf) is None
    assert shortened(cost, SMALL, {}, total=60.0) is None
    assert shortened(cost, SMALL, {}, total=15.0) == 200
    assert shortened(cost, SMALL, {}, total=15.0, trainings=5) == 60
    assert shortened(TreesCost(blocks=1), SMALL, {"rounds": 300}, total=60.0) is None


def test_more_than_two_and_a_half_minutes_begin_alike():
    cost = TreesCost(blocks=4)
    assert shortened(cost, LARGE, {}, total=300.0) == shortened(cost, LARGE, {}, total=3000.0)


def test_the_speed_of_a_machine_is_learnt_from_finished_trainings():
    speed = Speed()
    assert speed.factor("gcn") == 1.0
    for took in (2.0, 4.0, 40.0):
        speed.report("gcn", expected=1.0, took=took)
    assert speed.factor("gcn") == 4.0
    assert speed.factor("linkx") == pytest.approx(4.0)  # not trained yet: as the others


def test_labels_that_travel_cost_by_edges_and_classes():
    cost, few = OnceCost(), WorkSize(1000, 4000, 50, 50_000, 2)
    many = WorkSize(1000, 4000, 50, 50_000, 200)
    assert seconds(cost, many, {}) > 2 * seconds(cost, few, {})
    assert seconds(cost, many, {"hops": 100}) > 1.2 * seconds(cost, many, {"hops": 50})
    moved, still = EpochCost(hops=200), EpochCost()
    assert seconds(moved, many, {}) > seconds(still, many, {})


def test_what_a_training_needs_beside_its_epochs_leaves_time_for_fewer_of_them():
    cost = TreesCost(blocks=4, cell=1e-8)
    assert shortened(cost, LARGE, {}, total=math.inf) < 400
    slow = TreesCost(blocks=4, cell=1e-8, once=1.0)
    assert shortened(slow, LARGE, {}, total=math.inf) == 40
