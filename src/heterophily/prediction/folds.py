"""Test nodes that nothing sees, and folds of the rest: the splits of ``auto``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
    rng = split_generator(seed, 0)
    is_test = np.zeros(labels.size, np.bool_)
    fold_of = np.full(labels.size, -1)
    dealt = 0
    for k in np.unique(labels[labels >= 0]):
        nodes = rng.permutation(np.flatnonzero(labels == k))
        cut = round(TEST_SHARE * nodes.size)
        is_test[nodes[:cut]] = True
        rest = nodes[cut:]
        fold_of[rest] = (dealt + np.arange(rest.size)) % folds
        dealt += rest.size
    if not is_test.any() or dealt < 2 * folds:
        raise InputError(
            f"{int((labels >= 0).sum())} labelled nodes are too few to choose a model: label more "
            f"nodes (at least {3 * folds}, and 3 of a class), or train a model by its name"
        )
    return SplitBatch.stack(
        [Split((fold_of >= 0) & (fold_of != i), fold_of == i, is_test) for i in range(folds)]
    )
