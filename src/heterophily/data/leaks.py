"""Features that are a copy of the label, found one column at a time.

A column that tells the class of nearly every node by itself was most likely made from the label (a
status that is set when the class is known). A model would learn nothing but that column, so the
graph carries a warning. The column is not removed: some labels are that easy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.wording import Doubt, count, listed

SUPPORT = 20
"""A class counts when it has so many labelled nodes; two such classes are needed."""

NEARLY_ALL = 0.995
"""Share of the nodes of a class that must be told right, for every class that counts."""

NODES_PER_VALUE = 20
"""A column has few values when there are at least so many labelled nodes for each of them."""

SAMPLE = 2000
"""Labelled nodes on which all columns are tried first; only what passes is tried on all nodes."""

MOSTLY_FILLED = 0.5
"""Share of non-zeros from which a column of a sparse matrix is examined as a dense one."""

_SHARED = 0.5  # of the nodes of a class, so many must have a value that repeats
_MOST_FILLED_COLUMNS = 256  # of a sparse matrix, examined as dense ones


def leak_remarks(
    features: Any, labels: NDArray[np.int64] | None, names: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Return a warning that names the features which tell the label by themselves.

    Parameters
    ----------
    features
        (N, F) dense or CSR, or ``None``.
    labels
        (N,) classes 0..C-1, -1 = unlabelled.
    names
        Name of each feature; by default its number, counted from 0.

    Examples
    --------
    >>> labels = np.arange(60) % 2
    >>> leak_remarks(np.stack([np.arange(60), 3 - labels], axis=1), labels)
    ("feature '1' tells the class of nearly every node by itself; leave it out if it was \
made from the label",)
    """
    if features is None or labels is None:
        return ()
    found = LeakDetector(labels).columns(features)
    return warning(found if names is None else [names[int(place)] for place in found])


def warning(columns: Sequence[Any]) -> tuple[str, ...]:
    """Return the warning about some features, or nothing if there are none."""
    texts = [str(column) for column in columns]
    if not texts:
        return ()
    subject = f"feature {listed(texts)} tells" if len(texts) == 1 else (
        f"each of {count(len(texts), 'feature')} ({listed(texts)}) tells"
    )  # fmt: skip
    them, were = ("it", "it was") if len(texts) == 1 else ("them", "they were")
    return (
        Doubt(
            f"{subject} the class of nearly every node by itself; leave {them} out if {were} "
            "made from the label"
        ),
    )


class LeakDetector:
    """Finds columns that tell the labels (N,), -1 = unlabelled: on a sample first, then on all.

    >>> LeakDetector(np.arange(50) // 25).columns(np.arange(100).reshape(50, 2) // 50)
    [0, 1]
    """

    def __init__(self, labels: NDArray[np.int64]) -> None:
        self._labelled = np.flatnonzero(labels >= 0)
        # Numbered anew: a label may be any whole number, and what follows counts up to the largest.
        self._labels = np.unique(labels[self._labelled], return_inverse=True)[1]
        counts = np.bincount(self._labels, minlength=1) >= SUPPORT
        self._is_possible = np.count_nonzero(counts) >= 2
        if self._is_possible:
            self._picked = _sample(self._labels)
            self._sample = self._labelled[self._picked]
            self._sample_labels = self._labels[self._picked]

    def tells(self, values: Any) -> bool:
        """Whether a column (N,), or one of a sparse matrix (N, K), tells the labels."""
        return bool(self.columns(values if sp.issparse(values) else values[:, None]))

    def columns(self, features: Any) -> list[int]:
        """Return the columns of a matrix, dense or CSR, that tell the labels."""
        if not self._is_possible:
            return []
        passed = _telling_columns(features[self._sample], self._sample_labels)
        if not passed or self._sample.size == self._labels.size:
            return passed
        rest = _telling_columns(features[:, passed][self._labelled], self._labels)
        return [passed[place] for place in rest]


def _telling_columns(rows: Any, labels: NDArray[np.int64]) -> list[int]:
    """Return the columns of labelled rows that tell their labels."""
    if not sp.issparse(rows):
        return [place for place in range(rows.shape[1]) if tells_label(rows[:, place], labels)]
    rows = sp.csr_array(rows)
    found = _indicators(rows, labels)
    filled = np.bincount(rows.indices, minlength=rows.shape[1]) >= MOSTLY_FILLED * labels.size
    dense = [int(c) for c in np.flatnonzero(filled)[:_MOST_FILLED_COLUMNS] if c not in found]
    if dense:
        inside = _telling_columns(sp.csr_array(rows[:, dense]).toarray(), labels)
        found |= {dense[place] for place in inside}
    return sorted(found)


