"""A trainer that trains nothing: the skill of a candidate is one of its settings."""

from __future__ import annotations

import numpy as np

from heterophily.evaluation.scores import accuracy
from heterophily.prediction.candidates import Candidate
from heterophily.prediction.families import ACM
from heterophily.prediction.folds import held_out_folds
from heterophily.prediction.members import Member
from heterophily.prediction.search import Search
from heterophily.prediction.trial import Clock

LABELS = np.arange(60) % 3


class PretendTrainer:
    """Members whose votes are right on a known share of nodes; nothing is trained."""

    def __init__(self, splits, workers=1):
        self.workers = workers
        self.splits, self.trained, self.tasks = splits, 0, []
        self.graph = type("Graph", (), {"labels": LABELS})

    def train(self, tasks):
        self.tasks += tasks
        self.trained += len(tasks)
        return {task: self.member(*task) for task in tasks}

    def member(self, candidate, split, seed):
        skill = candidate.settings["skill"]
        if skill is None:
            return None
        rng = np.random.default_rng([split, seed, int(1000 * skill)])
        votes = np.eye(3)[np.where(rng.random(60) < skill, LABELS, (LABELS + 1) % 3)]
        return Member(candidate, split, seed, {}, votes, 1)


def candidates(*skills):
    return {ACM: (Candidate(ACM, {"skill": skill}) for skill in skills)}


def make(seconds=1.0, ticks=None):
    splits = held_out_folds(LABELS, seed=0)
    now = (lambda: 0.0) if ticks is None else (lambda: float(next(ticks)))
    return Search(PretendTrainer(splits), accuracy, Clock(seconds, now))
