"""Features for generated nodes: rows of a base dataset, Gaussians around class means, or your own.

A *base* is a pair (features, labels). Generators draw the feature row of a node of class c from
the base rows of class c.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from heterophily.data.checks import UNLABELLED
from heterophily.errors import InputError

Ints = NDArray[np.int64]
Base = tuple[Any, Ints]
"""(M, F) features, dense or CSR or None, and (M,) labels."""


def open_base(name: str, *, data_folder: str | Path | None = None, offline: bool = False) -> Base:
    """Return features and labels of ``digits`` (embedded) or of any dataset or graph file."""
    if name == "digits":
        from heterophily.data.embedded import digits_features

        return digits_features()
    from heterophily.data.source import open_graph

    graph = open_graph(name, data_folder=data_folder, offline=offline)
    if graph.features is None or not graph.num_classes:
        raise InputError(f"{name} cannot be a base: it needs both features and labels")
    return graph.features, graph.labels


def with_classes(base: Base, classes: int) -> Base:
    """Return a base with exactly ``classes`` classes: class c is class ``c % C`` of the base.

    The paper's graphs have 5 classes; cora and citeseer have more (the first 5 serve) and pubmed
    has 3 (in the authors' program classes 3 and 4 have the features of classes 0 and 1 again).

    >>> features, labels = with_classes((np.array([[1.0], [2.0]]), np.array([0, 1])), 3)
    >>> labels.tolist(), features.ravel().tolist()
    ([0, 1, 2], [1.0, 2.0, 1.0])
    """
    features, labels = base
    if classes < 1:
        raise InputError(f"classes={classes}; a graph has at least one class")
    labels = checked_labels(labels, features)
    num_classes = int(labels.max()) + 1
    members = [np.flatnonzero(labels == number % num_classes) for number in range(classes)]
    numbers = np.repeat(np.arange(classes), [rows.size for rows in members])
    return rows_of(features, np.concatenate(members)), numbers


def gaussian_base(
    nodes_per_class: Sequence[int],
    *,
    rng: np.random.Generator,
    num_features: int = 16,
    separation: float = 2.0,
) -> Base:
    r"""Draw :math:`x_v \sim N(\mu_{z_v}, I)`, class means of length ``separation``.

    The means are orthogonal unit vectors (random ones, nearly orthogonal, when there are more
    classes than features) times ``separation``.

    >>> features, labels = gaussian_base([2, 1], rng=np.random.default_rng(0), num_features=4)
    >>> features.shape, labels.tolist()
    ((3, 4), [0, 0, 1])
    """
    if num_features < 1 or separation < 0 or not np.isfinite(separation):
        raise InputError(
            f"num_features={num_features}, separation={separation}; features are counted from 1 "
            "and the separation is zero or a positive number"
        )
    sizes = checked_sizes(nodes_per_class, len(nodes_per_class))
    labels = np.repeat(np.arange(sizes.size), sizes)
    directions = rng.standard_normal((max(sizes.size, num_features), num_features))
    if num_features >= sizes.size:
        directions = np.linalg.qr(directions)[0]
    means = directions[: sizes.size]
    means = separation * means / np.linalg.norm(means, axis=1, keepdims=True)
    features = rng.standard_normal((labels.size, num_features))
    features += means[labels]
    return features, labels


def sample_rows(
    labels: ArrayLike,
    features: Any,
    nodes_per_class: int | Sequence[int] | None,
    rng: np.random.Generator,
) -> tuple[Any, Ints]:
    """Return the features of every node, nodes sorted by class, and the class sizes.

    Rows are drawn without repetition while they last; ``None`` takes every labelled row once.
    """
    base_labels = checked_labels(labels, features)
    num_classes = int(base_labels.max()) + 1
    members = [np.flatnonzero(base_labels == number) for number in range(num_classes)]
    if nodes_per_class is None:
        return rows_of(features, np.concatenate(members)), np.array([m.size for m in members])
    sizes = checked_sizes(nodes_per_class, num_classes)
    drawn = []
    for rows, size in zip(members, sizes.tolist(), strict=True):
        passes = np.tile(rows, (-(-size // rows.size), 1))
        drawn.append(rng.permuted(passes, axis=1).reshape(-1)[:size])
    return rows_of(features, np.concatenate(drawn)), sizes


def checked_sizes(nodes_per_class: int | Sequence[int], num_classes: int) -> Ints:
    """Return one positive size per class."""
    sizes = np.asarray(nodes_per_class)
    if sizes.ndim == 0:
        sizes = np.full(num_classes, sizes)
    if sizes.shape != (num_classes,) or sizes.dtype.kind not in "iu" or sizes.min() < 1:
        raise InputError(
            f"nodes_per_class={nodes_per_class!r}; give one positive number, or {num_classes}: "
            "one for each class"
        )
    return sizes.astype(np.int64)


def checked_labels(labels: ArrayLike, features: Any) -> Ints:
    """Return labels 0..C-1 (-1 = row not used), every class present, one per row of features."""
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.size == 0:
        raise InputError("labels must be a list of whole numbers, one per row of the features")
    if features is not None and features.shape[0] != array.size:
        raise InputError(
            f"features have {features.shape[0]} rows but there are {array.size} labels"
        )
    if array.min() < UNLABELLED or array.max() < 0:
        raise InputError("labels must be classes 0, 1, 2, ... (-1: this row is not used)")
    present = np.unique(array[array >= 0])
    missing = np.flatnonzero(present != np.arange(present.size))
    if missing.size:
        raise InputError(f"class {missing[0]} has no row in labels; number the classes 0..C-1")
    return array.astype(np.int64)


def rows_of(features: Any, rows: Ints) -> Any:
    """Return some rows of a dense or sparse matrix; None stays None."""
    if features is None:
        return None
    matrix = sp.csr_array(features) if sp.issparse(features) else np.asarray(features)
    return matrix[rows]
