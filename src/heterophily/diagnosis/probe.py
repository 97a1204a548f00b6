"""The probe: what a classifier learns from each source of information, without training a GNN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from heterophily.data.graph import Graph
from heterophily.diagnosis.linear import linear_scores, predict_all
from heterophily.diagnosis.neighbour_labels import NeighbourLabels
from heterophily.diagnosis.paired import (
    Difference,
    NodeScores,
    average,
    difference,
    node_scores,
)
from heterophily.diagnosis.predicted_classes import predicted_informativeness
from heterophily.diagnosis.shuffle import Shuffled
from heterophily.diagnosis.sources import (
    MAX_SKETCHED,
    QUICK_SKETCHED,
    SECRET,
    Operator,
    neighbour_features,
    own_signal,
    structure,
)
from heterophily.errors import InputError
from heterophily.evaluation.scores import score_for
from heterophily.evaluation.trees import TreeOptions, fit_trees

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]

SOURCES: Mapping[str, str] = {
    "own": "own features",
    "average": "average with neighbours",
    "neighbours": "neighbours' features",
    "structure": "which neighbours",
    "labels": "neighbours' labels",
    "all": "everything from the graph",
}
"""Sources of information, and what a reader calls them. "average" is the paper's low pass ÂX, which
a GCN sees; "neighbours" are their mean, the difference to it, and the mean two edges away."""

FROM_GRAPH = ("neighbours", "structure", "labels", "all")
"""Sources that are tried beside a node's own features: whether the graph helps."""

LEARNERS = ("linear", "trees")
FOLDS = 5
MIN_LABELLED = 3 * FOLDS
MAX_NODES = 10_000
QUICK_NODES = 2_000
TREES = TreeOptions(rounds=30, learning_rate=0.2)
TREE_COLUMNS = 32
TREE_NODES = 20_000  # divided by the number of classes, but at least a tenth of it
FEW, SOME = 300, 1_000  # labelled nodes below which the folds are drawn three times, twice
TREE_REPEATS = 2


def beside_own(source: str) -> str:
    """Return the name of a source together with own features."""
    return f"own+{source}"


@dataclass(frozen=True, eq=False)
class Probe:
    """Outcome of the probe.

    Parameters
    ----------
    score
        The score that fits the label balance: accuracy, or ROC AUC with a rare class.
    scores
        Learner -> setting -> score. Settings are sources alone and "own+source".
    own
        The best that needs no graph: "linear", "trees", or "largest class".
    gains
        For each source from the graph: how much own features and it together are better than the
        best without a graph (the better learner of the two counts).
    average_loss
        How much the average with neighbours alone is better (or worse) than the best own.
    predicted
        Where averaging loses and nothing from the graph helps: label informativeness of the classes
        that own features predict for neighbours.
    """

    score: str
    scores: Mapping[str, Mapping[str, float]]
    own: str
    own_score: float
    gains: Mapping[str, Difference]
    by_learner: Mapping[str, str]  # source -> learner of its gain
    average_loss: Difference | None
    folds: int
    repeats: int
    nodes: int
    tree_nodes: int
    has_features: bool
    candidates: int
    notes: tuple[str, ...] = ()
    predicted: Shuffled | None = None

    @property
    def best(self) -> str:
        """The source from the graph with the largest gain."""
        return max(self.gains, key=lambda name: self.gains[name].value)

    @property
    def gain(self) -> Difference:
        """The largest gain, with limits and p-value widened for the choice among several."""
        return self.gains[self.best].among(self.candidates)

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {
            "score": self.score,
            "scores": {learner: dict(found) for learner, found in self.scores.items()},
            "own": {"learner": self.own, "score": self.own_score},
            "gains": {name: gain.to_dict() for name, gain in self.gains.items()},
            "gain": {"source": self.best, **self.gain.to_dict()},
            "average_against_own": (
                None if self.average_loss is None else self.average_loss.to_dict()
            ),
            "folds": self.folds,
            "repeats": self.repeats,
            "nodes": self.nodes,
            "tree_nodes": self.tree_nodes,
            "notes": list(self.notes),
        }


def has_features(graph: Graph) -> bool:
    """Whether a graph has any feature that is not zero."""
    if graph.features is None:
        return False
    values = graph.features.data if sp.issparse(graph.features) else graph.features
    return bool(np.any(values))


