import numpy as np
import pytest
from prediction.pretend import LABELS, candidates, make

from heterophily.prediction.ensemble import average, choose, unseen
from heterophily.prediction.members import Member
from heterophily.training.scores import accuracy


def test_as_many_finalists_vote_as_score_best_on_validation_nodes():
    search = make()
    good = search.run(candidates(0.7, 0.65, 0.7, 0.68, 0.72, 0.71))
    search.add_seeds(good, seeds=4)
    together = choose(good, LABELS, search.bench.splits, accuracy)
    assert len(together.trials) > 1
    assert together.score == max(together.scores) > good[0].mean
    spoilt = [*good[:1], *make().run(candidates(0.0))]
    alone = choose(spoilt, LABELS, search.bench.splits, accuracy)
    assert alone.trials == (good[0],)


def test_only_members_that_saw_none_of_the_nodes_are_fair():
    search = make()
    (trial,) = search.run(candidates(0.9))
    members, splits = list(trial.members.values()), search.bench.splits
    assert unseen(members, splits, np.flatnonzero(splits[0].test)) == members
    assert unseen(members, splits, np.flatnonzero(splits[0].validation)) == []


def test_the_average_is_of_probabilities():
    member = [Member(None, 0, 0, {}, np.array([[p, 1 - p]]), 1) for p in (0.2, 0.6)]
    assert average(member) == pytest.approx(np.array([[0.4, 0.6]]))
