import itertools

import numpy as np
import pytest
from prediction.pretend import LABELS, PretendTrainer, candidates, make
from prediction.quick import QUICK

from heterophily.data.splits import SplitBatch, random_splits
from heterophily.errors import InputError
from heterophily.evaluation.scores import accuracy
from heterophily.prediction.auto import auto
from heterophily.prediction.build import model_of
from heterophily.prediction.ensemble import choose
from heterophily.prediction.folds import refolded
from heterophily.prediction.refit import train_again
from heterophily.prediction.search import Search
from heterophily.prediction.trial import Clock
from heterophily.runs import job

HOW = {**QUICK, "max_trials": 2, "seeds": 1}


@pytest.fixture(scope="module")
def splits(graph):
    return random_splits(graph.labels, repeats=2, seed=0)


@pytest.fixture(scope="module")
def result(graph, splits):
    return auto(graph, splits=splits, refit=True, **HOW)


def test_folds_part_training_and_validation_nodes_and_spare_the_test_nodes(graph, splits):
    folds = refolded(splits, graph.labels, seed=0)
    for number, split in enumerate(splits):
        mine = [folds[5 * number + k] for k in range(5)]
        assert all((fold.test == split.test).all() for fold in mine)
        seen = split.train | split.validation
        assert (np.sum([fold.validation for fold in mine], axis=0) == seen).all()
        assert all(((fold.train | fold.validation) == seen).all() for fold in mine)


def test_the_choice_is_that_without_refit(graph, splits, result):
    plain = auto(graph, splits=splits, **HOW)
    assert not plain.is_refit
    assert result.is_refit
    assert plain.to_dict()["chosen"] == result.to_dict()["chosen"]
    assert plain.estimate.scores == result.estimate_of_choice.scores != result.estimate.scores


def test_each_test_set_is_judged_by_members_of_its_own_folds(graph, splits, result):
    for number, value in enumerate(result.estimate.scores["accuracy"]):
        mine = [m.probabilities for m in result.ensemble.members if m.split // 5 == number]
        assert len(mine) == 5 * len(result.choice.trials)
        rows = np.flatnonzero(splits[number].test)
        right = np.mean(mine, axis=0)[rows].argmax(1) == graph.labels[rows]
        assert value == pytest.approx(right.mean())


def test_shuffled_test_labels_change_the_estimate_and_no_member(graph, splits):
    one = SplitBatch.stack([splits[0]])
    test = one.test[0]
    shuffled = np.array(graph.labels)
    shuffled[test] = np.random.default_rng(1).permutation(shuffled[test])
    seeing, blind = (
        auto(graph.replace(labels=labels), splits=one, refit=True, **HOW)
        for labels in (graph.labels, shuffled)
    )
    assert seeing.estimate.scores != blind.estimate.scores
    for member, other in zip(seeing.ensemble.members, blind.ensemble.members, strict=True):
        assert (member.probabilities == other.probabilities).all()


def test_the_members_trained_again_are_the_model_that_is_kept(result):
    model = model_of(result, rule="fixed", seed=0)
    assert len(model.votes) == len(result.ensemble.members)
    assert model.card["splits"]["count"] == 10
    assert model.card["choice"]["refit"] is True


def test_voters_take_turns_and_time_ends_it_after_the_first_fold():
    search = make()
    choice = choose(search.run(candidates(0.9, 0.8)), LABELS, search.trainer.splits, accuracy)
    folds = refolded(search.trainer.splits, LABELS, seed=0)
    ticks = itertools.count(0.0, 1.0)
    again = Search(PretendTrainer(folds), accuracy, Clock(1e-9, lambda: next(ticks)))
    ensemble = train_again(again, choice, folds=5, seeds=3)
    assert {split % 5 for _, split, _ in again.trainer.tasks} == {0}
    assert len(ensemble.members) == 5 * len(choice.trials)
    free = Search(PretendTrainer(folds), accuracy, Clock(1.0, lambda: 0.0))
    assert len(train_again(free, choice, folds=5, seeds=3).members) == 75 * len(choice.trials)


def test_when_every_training_diverges_the_choice_stands_and_a_note_says_so():
    search = make()
    choice = choose(search.run(candidates(0.9)), LABELS, search.trainer.splits, accuracy)
    trainer = PretendTrainer(refolded(search.trainer.splits, LABELS, seed=0))
    trainer.notes, trainer.train = {}, dict.fromkeys
    again = Search(trainer, accuracy, Clock(1.0, lambda: 0.0))
    assert train_again(again, choice, folds=5, seeds=1) is choice
    assert "every training diverged" in next(iter(trainer.notes))


def test_ctrl_c_while_training_again_keeps_the_choice(graph, splits, monkeypatch):
    plain = auto(graph, splits=splits, **HOW)
    real, trained = job.train_run, []

    def train_run(run, *arguments, **options):
        trained.append(run)
        if len(trained) > plain.replicas + 3:
            raise KeyboardInterrupt
        return real(run, *arguments, **options)

    monkeypatch.setattr(job, "train_run", train_run)
    result = auto(graph, splits=splits, refit=True, **HOW)
    assert result.interrupted
    assert not result.is_refit
    assert result.estimate.scores == plain.estimate.scores


def test_refit_without_splits_and_with_too_few_nodes_is_one_sentence(graph):
    with pytest.raises(InputError, match="refit=True is for splits that are given"):
        auto(graph, refit=True, **HOW)
    masks = np.zeros((3, 1, 60), bool)
    masks[0, 0, :2], masks[1, 0, 2:4], masks[2, 0, 4:] = True, True, True
    few = SplitBatch(*masks)
    with pytest.raises(InputError, match="4 training and validation nodes cannot be cut into 5"):
        auto(graph, splits=few, refit=True, **HOW)