def _sample(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return up to SAMPLE nodes, as many of each class as there are, spread over the nodes."""
    if labels.size <= SAMPLE:
        return np.arange(labels.size)
    sizes = np.bincount(labels)
    each = max(2 * SUPPORT, SAMPLE // int(np.count_nonzero(sizes)))
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    steps = np.maximum(1, sizes // each)
    picked = [
        order[start : start + size : step][:each]
        for start, size, step in zip(starts, sizes, steps, strict=True)
    ]
    return np.sort(np.concatenate(picked))


def tells_label(values: NDArray[Any], labels: NDArray[np.int64]) -> bool:
    """Whether one column tells the class of (nearly) every node.

    Either it has few values, each of which occurs in one class; or it is one of two values exactly
    in one class; or it has many values, which repeat in one class only; or the classes lie one
    above the other along it (a threshold between two).

    >>> labels = np.repeat([0, 1], 30)
    >>> tells_label(np.arange(60.0), labels), tells_label(np.arange(60.0) % 7, labels)
    (True, False)
    """
    levels, place = np.unique(values, return_inverse=True)
    if levels.size < 2:
        return False
    present, classes = np.unique(labels, return_inverse=True)
    sizes = np.bincount(classes)
    counts = sizes >= SUPPORT
    if np.count_nonzero(counts) < 2:
        return False
    if levels.size * NODES_PER_VALUE <= values.size:
        table = np.bincount(place * present.size + classes, minlength=levels.size * present.size)
        table = table.reshape(levels.size, present.size)
        right = table * (np.arange(present.size) == table.argmax(axis=1)[:, None])
        if (right.sum(axis=0)[counts] >= NEARLY_ALL * sizes[counts]).all():
            return True
        if levels.size == 2:
            return _is_indicator(table[1], sizes, values.size) or _is_indicator(
                table[0], sizes, values.size
            )
        return False
    if _repeat_in_one_class(place, classes, sizes):
        return True
    order = np.argsort(place, kind="stable")
    if present.size > 2:
        return _in_layers(place[order], classes[order], present.size)
    below = np.cumsum(classes[order] == 0)[np.flatnonzero(np.diff(place[order]))]
    above = np.cumsum(classes[order] == 1)[np.flatnonzero(np.diff(place[order]))]
    first = np.minimum(below / sizes[0], 1 - above / sizes[1])
    second = np.minimum(above / sizes[1], 1 - below / sizes[0])
    return bool(max(first.max(), second.max()) >= NEARLY_ALL)


def _repeat_in_one_class(
    place: NDArray[np.int64], classes: NDArray[np.int64], sizes: NDArray[np.int64]
) -> bool:
    """Whether nodes that share their value share their class, for many nodes of each class.

    Nodes whose value nobody else has say nothing and do not count.
    """
    counts = np.bincount(place)
    shared = counts[place] > 1
    met = np.bincount(classes[shared], minlength=sizes.size)
    large = sizes >= SUPPORT
    if (met[large] < np.maximum(SUPPORT, _SHARED * sizes[large])).any():
        return False
    alike = np.unique(place * sizes.size + classes, return_inverse=True)[1]
    others = np.bincount(alike)[alike] - 1  # nodes of the same value and class
    is_right = shared & (2 * others > counts[place] - 1)
    right = np.bincount(classes[is_right], minlength=sizes.size)
    return bool((right[large] >= NEARLY_ALL * met[large]).all())


def _in_layers(place: NDArray[np.int64], classes: NDArray[np.int64], num_classes: int) -> bool:
    """Whether sorted values meet one class after the other, and no value has two of them."""
    changes = np.flatnonzero(np.diff(classes))
    return changes.size == num_classes - 1 and bool((place[changes] != place[changes + 1]).all())


def _is_indicator(inside: NDArray[np.int64], sizes: NDArray[np.int64], total: int) -> bool:
    """Whether nodes, counted per class, are those of one class."""
    enough = (sizes >= SUPPORT) & (total - sizes >= SUPPORT)
    whole = (inside >= NEARLY_ALL * sizes) & (inside >= NEARLY_ALL * max(1, inside.sum()))
    return bool((enough & whole).any())


def _indicators(features: Any, labels: NDArray[np.int64]) -> set[int]:
    """Return the columns of a sparse matrix that are non-zero exactly in one class."""
    sizes = np.bincount(labels)
    filled = np.bincount(features.indices, minlength=features.shape[1])
    found: set[int] = set()
    for label in np.flatnonzero((sizes >= SUPPORT) & (labels.size - sizes >= SUPPORT)):
        size = sizes[label]
        alike = (filled >= NEARLY_ALL * size) & (NEARLY_ALL * filled <= size)
        if not alike.any():
            continue
        inside = np.bincount(features[labels == label].indices, minlength=features.shape[1])
        exact = alike & (inside >= NEARLY_ALL * np.maximum(size, filled))
        found |= {int(column) for column in np.flatnonzero(exact)}
    return found