def probe_sources(
    graph: Graph, *, seed: int = 0, quick: bool = False, max_nodes: int = MAX_NODES
) -> Probe:
    r"""Cross-validate classifiers on each source of information, on the labelled nodes.

    Sources: own features X; the average ÂX over a node and its neighbours; neighbours' features
    (mean, difference, two edges away); which neighbours a node has (a sketch of the rows of A,
    degrees, the side of a bipartite graph); neighbours' labels (class shares one and two edges
    away, of training folds other than the node's own). Learners: ridge classifiers on all of
    them; gradient-boosted trees on own features alone and beside everything, and on single sources
    where that may change the answer. Labels of test folds enter nowhere.

    Parameters
    ----------
    seed
        Of the folds, the sketches and the sample of nodes.
    quick
        Linear classifiers on at most 2,000 nodes.
    max_nodes
        At most so many labelled nodes are used, drawn at random; edges, and the labels that
        neighbours give, stay complete.
    """
    labelled = np.flatnonzero(graph.is_labelled)
    _check(graph, labelled)
    # Matrices of a few hundred columns: more threads only wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        return _Probing(graph, labelled, seed, quick, max_nodes).run()


def _check(graph: Graph, labelled: Nodes) -> None:
    if labelled.size < MIN_LABELLED:
        raise InputError(
            f"the probe needs {MIN_LABELLED} labelled nodes, {graph.name!r} has {labelled.size}"
        )
    if (np.bincount(graph.labels[labelled]) >= FOLDS).sum() < 2:
        raise InputError(
            f"the probe needs two classes of at least {FOLDS} labelled nodes in {graph.name!r}"
        )


def stratified_folds(labels: Nodes, *, folds: int, rng: np.random.Generator) -> Nodes:
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


