"""Voters trained again with the labels that chose them: folds of training and validation nodes."""

from __future__ import annotations

from dataclasses import replace

from heterophily.prediction.ensemble import Ensemble
from heterophily.prediction.search import Search
from heterophily.prediction.trial import Trial

SEARCH_SHARE = 0.6
"""Share of the time for the search when voters are trained again; the rest is for that."""


def train_again(search: Search, choice: Ensemble, *, folds: int, seeds: int) -> Ensemble:
    """Train the voters of ``choice`` again, with the trainer of ``search`` and by its clock.

    The splits of the trainer are folds, so many for each split that chose the voters
    (:func:`~heterophily.prediction.folds.refolded`). Voters take turns, fold by fold on all splits,
    then with more seeds, until the time is up; the first fold of each is trained in any case. Who
    votes is not asked again: no node is left that could tell. When every training diverges, the
    choice stands and a note says so.
    """
    trials = tuple(Trial(trial.candidate) for trial in choice.trials)
    splits = range(0, len(search.trainer.splits), folds)
    for seed in range(seeds):
        for fold in range(folds):
            until = 1.0 if seed or fold else float("inf")
            for trial in trials:
                search.train([(trial, split + fold, seed) for split in splits], until=until)
    members = tuple(member for trial in trials for member in trial.members.values())
    if not members:
        search.trainer.notes["refit: every training diverged, the voters stay as chosen"] = None
        return choice
    return replace(choice, trials=trials, members=members)
