"""The channel probe: what a linear classifier learns from each channel, without training a GNN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import stats
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from heterophily.data.graph import Graph
from heterophily.diagnosis.compress import MAX_COLUMNS, compress, scale_features
from heterophily.diagnosis.ridge import majority_accuracy, nested_accuracy, stratified_folds
from heterophily.errors import InputError
from heterophily.filters.normalization import NormalizedAdjacency

Floats = NDArray[np.float64]

CHANNELS = {"own": "X", "low": "ÂX", "high": "X − ÂX", "mixed": "all three"}
MIXTURES = ((1.0, 1.0, 1.0), (1.0, 0.1, 0.1), (0.1, 1.0, 0.1), (0.1, 0.1, 1.0))
"""Weights (own, low, high) among which the mixed probe chooses inside the training folds."""

SIGNIFICANT = 0.05
FOLDS = 5
MIN_LABELLED = 3 * FOLDS
MAX_NODES = 50_000
FEW_NODES = 5_000
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class ChannelScore:
    """Accuracy of one channel on every test fold of every repeat, as fractions."""

    accuracies: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the folds."""
        return float(np.mean(self.accuracies))

    @property
    def std(self) -> float:
        """Standard deviation over the folds."""
        return float(np.std(self.accuracies, ddof=1))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Mean difference of two channels over the same folds, with the p-value of a paired test."""

    difference: float
    p_value: float

    @property
    def is_better(self) -> bool:
        """Whether the first channel is better beyond the spread (p < 0.05)."""
        return self.difference > 0 and self.p_value < SIGNIFICANT

    @property
    def is_worse(self) -> bool:
        """Whether the first channel is worse beyond the spread (p < 0.05)."""
        return self.difference < 0 and self.p_value < SIGNIFICANT


def corrected_paired_test(first: Floats, second: Floats, *, test_to_train: float) -> Comparison:
    r"""Corrected resampled t-test of Nadeau and Bengio (2003), two-sided.

    .. math:: t = \frac{\bar d}{\sqrt{(1/J + n_\text{test}/n_\text{train})\, s_d^2}}, \quad J - 1
              \text{ degrees of freedom}

    for J differences d. Training sets of different folds overlap, so the plain paired t-test is
    too sure of itself; the added share widens it. Differences without any spread give p = 0,
    or p = 1 when they are all zero.

    >>> corrected_paired_test(np.array([0.9, 0.8]), np.array([0.9, 0.8]), test_to_train=0.25)
    Comparison(difference=0.0, p_value=1.0)
    """
    differences = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    mean, variance = float(differences.mean()), float(differences.var(ddof=1))
    if variance <= 1e-24:
        return Comparison(mean, 1.0 if abs(mean) <= 1e-12 else 0.0)
    t = mean / np.sqrt((1.0 / differences.size + test_to_train) * variance)
    return Comparison(mean, float(2.0 * stats.t.sf(abs(t), differences.size - 1)))


def p_text(p_value: float) -> str:
    """Return a p-value for people.

    >>> p_text(0.0421), p_text(1e-9)
    ('= 0.042', '< 0.001')
    """
    return "< 0.001" if p_value < 0.001 else f"= {p_value:.3f}"


@dataclass(frozen=True, slots=True)
class Probe:
    """Outcome of the channel probe.

    ``channels`` has own, low, high and mixed; a graph without features has own (the largest class)
    and low only.
    """

    channels: dict[str, ChannelScore]
    comparisons: dict[str, Comparison]
    folds: int
    repeats: int
    nodes: int
    columns: int
    notes: tuple[str, ...] = ()

    @property
    def combined(self) -> str:
        """Name of the channel that uses own features and graph together."""
        return "mixed" if "mixed" in self.channels else "low"

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {
            "channels": {
                name: {
                    "mean": score.mean,
                    "std": score.std,
                    "accuracies": list(score.accuracies),
                }
                for name, score in self.channels.items()
            },
            "comparisons": {
                name: {"difference": test.difference, "p_value": test.p_value}
                for name, test in self.comparisons.items()
            },
            "folds": self.folds,
            "repeats": self.repeats,
            "nodes": self.nodes,
            "columns": self.columns,
            "notes": list(self.notes),
        }


def has_features(graph: Graph) -> bool:
    """Whether a graph has any feature that is not zero."""
    if graph.features is None:
        return False
    values = graph.features.data if sp.issparse(graph.features) else graph.features
    return bool(np.any(values))


def channel_probe(
    graph: Graph, *, seed: int = 0, repeats: int | None = None, max_nodes: int = MAX_NODES
) -> Probe:
    r"""Cross-validate ridge classifiers on the channels of ACM, on the labelled nodes.

    The channels are those of the paper's filter bank (section 5.1): own features :math:`X`, low
    pass :math:`\hat A X`, high pass :math:`X - \hat A X` with :math:`\hat A = \tilde D^{-1} \tilde
    A`, and all three side by side ("mixed"). Each channel is centred and scaled to one total
    variance; the mixed classifier chooses their weights among :data:`MIXTURES` inside the
    training folds, as ACM learns its channel weights. Labels enter only as targets: no channel
    contains one, so nothing leaks from test to training nodes.

    X − ÂX is a linear combination of the other two blocks, so the stack of three needs only two
    blocks of columns: its kernel is the quadratic form M in (X, ÂX), factored as :math:`L
    L^\top`.

    A graph without features is probed by its edges: "low" classifies the rows of Â (which
    neighbours a node has), "own" answers the largest class of the training folds.

    Parameters
    ----------
    seed
        Of the folds, the projection and the sample of nodes.
    repeats
        How often the five folds are drawn; by default 3, or 2 above 5,000 labelled nodes.
    max_nodes
        At most so many labelled nodes are used, drawn at random; the edges stay complete.
    """
    labelled = np.flatnonzero(graph.is_labelled)
    _check(graph, labelled)
    # Matrices of a few hundred columns: more threads only wait for each other, and on a busy
    # machine they take five times as long.
    with threadpool_limits(limits=1, user_api="blas"):
        return _probe(graph, labelled, seed, repeats, max_nodes)


def _probe(
    graph: Graph, labelled: NDArray[np.int64], seed: int, repeats: int | None, max_nodes: int
) -> Probe:
    rng = np.random.default_rng(seed)
    notes = []
    if labelled.size > max_nodes:
        notes.append(f"{max_nodes:,} of {labelled.size:,} labelled nodes, drawn at random")
        labelled = np.sort(rng.choice(labelled, max_nodes, replace=False))
    if repeats is None:
        repeats = 3 if labelled.size <= FEW_NODES else 2
    labels = np.unique(graph.labels[labelled], return_inverse=True)[1]
    if has_features(graph):
        base, classifiers = _feature_channels(graph, labelled, seed)
        if graph.num_features > base.shape[1] // 2:
            notes.append(f"{graph.num_features:,} features projected to {base.shape[1] // 2}")
    else:
        base, classifiers = _edge_channel(graph, labelled, seed)
        notes.append(
            "no features: own is the largest class, low classifies by which neighbours a node has"
        )
    found: dict[str, list[Floats]] = {}
    for _ in range(repeats):
        fold = stratified_folds(labels, folds=FOLDS, rng=rng)
        scores = nested_accuracy(base, labels, fold, classifiers=classifiers)
        if "own" not in scores:
            scores = {"own": majority_accuracy(labels, fold), **scores}
        for name, values in scores.items():
            found.setdefault(name, []).append(values)
    accuracies = {name: np.concatenate(values) for name, values in found.items()}
    pairs = [("low", "own"), ("mixed", "own"), ("mixed", "low")]
    return Probe(
        channels={
            name: ChannelScore(tuple(values.tolist())) for name, values in accuracies.items()
        },
        comparisons={
            f"{first}_against_{second}": corrected_paired_test(
                accuracies[first], accuracies[second], test_to_train=1 / (FOLDS - 1)
            )
            for first, second in pairs
            if first in accuracies
        },
        folds=FOLDS,
        repeats=repeats,
        nodes=int(labelled.size),
        columns=int(base.shape[1]) // (2 if "own" in classifiers else 1),
        notes=tuple(notes),
    )


def _check(graph: Graph, labelled: NDArray[np.int64]) -> None:
    if labelled.size < MIN_LABELLED:
        raise InputError(
            f"the channel probe needs {MIN_LABELLED} labelled nodes, {graph.name!r} has "
            f"{labelled.size}; use --quick for the metrics alone"
        )
    if (np.bincount(graph.labels[labelled]) >= 2).sum() < 2:
        raise InputError(
            f"the channel probe needs two classes of at least two nodes in {graph.name!r}; "
            "use --quick for the metrics alone"
        )


def _rows_of_product(
    operator: NormalizedAdjacency, signal: Floats, rows: NDArray[np.int64]
) -> Floats:
    """Return ``(operator @ signal)[rows]``, a few columns at a time."""
    starts = range(0, signal.shape[1], _BLOCK)
    return np.hstack([(operator @ signal[:, start : start + _BLOCK])[rows] for start in starts])


def _centred(block: Floats) -> tuple[Floats, float]:
    """Return a block with column means 0, and the factor that gives its rows mean square 1."""
    block = block - block.mean(axis=0)
    size = float(np.sqrt(np.square(block).sum() / block.shape[0]))
    return block, 1.0 / size if size > 1e-12 else 0.0


def _feature_channels(
    graph: Graph, nodes: NDArray[np.int64], seed: int
) -> tuple[Floats, dict[str, list[Floats]]]:
    """Return the blocks [X, ÂX] of the nodes, (n, 2 D), and the designs of the four channels."""
    signal = compress(scale_features(graph.features), seed=seed)
    operator = NormalizedAdjacency.of(graph.adjacency)
    low_block = _rows_of_product(operator, signal, nodes)
    own_block, own = _centred(signal[nodes])
    low_block, low = _centred(low_block)
    high = _centred(own_block - low_block)[1]
    return np.hstack([own_block, low_block]), {
        "own": [np.array([[own], [0.0]])],
        "low": [np.array([[0.0], [low]])],
        "high": [np.array([[high], [-high]])],
        "mixed": [_mixture(own, low, high, weights) for weights in MIXTURES],
    }


def _mixture(own: float, low: float, high: float, weights: tuple[float, float, float]) -> Floats:
    """Return the (2, 2) design whose kernel is that of the weighted stack [X, ÂX, X − ÂX]."""
    first, second, third = np.square([own, low, high]) * np.array(weights) / sum(weights)
    form = np.array([[first + third, -third], [-third, second + third]])
    if not form.any():  # constant features: all channels are zero
        return form
    return np.linalg.cholesky(form + 1e-12 * np.trace(form) * np.eye(2))


def _edge_channel(
    graph: Graph, nodes: NDArray[np.int64], seed: int
) -> tuple[Floats, dict[str, list[Floats]]]:
    """Return the projected rows of Â of the nodes, (n, D), and the design of the low channel."""
    rows = NormalizedAdjacency.of(graph.adjacency).to_csr()
    block, factor = _centred(compress(rows, seed=seed, columns=MAX_COLUMNS)[nodes])
    return block, {"low": [np.array([[factor]])]}
