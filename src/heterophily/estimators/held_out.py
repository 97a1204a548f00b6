"""Which of the labelled nodes train and which decide when to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.interchange.tensors import as_array
from heterophily.errors import InputError


@dataclass(frozen=True, eq=False)
class TwoSets:
    """Training and validation nodes, in the shape of a :class:`~heterophily.data.splits.Split`.

    scikit-learn keeps test nodes outside the estimator, so there are none here; the trainer's
    test accuracy is then that of the validation nodes, and nobody reads it.
    """

    train: NDArray[np.bool_]
    validation: NDArray[np.bool_]

    @property
    def test(self) -> NDArray[np.bool_]:
        """The validation nodes."""
        return self.validation


def two_sets(
    is_known: NDArray[np.bool_],
    labels: NDArray[Any],
    *,
    train_mask: Any,
    validation_mask: Any,
    validation_fraction: float,
    rng: np.random.RandomState,
) -> TwoSets:
    """Divide the labelled nodes; without ``validation_mask`` a share of each class is drawn.

    A class gives at most all but one of its nodes to validation.

    >>> labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> sets = two_sets(
    ...     labels >= 0, labels, train_mask=None, validation_mask=None,
    ...     validation_fraction=0.25, rng=np.random.RandomState(0),
    ... )
    >>> sets.train.sum(), sets.validation.sum()
    (np.int64(6), np.int64(2))
    """
    validation = _labelled_mask(validation_mask, "validation_mask", is_known)
    train = _labelled_mask(train_mask, "train_mask", is_known)
    if train is None:
        train = is_known if validation is None else is_known & ~validation
    pool = train if validation is None else train | validation
    if np.unique(labels[pool]).size < 2:
        raise InputError(
            "all training nodes are of one class; a classifier needs at least two classes"
        )
    if validation is None:
        validation = _draw(train, labels, validation_fraction, rng)
        train = train & ~validation
    both = np.flatnonzero(train & validation)
    if both.size:
        raise InputError(f"node {both[0]} is in both train_mask and validation_mask")
    for name, mask in (("training", train), ("validation", validation)):
        if not mask.any():
            raise InputError(f"no labelled node is left for {name}")
    return TwoSets(train, validation)


def as_mask(given: Any, name: str, size: int) -> NDArray[np.bool_]:
    """Return a mask (size,), or say what is there instead."""
    mask = as_array(given, name)
    if mask.dtype != np.bool_ or mask.shape != (size,):
        raise InputError(
            f"{name} is {mask.dtype} of shape {mask.shape}, expected a mask ({size},): "
            "True or False for each node"
        )
    return mask


def _labelled_mask(given: Any, name: str, is_known: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    if given is None:
        return None
    mask = as_mask(given, name, is_known.size)
    bad = np.flatnonzero(mask & ~is_known)
    if bad.size:
        raise InputError(f"node {bad[0]} is in {name} but has no label")
    return mask


def _draw(
    nodes: NDArray[np.bool_], labels: NDArray[Any], share: float, rng: np.random.RandomState
) -> NDArray[np.bool_]:
    if not 0.0 < share < 1.0:
        raise InputError(f"validation_fraction={share!r}; it is a share between 0 and 1")
    chosen = np.zeros(nodes.shape, np.bool_)
    for label in np.unique(labels[nodes]):
        members = np.flatnonzero(nodes & (labels == label))
        wanted = min(max(1, round(share * members.size)), members.size - 1)
        chosen[rng.permutation(members)[:wanted]] = True
    if not chosen.any():
        raise InputError(
            f"no class has more than one of the {int(nodes.sum())} labelled nodes, so none is "
            "left for validation; label more nodes, or give validation_mask"
        )
    return chosen
