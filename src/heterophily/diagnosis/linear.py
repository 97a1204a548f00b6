"""Ridge classifiers on groups of columns: many at once, from one Gram matrix per fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

ALPHAS = (300.0, 30.0, 3.0, 0.3, 0.03)
"""Ridge penalties to choose from, for columns that together have variance 1; strongest first."""

BALANCES = ((1.0, 1.0), (1.0, 0.3), (0.3, 1.0))
"""Weights of own columns and of the graph's columns to choose from, where both are there."""


@dataclass(frozen=True, eq=False)
class Sums:
    """What a ridge classifier needs to know of a set of nodes; sets add."""

    gram: Floats  # (D, D)
    cross: Floats  # (D, C)
    columns: Floats  # (D,)
    classes: Floats  # (C,)
    count: int

    @classmethod
    def of(cls, base: Floats, targets: Floats) -> Sums:
        """Sum over the rows of ``base`` (n, D) and ``targets`` (n, C)."""
        return cls(
            base.T @ base, base.T @ targets, base.sum(axis=0), targets.sum(axis=0), base.shape[0]
        )

    def __add__(self, other: Sums) -> Sums:
        """Return the sums over both sets."""
        return Sums(
            self.gram + other.gram,
            self.cross + other.cross,
            self.columns + other.columns,
            self.classes + other.classes,
            self.count + other.count,
        )

    def weights(
        self, chosen: Nodes, scale: Floats, alphas: Sequence[float]
    ) -> tuple[Floats, Floats]:
        """Return weights on the chosen columns, (d, alphas, C), and intercepts, (alphas, C).

        Columns are multiplied by ``scale`` (d,) before the penalty; the intercept has none.
        """
        mean, class_mean = self.columns[chosen] / self.count, self.classes / self.count
        gram = self.gram[np.ix_(chosen, chosen)] - self.count * np.outer(mean, mean)
        gram *= scale[:, None] * scale
        cross = self.cross[chosen] - self.count * np.outer(mean, class_mean)
        cross *= scale[:, None]
        found = np.empty((chosen.size, len(alphas), class_mean.size))
        for place, alpha in enumerate(alphas):
            system = gram.copy(order="F")
            system.flat[:: chosen.size + 1] += alpha
            factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
            found[:, place] = scale[:, None] * cho_solve(factor, cross, check_finite=False)
        return found, class_mean - np.einsum("d,dac->ac", mean, found)


def linear_scores(
    blocks: Mapping[str, Floats],
    settings: Mapping[str, tuple[str, ...]],
    labels: Nodes,
    *,
    num_classes: int,
    train: Nodes,
    held: Nodes,
    test: Nodes,
) -> dict[str, Floats]:
    r"""Return for each setting the scores of the test nodes, (n, C): the largest is the answer.

    A setting names blocks of columns. Its classifier minimises
    :math:`\|T - \Phi W - 1 b^\top\|^2 + \alpha \|W\|^2` with targets T of +1 for the class and -1
    elsewhere. The penalty, and the balance between the block "own" and the others, are those with
    the smallest squared error on the ``held`` nodes after fitting the ``train`` nodes; then it
    is fitted again on both. Labels of test nodes are not looked at. A class without a training
    node has the score -1 everywhere, and some other class always has more.
    """
    known = np.concatenate([train, held])
    names = [name for name, block in blocks.items() if block.shape[1]]
    parts, places, start = [], {}, 0
    for name in names:
        block = blocks[name] - blocks[name][known].mean(axis=0)
        size = float(np.sqrt(np.square(block[known]).sum() / known.size))
        parts.append(block / size if size > 1e-12 else np.zeros_like(block))
        places[name] = np.arange(start, start + block.shape[1])
        start += block.shape[1]
    base = np.hstack(parts)
    targets = 2.0 * np.eye(num_classes)[labels] - 1.0
    first, second = (Sums.of(base[rows], targets[rows]) for rows in (train, held))
    both = first + second
    found = {}
    for setting, wanted in settings.items():
        used = [name for name in wanted if name in places]
        if not used:
            found[setting] = np.tile(both.classes, (test.size, 1))
            continue
        chosen = np.concatenate([places[name] for name in used])
        is_own = np.concatenate([np.full(places[name].size, name == "own") for name in used])
        balances = BALANCES if is_own.any() and not is_own.all() else BALANCES[:1]
        best, choice = np.inf, (balances[0], ALPHAS[0])
        for balance in balances:
            scale = np.where(is_own, *balance)
            weights, intercepts = first.weights(chosen, scale, ALPHAS)
            scores = np.einsum("nd,dac->nac", base[np.ix_(held, chosen)], weights, optimize=True)
            errors = np.square(scores + intercepts - targets[held][:, None]).mean(axis=(0, 2))
            if errors.min() < best:
                best, choice = errors.min(), (balance, ALPHAS[int(errors.argmin())])
        balance, alpha = choice
        weights, intercepts = both.weights(chosen, np.where(is_own, *balance), [alpha])
        found[setting] = base[np.ix_(test, chosen)] @ weights[:, 0] + intercepts[0]
    return found


def predict_all(
    own: Floats,
    labels: Nodes,
    signal: NDArray[np.float32],
    *,
    num_classes: int,
    train: Nodes,
    held: Nodes,
) -> Nodes:
    """Return the class that a ridge classifier on own columns gives every node, (N,).

    ``own`` (n, D) are the columns of the nodes whose ``labels`` are known, ``signal`` (N, D) those
    of all nodes. The scores of the zero row and of the unit rows tell those of any other row.
    """
    count, depth = own.shape
    rows = np.vstack([own, np.zeros((1, depth)), np.eye(depth)])
    asked = np.arange(count, rows.shape[0])
    padded = np.concatenate([labels, np.zeros(asked.size, np.int64)])
    offset, *units = linear_scores(
        {"own": rows},
        {"own": ("own",)},
        padded,
        num_classes=num_classes,
        train=train,
        held=held,
        test=asked,
    )["own"]
    weights = (np.array(units) - offset).astype(np.float32)
    return np.asarray((signal @ weights + offset).argmax(axis=1), dtype=np.int64)
