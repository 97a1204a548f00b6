"""Ridge classifiers by nested cross-validation, many at once, from one Gram matrix per fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Floats = NDArray[np.float64]

ALPHAS = (100.0, 10.0, 1.0, 0.1, 0.01)
"""Ridge penalties to choose from, the strongest first: it wins a tie."""


def stratified_folds(
    labels: NDArray[np.int64], *, folds: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the fold of every node, (n,): each class is dealt out in turn, in random order.

    Fold sizes differ by at most one, and so do the sizes of a class in two folds. A class smaller
    than the number of folds is absent from some folds; a class of one node cannot be learnt when
    its node is tested and counts as an error there.
    """
    order = rng.permutation(labels.size)
    order = order[np.argsort(labels[order], kind="stable")]
    fold = np.empty(labels.size, np.int64)
    fold[order] = np.arange(labels.size) % folds
    return fold


@dataclass(frozen=True, eq=False)
class _Sums:
    """What a ridge classifier needs to know of a set of nodes; sets add and subtract."""

    gram: Floats  # (B D, B D)
    cross: Floats  # (B D, C)
    columns: Floats  # (B D,)
    classes: Floats  # (C,)
    count: int

    @classmethod
    def of(cls, base: Floats, targets: Floats) -> _Sums:
        return cls(
            base.T @ base, base.T @ targets, base.sum(axis=0), targets.sum(axis=0), base.shape[0]
        )

    def combine(self, other: _Sums, sign: int) -> _Sums:
        return _Sums(
            self.gram + sign * other.gram,
            self.cross + sign * other.cross,
            self.columns + sign * other.columns,
            self.classes + sign * other.classes,
            self.count + sign * other.count,
        )


def _solve(sums: _Sums, design: Floats, alphas: Sequence[float]) -> tuple[Floats, Floats]:
    """Return weights on the base columns, (B D, alphas, C), and intercepts, (alphas, C).

    The design is ``base @ (design ⊗ I)``: column block q is the sum over p of
    ``design[p, q] * base block p``. The intercept is not penalised.
    """
    blocks, width = design.shape
    depth = sums.columns.size // blocks
    mean, class_mean = sums.columns / sums.count, sums.classes / sums.count
    gram = sums.gram - sums.count * np.outer(mean, mean)
    cross = sums.cross - sums.count * np.outer(mean, class_mean)
    gram = np.einsum(
        "pq,pdre,rs->qdse",
        design,
        gram.reshape(blocks, depth, blocks, depth),
        design,
        optimize=True,
    ).reshape(width * depth, width * depth)
    cross = np.einsum("pq,pdc->qdc", design, cross.reshape(blocks, depth, -1))
    cross = cross.reshape(width * depth, -1)
    found = np.empty((blocks * depth, len(alphas), class_mean.size))
    for place, alpha in enumerate(alphas):
        system = gram.copy(order="F")
        system.flat[:: system.shape[0] + 1] += alpha
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        weights = cho_solve(factor, cross, check_finite=False).reshape(width, depth, -1)
        found[:, place] = np.einsum("pq,qdc->pdc", design, weights).reshape(blocks * depth, -1)
    return found, class_mean - np.einsum("b,bac->ac", mean, found)


def _correct(
    base: Floats, labels: NDArray[np.int64], weights: Floats, intercepts: Floats
) -> NDArray[np.int64]:
    """Return for each alpha how many nodes are classified correctly."""
    scores = base @ weights.reshape(weights.shape[0], -1) + intercepts.reshape(-1)
    guesses = scores.reshape(base.shape[0], *intercepts.shape).argmax(axis=2)
    return np.asarray((guesses == labels[:, None]).sum(axis=0))


def nested_accuracy(
    base: Floats,
    labels: NDArray[np.int64],
    fold: NDArray[np.int64],
    *,
    classifiers: Mapping[str, Sequence[Floats]],
    alphas: Sequence[float] = ALPHAS,
) -> dict[str, Floats]:
    r"""Return the accuracy of each classifier on each fold, (folds,), in [0, 1].

    A classifier minimises :math:`\|T - \Phi W - 1 b^\top\|^2 + \alpha \|W\|^2` with targets T of
    +1 for the class and -1 elsewhere, and answers the class with the highest score. Its design
    :math:`\Phi` is a combination of the column blocks of ``base``; a classifier may bring several
    designs. Design and alpha are chosen inside the training folds, by leaving out one training
    fold at a time; the test fold is not looked at before the choice is made.

    Gram matrices add up over folds, so they are computed once per fold and serve every
    classifier, every alpha and both levels of the cross-validation.

    Parameters
    ----------
    base
        (n, B D): B blocks of D columns.
    labels
        (n,) classes 0..C-1.
    fold
        (n,) number of the fold of each node, at least three folds.
    classifiers
        For each name the designs to choose from, each (B, K): K blocks of combined columns.
    """
    num_folds, num_classes = int(fold.max()) + 1, int(labels.max()) + 1
    targets = 2.0 * np.eye(num_classes)[labels] - 1.0
    parts = [fold == number for number in range(num_folds)]
    bases = [base[part] for part in parts]
    answers = [labels[part] for part in parts]
    sums = [_Sums.of(bases[k], targets[parts[k]]) for k in range(num_folds)]
    total = sums[0]
    for other in sums[1:]:
        total = total.combine(other, 1)
    inner = {
        name: np.zeros((num_folds, len(designs), len(alphas)), np.int64)
        for name, designs in classifiers.items()
    }
    for first in range(num_folds):
        without_first = total.combine(sums[first], -1)
        for second in range(first):
            training = without_first.combine(sums[second], -1)
            for name, designs in classifiers.items():
                for place, design in enumerate(designs):
                    model = _solve(training, design, alphas)
                    inner[name][first, place] += _correct(bases[second], answers[second], *model)
                    inner[name][second, place] += _correct(bases[first], answers[first], *model)
    result = {name: np.empty(num_folds) for name in classifiers}
    for test in range(num_folds):
        training = total.combine(sums[test], -1)
        for name, designs in classifiers.items():
            place, alpha = np.unravel_index(inner[name][test].argmax(), inner[name][test].shape)
            model = _solve(training, designs[place], [alphas[alpha]])
            result[name][test] = _correct(bases[test], answers[test], *model)[0] / len(
                answers[test]
            )
    return result


def majority_accuracy(labels: NDArray[np.int64], fold: NDArray[np.int64]) -> Floats:
    """Return per fold how often the most frequent class of the other folds is right, (folds,)."""
    result = np.empty(int(fold.max()) + 1)
    for test in range(result.size):
        guess = np.bincount(labels[fold != test]).argmax()
        result[test] = (labels[fold == test] == guess).mean()
    return result
