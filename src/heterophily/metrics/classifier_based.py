"""Classifier-based metrics: does aggregation make the classes easier to tell apart?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.stats import ttest_ind

from heterophily.data.graph import Graph
from heterophily.errors import UndefinedError, lookup
from heterophily.filters.normalization import normalized_adjacency
from heterophily.metrics.label_counts import need_labels

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]
Classifier = Callable[[Floats, Nodes, Nodes, Nodes], Nodes]
"""(columns, labels, training rows, test rows) -> predicted classes of the test rows."""

MAX_NODES = 500
REPEATS = 100
_TRAIN = 0.6


@dataclass(frozen=True, slots=True)
class ClassifierMetric:
    """How well a simple classifier does on aggregated features ÂX and on features X alone.

    ``p_value`` is that of "ÂX is not better than X": small where aggregation helps, near 1 where
    it harms.
    """

    p_value: float
    aggregated: float
    own: float
    repeats: int

    @property
    def difference(self) -> float:
        """Mean accuracy on aggregated features minus that on own features."""
        return self.aggregated - self.own


def _kernel_regression(kernel: Floats, labels: Nodes, train: Nodes, test: Nodes) -> Nodes:
    targets = np.eye(int(labels.max()) + 1)[labels[train]]
    inverse = np.linalg.pinv(kernel[np.ix_(train, train)], rcond=1e-10, hermitian=True)
    answers: Nodes = (kernel[np.ix_(test, train)] @ (inverse @ targets)).argmax(axis=1)
    return answers


def _linear(columns: Floats, labels: Nodes, train: Nodes, test: Nodes) -> Nodes:
    return _kernel_regression(columns @ columns.T, labels, train, test)


def _arc_cosine(columns: Floats, labels: Nodes, train: Nodes, test: Nodes) -> Nodes:
    gram = columns @ columns.T
    norms = np.sqrt(np.maximum(np.diag(gram), 0.0))
    sizes = np.maximum(np.outer(norms, norms), 1e-12)
    cosine = np.clip(gram / sizes, -1.0, 1.0)
    angle = np.arccos(cosine)
    kernel = (gram * (np.pi - angle) + sizes * np.sqrt(1.0 - cosine**2)) / (2.0 * np.pi)
    return _kernel_regression(kernel, labels, train, test)


def _naive_bayes(columns: Floats, labels: Nodes, train: Nodes, test: Nodes) -> Nodes:
    from sklearn.naive_bayes import GaussianNB

    model = GaussianNB().fit(columns[train], labels[train])
    return np.asarray(model.predict(columns[test]), np.int64)


CLASSIFIERS: Mapping[str, Classifier] = {
    "linear": _linear,
    "nonlinear": _arc_cosine,
    "naive-bayes": _naive_bayes,
}
"""Kernel regression with a linear kernel, with that of an infinitely wide layer of ReLUs
(arc-cosine of order one), and Gaussian naive Bayes."""


def classifier_metric(
    graph: Graph,
    classifier: str = "linear",
    *,
    rng: np.random.Generator,
    max_nodes: int = MAX_NODES,
    repeats: int = REPEATS,
) -> ClassifierMetric:
    r"""Test whether a simple classifier is better on ÂX than on X
    (Luan et al. 2023, "When do graph neural networks help with node classification?").

    In each of ``repeats`` rounds at most ``max_nodes`` labelled nodes are drawn, 60 % of them
    train the classifier and the others test it, once on their rows of ÂX and once on those of X.
    Welch's t-test compares the two samples of accuracies. ÂX is that of the whole graph; only
    matrices of ``max_nodes`` rows are dense, and nothing is N x N.

    The rounds share nodes, so their accuracies are not independent: a p-value says which way, not
    how sure one may be about another graph. :func:`heterophily.diagnose` has honest intervals.

    Parameters
    ----------
    classifier
        Key of :data:`CLASSIFIERS`.
    rng
        Draws the nodes.

    Examples
    --------
    >>> labels = np.arange(60) % 2
    >>> rows = np.random.default_rng(1).normal(size=(60, 2)) + labels[:, None]
    >>> ring = Graph.from_edges(
    ...     np.arange(60), (np.arange(60) + 2) % 60, features=rows, labels=labels
    ... )
    >>> found = classifier_metric(ring, rng=np.random.default_rng(0), repeats=20)
    >>> found.p_value < 0.05, found.difference > 0  # neighbours two apart are of one class
    (True, True)
    """
    ask = lookup(CLASSIFIERS, "classifier", classifier)
    need_labels(graph, "the classifier metric", classes=2)
    if graph.features is None or graph.num_features == 0:
        raise UndefinedError(
            f"the classifier metric of {graph.name!r}", "the graph has no features"
        )
    labelled = np.flatnonzero(graph.is_labelled)
    operator = normalized_adjacency(graph.adjacency)
    scores: dict[str, list[float]] = {"aggregated": [], "own": []}
    for _ in range(repeats):
        rows = rng.permutation(labelled)[:max_nodes]
        labels = np.unique(graph.labels[rows], return_inverse=True)[1].astype(np.int64)
        cut = round(_TRAIN * rows.size)
        train, test = np.arange(cut), np.arange(cut, rows.size)
        if test.size == 0 or np.unique(labels[train]).size < 2:
            raise UndefinedError(
                f"the classifier metric of {graph.name!r}",
                f"{labelled.size} labelled nodes are too few to train and test",
            )
        columns = {
            "aggregated": _dense(operator[rows] @ graph.features),
            "own": _dense(graph.features[rows]),
        }
        for name, found in columns.items():
            answers = ask(found, labels, train, test)
            scores[name].append(float((answers == labels[test]).mean()))
    return ClassifierMetric(
        p_value=_p_value(scores["aggregated"], scores["own"]),
        aggregated=float(np.mean(scores["aggregated"])),
        own=float(np.mean(scores["own"])),
        repeats=repeats,
    )


def _p_value(first: list[float], second: list[float]) -> float:
    if np.ptp(first) == 0.0 and np.ptp(second) == 0.0:  # no spread: the test has none to go by
        return 0.5 if first[0] == second[0] else float(first[0] < second[0])
    return float(ttest_ind(first, second, equal_var=False, alternative="greater").pvalue)


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sp.issparse(matrix) else matrix, np.float64)
