import numpy as np
import pytest
from prediction.pretend import LABELS, candidates, make

from heterophily.evaluation.scores import accuracy
from heterophily.prediction.ensemble import average, choose, unseen
from heterophily.prediction.folds import held_out_folds
from heterophily.prediction.members import Member
from heterophily.prediction.trial import Trial


def trial(share):
    """Return a finalist that gives the right class of a node this probability, in every split."""
    right, wrong = np.eye(3)[LABELS], np.eye(3)[(LABELS + 1) % 3]
    vote = share[:, None] * right + (1 - share[:, None]) * wrong
    return Trial(None, {(at, 0): Member(None, at, 0, {}, vote, 1) for at in range(5)})


def test_finalists_join_as_long_as_the_right_classes_become_more_probable():
    splits = held_out_folds(LABELS, seed=0)
    group = np.arange(60) // 3 % 3
    first, second, third = (trial(np.where(group == errs, 0.2, 0.9)) for errs in range(3))
    spoiler = trial(np.full(60, 0.1))
    together = choose([first, spoiler, second, third], LABELS, splits, accuracy)
    assert together.trials == (first, second, third)
    assert together.scores[-1] == together.score == 1.0 > together.scores[0]
    assert len(together.scores) == 3


def test_the_likelihood_decides_where_the_score_stands_still():
    splits = held_out_folds(LABELS, seed=0)
    unsure, sure = trial(np.full(60, 0.6)), trial(np.full(60, 0.9))
    assert choose([unsure, sure], LABELS, splits, accuracy).trials == (unsure, sure)
    assert choose([sure, unsure], LABELS, splits, accuracy).trials == (sure,)


def test_a_worse_finalist_joins_when_it_is_right_where_the_best_is_not():
    """Finalists 1 and 2 err on the same nodes; 3 is weaker but errs elsewhere, with less trust."""
    splits = held_out_folds(LABELS, seed=0)
    right, wrong = np.eye(3)[LABELS], np.eye(3)[(LABELS + 1) % 3]
    group = np.arange(60) // 20  # where somebody errs

    def trial(errs, trust):
        sure = trust * np.where(errs[:, None], wrong, right) + (1 - trust) / 3
        found = Trial(None, {(at, 0): Member(None, at, 0, {}, sure, 1) for at in range(5)})
        found.scores[0, 0] = float((~errs).mean())
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
    members, splits = list(trial.members.values()), search.trainer.splits
    assert unseen(members, splits, np.flatnonzero(splits[0].test)) == members
    assert unseen(members, splits, np.flatnonzero(splits[0].validation)) == []


def test_the_average_is_of_probabilities():
    member = [Member(None, 0, 0, {}, np.array([[p, 1 - p]]), 1) for p in (0.2, 0.6)]
    assert average(member) == pytest.approx(np.array([[0.4, 0.6]]))


def test_nobody_joins_who_is_only_surer_and_more_often_wrong():
    """The best one is right but hardly sure; the other is wrong on a sixth and sure on the rest."""
    splits = held_out_folds(LABELS, seed=0)
    modest = trial(np.full(60, 0.51))
    loud = trial(np.where(np.arange(60) % 6 == 0, 0.3, 0.999))
    assert choose([modest, loud], LABELS, splits, accuracy).trials == (modest,)
