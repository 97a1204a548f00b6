"""Test nodes that nothing sees, and folds of the rest: the splits of ``auto``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heterophily.data.remedies import remedy
from heterophily.data.splits import Split, SplitBatch, split_generator
from heterophily.errors import InputError

FOLDS = 5
TEST_SHARE = 0.2


def held_out_folds(labels: NDArray[np.int64], *, seed: int, folds: int = FOLDS) -> SplitBatch:
    """Hold a fifth of every class back for testing and cut the rest into folds.

    All splits have the same test nodes; fold i is the validation set of split i, the other folds
    are its training set. Models trained on different splits may therefore vote together on the
    test nodes. Classes are dealt out one after the other, so the parts are of nearly equal size;
    the one or two nodes of a tiny class are never test nodes.

    >>> splits = held_out_folds(np.arange(100) % 2, seed=0)
    >>> len(splits), splits[0].sizes
    (5, (64, 16, 20))
    """
    if not (labels >= 0).any():
        raise InputError(f"no node is labelled, so nothing can be learnt; {remedy('name-label')}")
    classes = _shuffled_classes(labels, labels >= 0, split_generator(seed, 0))
    is_test = np.zeros(labels.size, np.bool_)
    rest = []
    for nodes in classes:
        cut = round(TEST_SHARE * nodes.size)
        is_test[nodes[:cut]] = True
        rest.append(nodes[cut:])
    if not is_test.any() or sum(nodes.size for nodes in rest) < 2 * folds:
        raise InputError(
            f"{int((labels >= 0).sum())} labelled nodes are too few to choose a model: label more "
            f"nodes (at least {3 * folds}, and 3 of a class), or train a model by its name"
        )
    return SplitBatch.stack(_dealt(rest, is_test, folds))


def refolded(
    splits: SplitBatch, labels: NDArray[np.int64], *, seed: int, folds: int = FOLDS
) -> SplitBatch:
    """Cut training and validation nodes of every split, together, into folds.

    Fold k of split s is the validation set of split ``s * folds + k``, the other folds are its
    training set; the test nodes are those of split s.

    >>> masks = np.eye(3, dtype=bool)[np.arange(100) % 3]
    >>> given = SplitBatch(*(masks[:, [k]].T for k in range(3)))
    >>> given[0].sizes, refolded(given, np.arange(100) % 2, seed=0)[0].sizes
    ((34, 33, 33), (53, 14, 33))
    """
    found: list[Split] = []
    fewest = int((splits.train | splits.validation).sum(1).min())
    if fewest < folds:
        raise InputError(
            f"{fewest} training and validation nodes cannot be cut into {folds} folds: label more "
            "nodes, or leave refit out"
        )
    for number, split in enumerate(splits):
        rng = split_generator(seed, number)
        classes = _shuffled_classes(labels, split.train | split.validation, rng)
        found += _dealt(classes, split.test, folds)
    return SplitBatch.stack(found)


def _shuffled_classes(
    labels: NDArray[np.int64], among: NDArray[np.bool_], rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Return the nodes ``among`` of every class, in random order."""
    return [
        rng.permutation(np.flatnonzero(among & (labels == k))) for k in np.unique(labels[among])
    ]


def _dealt(
    classes: Sequence[NDArray[np.int64]], is_test: NDArray[np.bool_], folds: int
) -> list[Split]:
    """Deal out classes one after the other: each fold validates once and trains otherwise."""
    fold_of = np.full(is_test.size, -1)
    nodes = np.concatenate(classes)
    fold_of[nodes] = np.arange(nodes.size) % folds
    return [Split((fold_of >= 0) & (fold_of != k), fold_of == k, is_test) for k in range(folds)]