def _draw_nodes(
    labels: Nodes, labelled: Nodes, limit: int, score: str, rng: np.random.Generator
) -> Nodes:
    """Draw ``limit`` labelled nodes, in order.

    ROC AUC does not depend on how large the classes are, but needs nodes of both: then a quarter
    of the nodes, where there are so many, is of the rare class.
    """
    order = rng.permutation(labelled)
    if score == "roc-auc":
        counts = np.bincount(labels[labelled])
        is_rare = labels[order] == np.flatnonzero(counts == counts[counts > 0].min())[0]
        rare = order[is_rare]
        kept = rare[: max(limit // 4, limit * rare.size // order.size)]
        order = np.concatenate([kept, order[~is_rare]])
    return np.sort(order[:limit])


class _Probing:
    """One run of the probe: the columns of a sample of nodes, and who was asked what."""

    def __init__(
        self, graph: Graph, labelled: Nodes, seed: int, quick: bool, max_nodes: int
    ) -> None:
        self.graph, self.seed, self.quick = graph, seed, quick
        self.rng = np.random.default_rng([SECRET, seed])
        self.notes: list[str] = []
        limit = min(max_nodes, QUICK_NODES) if quick else max_nodes
        self.rows = labelled
        self.score = score_for(graph.labels)
        if labelled.size > limit:
            self.notes.append(f"{limit:,} of {labelled.size:,} labelled nodes, drawn at random")
            self.rows = _draw_nodes(graph.labels, labelled, limit, self.score, self.rng)
        self.num_classes = graph.num_classes
        self.labels = graph.labels[self.rows]
        self.positive = np.unique(graph.labels[labelled])  # of two classes, the one called 1
        self.repeats = 3 if self.rows.size < FEW else 2 if self.rows.size < SOME else 1
        self.repeats = 1 if quick else self.repeats
        present = max(self.positive.size, 2)
        self.thin = max(TREE_NODES // present, TREE_NODES // 10)
        self.sketch = int(self.rng.integers(2**31))
        self._columns()
        self.folds = [self._draw() for _ in range(self.repeats)]
        self.asked: dict[tuple[str, str], list[NodeScores]] = {}

    def _columns(self) -> None:
        self.operator = Operator.of(self.graph)
        self.blocks: dict[str, Floats] = {}
        self.has_features = has_features(self.graph)
        if self.has_features:
            signal = own_signal(self.graph, seed=self.sketch)
            if self.graph.num_features > signal.shape[1]:
                self.notes.append(
                    f"{self.graph.num_features:,} features projected to {signal.shape[1]}"
                )
            low, one, two = neighbour_features(self.operator, signal, self.rows)
            own = signal[self.rows].astype(np.float64)
            self.signal = signal
            self.blocks |= {"own": own, "average": low, "mean": one, "two": two}
        self.blocks["structure"] = structure(
            self.operator,
            self.rows,
            seed=self.sketch,
            max_edges=QUICK_SKETCHED if self.quick else MAX_SKETCHED,
        )

    def _draw(self) -> tuple[Nodes, NeighbourLabels]:
        fold = stratified_folds(self.labels, folds=FOLDS, rng=self.rng)
        counted = NeighbourLabels.count(
            self.operator, self.rows, self.graph.labels, fold, num_classes=self.num_classes
        )
        return fold, counted

    # --- settings -----------------------------------------------------------------------------

    def sources(self) -> tuple[str, ...]:
        """Sources from the graph that this graph has."""
        return FROM_GRAPH if self.has_features else FROM_GRAPH[1:]

    def linear_settings(self) -> dict[str, tuple[str, ...]]:
        """Setting -> blocks, for the linear learner."""
        parts = {
            "own": ("own",),
            "average": ("average",),
            "neighbours": ("mean", "two"),
            "structure": ("structure",),
            "labels": ("labels",),
            "all": ("mean", "two", "structure", "labels"),
        }
        alone = {name: parts[name] for name in ("own", "average") if self.has_features}
        alone |= {name: parts[name] for name in self.sources() if name != "all"}
        with_own = {beside_own(name): ("own", *parts[name]) for name in self.sources()}
        return alone | with_own

    def tree_columns(self, setting: str, labels: Floats) -> Floats:
        """Columns for the trees: of long blocks the leading ones, and differences."""
        blocks, most = self.blocks, TREE_COLUMNS
        if self.has_features and blocks["own"].shape[1] <= 2 * most:
            most = 2 * most  # columns as they are given: all of them
        half = max(most // 2, 1)
        parts: dict[str, list[Floats]] = {
            "structure": [blocks["structure"][:, :TREE_COLUMNS], blocks["structure"][:, -3:]],
            "labels": [labels],
        }
        if self.has_features:
            mean, own = blocks["mean"][:, :half], blocks["own"]
            parts |= {
                "own": [own[:, :most]],
                "average": [blocks["average"][:, :most]],
                "neighbours": [mean, own[:, :half] - mean, blocks["two"][:, :half]],
            }
        if setting.endswith("all"):
            wanted = ["own"] * self.has_features + [s for s in self.sources() if s != "all"]
        else:
            wanted = [name for name in setting.split("+") if name in parts]
        return np.hstack([column for name in wanted for column in parts[name]])

    # --- learners -----------------------------------------------------------------------------

    def prior(self, fold: Nodes, test: int) -> Floats:
        """Class shares of the training folds, (C,)."""
        counts = np.bincount(self.labels[fold != test], minlength=self.num_classes)
        return np.asarray(counts / max(counts.sum(), 1), dtype=np.float64)

    def ask_linear(self) -> None:
        """Ask ridge classifiers for every setting."""
        settings = self.linear_settings()
        blocks = {**self.blocks}
        if self.has_features:
            blocks["two"] = blocks["two"][:, :64]
        for fold, counted in self.folds:
            found = {name: np.full((fold.size, self.num_classes), np.nan) for name in settings}
            for test in range(FOLDS):
                blocks["labels"] = counted.columns(test, self.prior(fold, test))
                held = (test + 1) % FOLDS
                parts = {
                    "train": np.flatnonzero((fold != test) & (fold != held)),
                    "held": np.flatnonzero(fold == held),
                    "test": np.flatnonzero(fold == test),
                }
                scores = linear_scores(
                    blocks, settings, self.labels, num_classes=self.num_classes, **parts
                )
                for name, values in scores.items():
                    found[name][parts["test"]] = values
            for name, values in found.items():
                self._note("linear", name, values, fold)

    def ask_trees(self, setting: str) -> None:
        """Ask boosted trees for one setting, on at most ``thin`` nodes."""
        if ("trees", setting) in self.asked:
            return
        for fold, counted in self.folds[:TREE_REPEATS]:
            # Nodes are dealt to folds in random order within their class: so are these.
            is_in = np.zeros(fold.size, np.bool_)
            rng = np.random.default_rng([SECRET, self.seed, fold.size])
            is_in[rng.permutation(fold.size)[: self.thin]] = True
            found = np.full((fold.size, self.num_classes), np.nan)
            for test in range(FOLDS):
                columns = self.tree_columns(setting, counted.columns(test, self.prior(fold, test)))
                train = np.flatnonzero((fold != test) & is_in)
                tested = np.flatnonzero((fold == test) & is_in)
                trees = fit_trees(
                    columns[train],
                    self.labels[train],
                    num_classes=self.num_classes,
                    options=TREES,
                    seed=self.seed,
                )
                found[tested] = trees.probabilities(columns[tested])
            self._note("trees", setting, found, fold)

    def ask_largest_class(self) -> None:
        """Answer the largest class: what needs nothing at all.

        The largest of all nodes: with classes of equal size, that of the training folds would be
        wrong more often than any guess, as the test fold has fewer of it.
        """
        shares = np.bincount(self.labels, minlength=self.num_classes) / self.labels.size
        for fold, _ in self.folds:
            self._note("largest class", "own", np.tile(shares, (fold.size, 1)), fold)

    def _note(self, learner: str, setting: str, scores: Floats, fold: Nodes) -> None:
        labels = self.labels
        if self.score == "roc-auc":
            labels = np.searchsorted(self.positive, labels)
            scores = scores[:, self.positive]
        scored = node_scores(self.score, labels, scores, fold)
        self.asked.setdefault((learner, setting), []).append(scored)

    # --- answers ------------------------------------------------------------------------------

    def got(self, learner: str, setting: str) -> NodeScores:
        """Return what a learner reached on a setting, node by node."""
        return average(self.asked[learner, setting])

    def best_own(self) -> str:
        """The learner that does best without the graph."""
        asked = [learner for learner, setting in self.asked if setting == "own"]
        return max(asked, key=lambda learner: self.got(learner, "own").mean)

    def against_own(self, learner: str, setting: str) -> Difference:
        """Return how much better a setting is than the best without the graph."""
        own = self.got(self.best_own(), "own")
        return difference(self.got(learner, setting), own, folds=FOLDS)

    def candidates(self) -> dict[tuple[str, str], Difference]:
        """Return every (learner, source) beside own features, against the best own."""
        wanted = {beside_own(source): source for source in self.sources()}
        return {
            (learner, wanted[setting]): self.against_own(learner, setting)
            for learner, setting in self.asked
            if setting in wanted
        }

    def run(self) -> Probe:
        """Ask the learners, the cheap one first, and the dear one as far as it may matter."""
        self.ask_largest_class()
        self.ask_linear()
        if not self.quick:
            self._ask_trees_that_matter()
        found = self.candidates()
        gains: dict[str, Difference] = {}
        by_learner: dict[str, str] = {}
        for (learner, source), gain in found.items():
            if source not in gains or gain.value > gains[source].value:
                gains[source], by_learner[source] = gain, learner
        own, average_loss = self.best_own(), self._average_loss()
        helps = any(gain.among(len(found)).is_better for gain in gains.values())
        predicted = None
        if average_loss is not None and average_loss.is_worse and not helps:
            predicted = self._predicted(own)
        scores: dict[str, dict[str, float]] = {}
        for learner, setting in self.asked:
            scores.setdefault(learner, {})[setting] = self.got(learner, setting).mean
        return Probe(
            score=self.score,
            scores=scores,
            own=own,
            own_score=self.got(own, "own").mean,
            gains={name: gains[name] for name in self.sources()},
            by_learner=by_learner,
            average_loss=average_loss,
            folds=FOLDS,
            repeats=self.repeats,
            nodes=int(self.rows.size),
            tree_nodes=0 if self.quick else int(min(self.rows.size, self.thin)),
            has_features=self.has_features,
            candidates=len(found),
            notes=tuple(self.notes),
            predicted=predicted,
        )

    def _predicted(self, learner: str) -> Shuffled | None:
        """Return what the classes that own features predict for neighbours tell about a node."""
        if learner not in LEARNERS:
            return None
        fold = self.folds[0][0]
        guesses = []
        for test in range(FOLDS):
            train = np.flatnonzero(fold != test)
            if learner == "linear":
                held = np.flatnonzero(fold == (test + 1) % FOLDS)
                fitted = np.flatnonzero((fold != test) & (fold != (test + 1) % FOLDS))
                guesses.append(
                    predict_all(
                        self.blocks["own"],
                        self.labels,
                        self.signal,
                        num_classes=self.num_classes,
                        train=fitted,
                        held=held,
                    )
                )
            else:
                columns = self.tree_columns("own", np.empty((0, 0)))
                trees = fit_trees(
                    columns[train],
                    self.labels[train],
                    num_classes=self.num_classes,
                    options=TREES,
                    seed=self.seed,
                )
                every = self.signal[:, : columns.shape[1]]
                guesses.append(trees.probabilities(every).argmax(axis=1))
        return predicted_informativeness(
            self.operator,
            self.rows,
            self.labels,
            fold,
            guesses,
            num_classes=self.num_classes,
            rng=self.rng,
        )

    def _ask_trees_that_matter(self) -> None:
        if self.has_features:
            self.ask_trees("own")
        self.ask_trees(beside_own("all"))
        found = self.candidates()
        linear = max(gain.value for (learner, _), gain in found.items() if learner == "linear")
        trees = found["trees", "all"].value
        helped = [g for g in found.values() if g.among(2 * len(self.sources())).is_better]
        if not helped or trees > linear + 0.01:
            for source in self.sources():
                self.ask_trees(beside_own(source))
        if self.has_features and self.against_own("linear", "average").is_worse:
            self.ask_trees("average")

    def _average_loss(self) -> Difference | None:
        if not self.has_features:
            return None
        asked = [learner for learner in LEARNERS if (learner, "average") in self.asked]
        best = max(asked, key=lambda learner: self.got(learner, "average").mean)
        return self.against_own(best, "average")
