import numpy as np
import pytest
from prediction.pretend import LABELS, candidates, make

from heterophily.prediction.ensemble import average, choose, unseen
from heterophily.prediction.folds import held_out_folds
from heterophily.prediction.members import Member
from heterophily.prediction.search import Trial
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


def test_a_worse_finalist_joins_when_it_is_right_where_the_best_is_not():
    """Finalists 1 and 2 err on the same nodes; 3 is weaker but errs elsewhere, with less trust."""
    splits = held_out_folds(LABELS, seed=0)
    right, wrong = np.eye(3)[LABELS], np.eye(3)[(LABELS + 1) % 3]
    group = np.arange(60) // 20  # where somebody errs

    def trial(errs, trust):
        sure = trust * np.where(errs[:, None], wrong, right) + (1 - trust) / 3
        found = Trial(None, {(at, 0): Member(None, at, 0, {}, sure, 1) for at in range(5)})
        found.scores[0] = float((~errs).mean())
        return found

    best, twin = trial(group == 0, 0.5), trial(group == 0, 0.5)
    other = trial(group > 0, 0.4)
    other.members = {
        key: Member(None, key[0], 0, {}, np.where((group == 0)[:, None], right, m.probabilities), 1)
        for key, m in other.members.items()
    }
    together = choose([best, twin, other], LABELS, splits, accuracy)
    assert together.trials[:2] == (best, other)
    assert together.score == 1.0


def test_only_members_that_saw_none_of_the_nodes_are_fair():
    search = make()
    (trial,) = search.run(candidates(0.9))
    members, splits = list(trial.members.values()), search.bench.splits
    assert unseen(members, splits, np.flatnonzero(splits[0].test)) == members
    assert unseen(members, splits, np.flatnonzero(splits[0].validation)) == []


def test_the_average_is_of_probabilities():
    member = [Member(None, 0, 0, {}, np.array([[p, 1 - p]]), 1) for p in (0.2, 0.6)]
    assert average(member) == pytest.approx(np.array([[0.4, 0.6]]))


def test_two_who_help_only_together_both_join():
    """Beside the best, 2 and 3 each turn more nodes wrong than right; all three are right."""
    splits = held_out_folds(LABELS, seed=0)
    right, wrong = np.eye(3)[LABELS], np.eye(3)[(LABELS + 1) % 3]
    group = np.arange(60) // 3 % 4

    def trial(lead):  # of the right class over a wrong one, in each of four groups of nodes
        share = 0.5 + np.array(lead)[group] / 2
        vote = share[:, None] * right + (1 - share[:, None]) * wrong
        return Trial(None, {(at, 0): Member(None, at, 0, {}, vote, 1) for at in range(5)})

    best = trial([-0.5, 0.2, 0.2, 0.2])
    second, third = trial([0.3, -0.3, -0.3, 0.9]), trial([0.3, 0.9, 0.9, -0.3])
    together = choose([best, second, third], LABELS, splits, accuracy)
    assert together.scores[1] < together.scores[0] < together.scores[2] == 1.0
    assert len(together.trials) == 3
