"""What costs nothing: always the largest class, and trees on each node's own features.

A model that uses a graph is worth something when it is better than these on the same test nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.evaluation.scores import SCORES, Labels, Probabilities
from heterophily.evaluation.trees import TreeOptions, fit_trees

LARGEST, TREES = "largest-class", "trees"
TITLES: Mapping[str, str] = {
    LARGEST: "always guessing the largest class",
    TREES: "gradient-boosted trees on own features",
}
"""Name of a baseline -> how it is written for people."""

OPTIONS = TreeOptions(rounds=60, learning_rate=0.2, bins=32, patience=10)
MANY_CLASSES, FEW_ROUNDS = 20, 20
"""With more classes than this, at most so many rounds: a round fits a tree for every class."""

MOST_ROWS, MOST_VALIDATION, MOST_COLUMNS = 10_000, 5_000, 256
"""At most so many training and validation nodes (drawn at random) and columns (those that tell the
classes of the training nodes apart best, by the F ratio) are used."""

MOST_WORK, FIRST_SPLITS = 20_000, 3
"""When training nodes times trees of a round exceed the former, only the first splits are used."""


_AT_ONCE = 4  # splits; trees of each are fitted on one thread, so that they are repeatable


@dataclass(frozen=True, eq=False)
class Baseline:
    """A baseline on the test nodes of splits.

    Parameters
    ----------
    name
        In :data:`TITLES`.
    labels, probabilities
        For each of the first splits: labels (n,) and probabilities (n, C) of its test nodes.
    of_splits
        Number of splits; the baseline may stand on the first of them only, to save time.
    absence
        Why there are none at all; else empty.
    """

    name: str
    labels: tuple[Labels, ...]
    probabilities: tuple[Probabilities, ...]
    of_splits: int
    absence: str = ""

    @property
    def title(self) -> str:
        """What it is, in words."""
        return TITLES[self.name]

    def repeated(self, order: Sequence[int]) -> Baseline:
        """Return the baseline on splits in another order, some of them more than once.

        One that stands on the first splits only stays as it is: those must come first.
        """
        if len(self.labels) < self.of_splits:
            return replace(self, of_splits=len(order))
        labels = tuple(self.labels[place] for place in order)
        votes = tuple(self.probabilities[place] for place in order)
        return replace(self, labels=labels, probabilities=votes, of_splits=len(order))

    def joined(self, groups: Sequence[Sequence[int]]) -> Baseline:
        """Return the baseline on groups of splits with the same test nodes: the mean of votes.

        Where only the first splits are known, a group stands on these, or is left out.
        """
        known = len(self.labels)
        found = [[place for place in group if place < known] for group in groups]
        found = [group for group in found if group]
        return replace(
            self,
            labels=tuple(self.labels[group[0]] for group in found),
            probabilities=tuple(
                np.mean([self.probabilities[place] for place in group], axis=0) for group in found
            ),
            of_splits=len(groups),
        )

    def scores(self, name: str) -> tuple[float, ...]:
        """Return a score on each of the first splits."""
        pairs = zip(self.labels, self.probabilities, strict=True)
        return tuple(SCORES[name](labels, votes) for labels, votes in pairs)


def baselines(graph: Graph, splits: Sequence[Split], *, seed: int = 0) -> tuple[Baseline, ...]:
    """Compute the baselines on the test nodes of splits of a graph.

    The trees stop early, by the validation nodes of each split.

    >>> labels = np.arange(60) % 2
    >>> graph = Graph.from_edges([0], [1], labels=labels, features=labels[:, None] * 1.0)
    >>> from heterophily.data.splits import random_splits
    >>> [found.scores("accuracy") for found in baselines(graph, random_splits(labels, repeats=1,
    ...                                                                       seed=0))]
    [(0.5,), (1.0,)]
    """
    return _largest(graph, splits), _trees(graph, splits, seed)


def _largest(graph: Graph, splits: Sequence[Split]) -> Baseline:
    """Give every node the shares of the classes among the training nodes."""
    found = []
    for split in splits:
        counts = np.bincount(graph.labels[split.train], minlength=graph.num_classes)
        found.append(np.tile(counts / counts.sum(), (int(split.test.sum()), 1)))
    truth = tuple(graph.labels[split.test] for split in splits)
    return Baseline(LARGEST, truth, tuple(found), len(splits))


def _trees(graph: Graph, splits: Sequence[Split], seed: int) -> Baseline:
    if graph.features is None or graph.num_features == 0:
        return Baseline(TREES, (), (), len(splits), absence="the graph has no features")
    features = graph.features
    rows = min(MOST_ROWS, int(splits[0].train.sum()))
    each_round = graph.num_classes if graph.num_classes > 2 else 1
    used = list(splits if rows * each_round <= MOST_WORK else splits[:FIRST_SPLITS])

    def fitted(place: int) -> Probabilities:
        rng = np.random.default_rng([seed, place])
        return _fitted(features, graph.labels, graph.num_classes, used[place], rng)

    with ThreadPoolExecutor(_AT_ONCE) as pool:  # XGBoost lets other threads of Python run
        found = tuple(pool.map(fitted, range(len(used))))
    return Baseline(TREES, tuple(graph.labels[s.test] for s in used), found, len(splits))


def _fitted(
    features: Any, labels: Labels, num_classes: int, split: Split, rng: np.random.Generator
) -> Probabilities:
    train = _some(np.flatnonzero(split.train), MOST_ROWS, rng)
    validation = _some(np.flatnonzero(split.validation), MOST_VALIDATION, rng)
    shown, held = features[train], features[validation]
    test = features[np.flatnonzero(split.test)]
    if features.shape[1] > MOST_COLUMNS:
        ratio = _f_ratio(shown, labels[train], num_classes)
        columns = np.sort(np.argsort(-ratio, kind="stable")[:MOST_COLUMNS])
        shown, held, test = (part[:, columns] for part in (shown, held, test))
    rounds = FEW_ROUNDS if num_classes > MANY_CLASSES else OPTIONS.rounds
    trees = fit_trees(
        shown,
        labels[train],
        num_classes=num_classes,
        options=replace(OPTIONS, rounds=rounds),
        validation=(held, labels[validation]),
    )
    return trees.probabilities(test)


def _some(nodes: NDArray[np.int64], most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return nodes if nodes.size <= most else np.sort(rng.choice(nodes, most, replace=False))


def _f_ratio(features: Any, labels: Labels, num_classes: int) -> NDArray[np.float64]:
    """Return between-class over within-class variation of each column: that of an F test."""
    counts = np.maximum(np.bincount(labels, minlength=num_classes), 1)
    member = sp.csr_array(
        (np.ones(labels.size), (labels, np.arange(labels.size))), shape=(num_classes, labels.size)
    )
    sums = member @ features
    sums = sums.toarray() if sp.issparse(sums) else np.asarray(sums)
    squares = features.multiply(features) if sp.issparse(features) else features * features
    total = np.asarray(squares.sum(axis=0), np.float64).ravel()
    by_class = (sums**2 / counts[:, None]).sum(axis=0)
    between = by_class - sums.sum(axis=0) ** 2 / labels.size
    return np.asarray(between / np.maximum(total - by_class, 1e-9 * total + 1e-300))
