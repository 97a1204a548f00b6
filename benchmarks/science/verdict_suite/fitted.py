"""A strong rule fitted on a large sample, where the best possible one has no formula.

Used for averaging alone in every recipe, and for all sources of the recipes whose labels follow
from the neighbours (see ``rules``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from heterophily.evaluation.scores import SCORES
from verdict_suite.bayes import average
from verdict_suite.generate import Sample
from verdict_suite.rules import neighbour_mean

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FEW_CLASSES = 6  # above, trees take too long and discriminants are as good
CHOICE_SHARE = 0.3


def _trees() -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=40,
        learning_rate=0.15,
        max_leaf_nodes=10,
        min_samples_leaf=40,
        max_bins=48,
        early_stopping=False,
        random_state=0,
    )


LEARNERS: dict[str, Callable[[], object]] = {
    "linear discriminant": LinearDiscriminantAnalysis,
    "quadratic discriminant": lambda: QuadraticDiscriminantAnalysis(reg_param=0.01),
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "trees": _trees,
}


class BestOf:
    """The learner that is best on a part of the sample which none of them was fitted on."""

    def __init__(self, values: Floats, labels: Ints, score: str, classes: int) -> None:
        order = np.random.default_rng(0).permutation(labels.size)
        cut = round(CHOICE_SHARE * labels.size)
        choice, fit = order[:cut], order[cut:]
        self.classes = classes
        found = {}
        for name, make in LEARNERS.items():
            if name == "trees" and classes > FEW_CLASSES:
                continue
            learner = make().fit(values[fit], labels[fit])  # type: ignore[attr-defined]
            chances = self._chances(learner, values[choice])
            found[SCORES[score](labels[choice], chances)] = learner
        self.learner = found[max(found)]

    def _chances(self, learner: object, values: Floats) -> Floats:
        chances = np.zeros((values.shape[0], self.classes))
        chances[:, learner.classes_] = learner.predict_proba(values)  # type: ignore[attr-defined]
        return chances

    def __call__(self, values: Floats) -> Floats:
        """Return the probability of each class, (N, C)."""
        return self._chances(self.learner, values)


def statistics(sample: Sample) -> dict[str, Floats]:
    """Return for each source of information the numbers (N, D) that a rule may look at."""
    degree = np.diff(sample.adjacency.indptr).astype(np.float64)[:, None]
    shares = neighbour_mean(sample.adjacency, np.eye(sample.recipe.num_classes)[sample.labels])
    found = {
        "structure": np.hstack([degree, neighbour_mean(sample.adjacency, degree)]),
        "neighbours_labels": np.hstack([shares, degree]),
    }
    if sample.features is not None:
        x = sample.features
        mean = neighbour_mean(sample.adjacency, x)
        found |= {
            "own": x,
            "low": average(sample, x),
            "neighbours_features": np.hstack([mean, extremes(sample, x), degree]),
            "own_features": np.hstack([x, mean, x - mean, x * mean, extremes(sample, x), degree]),
        }
    found["everything"] = np.hstack(list(found.values()))
    return found


def extremes(sample: Sample, values: Floats) -> Floats:
    """Return the smallest and the largest value among the neighbours, column by column."""
    rows = np.flatnonzero(np.diff(sample.adjacency.indptr))
    found = np.zeros((values.shape[0], 2 * values.shape[1]))
    starts = sample.adjacency.indptr[rows]
    seen = values[sample.adjacency.indices]
    found[rows, : values.shape[1]] = np.minimum.reduceat(seen, starts)
    found[rows, values.shape[1] :] = np.maximum.reduceat(seen, starts)
    return found
