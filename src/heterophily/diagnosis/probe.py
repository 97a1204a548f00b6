"""The probe: what a classifier learns from each source of information, without training a GNN."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from heterophily.data.graph import Graph
from heterophily.diagnosis.linear import linear_scores, predict_all
from heterophily.diagnosis.paired import (
    Difference,
    NodeScores,
    average,
    difference,
    node_scores,
)
from heterophily.diagnosis.predicted_classes import predicted_informativeness
from heterophily.diagnosis.probe_columns import FOLDS, Floats, GraphColumns, Nodes, ProbeColumns
from heterophily.diagnosis.probe_value import Probe, beside_own
from heterophily.diagnosis.shuffle import Shuffled
from heterophily.diagnosis.sources import SECRET
from heterophily.errors import InputError
from heterophily.evaluation.trees import TreeOptions, fit_trees

LEARNERS = ("linear", "trees")
MIN_LABELLED = 3 * FOLDS
MAX_NODES = 10_000
TREES = TreeOptions(rounds=30, learning_rate=0.2)
TREE_REPEATS = 2


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
    check_labels(graph.name, np.bincount(graph.labels[labelled]))
    return probe_columns(lambda: GraphColumns(graph, labelled, seed, quick, max_nodes))


def probe_columns(columns: Callable[[], ProbeColumns]) -> Probe:
    """Ask the learners about the columns of a sample, wherever the graph is."""
    # Matrices of a few hundred columns: more threads only wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        return _Probing(columns()).run()


def check_labels(name: str, sizes: Nodes) -> None:
    """Refuse a graph with fewer labels than the probe needs; ``sizes`` are those of classes."""
    if sizes.sum() < MIN_LABELLED:
        raise InputError(
            f"the probe needs {MIN_LABELLED} labelled nodes, {name!r} has {int(sizes.sum())}"
        )
    if (sizes >= FOLDS).sum() < 2:
        raise InputError(
            f"the probe needs two classes of at least {FOLDS} labelled nodes in {name!r}"
        )


class _Probing:
    """One run of the probe: who was asked what, and what came out."""

    def __init__(self, columns: ProbeColumns) -> None:
        self.columns = columns
        self.asked: dict[tuple[str, str], list[NodeScores]] = {}

    # --- learners -----------------------------------------------------------------------------

    def ask_linear(self) -> None:
        """Ask ridge classifiers for every setting."""
        settings = self.columns.linear_settings()
        blocks = {**self.columns.blocks}
        if self.columns.has_features:
            blocks["two"] = blocks["two"][:, :64]
        for fold, counted in self.columns.folds:
            found = {
                name: np.full((fold.size, self.columns.num_classes), np.nan) for name in settings
            }
            for test in range(FOLDS):
                blocks["labels"] = counted.columns(test, self.columns.prior(fold, test))
                held = (test + 1) % FOLDS
                parts = {
                    "train": np.flatnonzero((fold != test) & (fold != held)),
                    "held": np.flatnonzero(fold == held),
                    "test": np.flatnonzero(fold == test),
                }
                scores = linear_scores(
                    blocks,
                    settings,
                    self.columns.labels,
                    num_classes=self.columns.num_classes,
                    **parts,
                )
                for name, values in scores.items():
                    found[name][parts["test"]] = values
            for name, values in found.items():
                self._note("linear", name, values, fold)

    def ask_trees(self, setting: str) -> None:
        """Ask boosted trees for one setting, on at most ``thin`` nodes."""
        if ("trees", setting) in self.asked:
            return
        for fold, counted in self.columns.folds[:TREE_REPEATS]:
            # Nodes are dealt to folds in random order within their class: so are these.
            is_in = np.zeros(fold.size, np.bool_)
            rng = np.random.default_rng([SECRET, self.columns.seed, fold.size])
            is_in[rng.permutation(fold.size)[: self.columns.thin]] = True
            found = np.full((fold.size, self.columns.num_classes), np.nan)
            for test in range(FOLDS):
                columns = self.columns.tree_columns(
                    setting, counted.columns(test, self.columns.prior(fold, test))
                )
                train = np.flatnonzero((fold != test) & is_in)
                tested = np.flatnonzero((fold == test) & is_in)
                trees = fit_trees(
                    columns[train],
                    self.columns.labels[train],
                    num_classes=self.columns.num_classes,
                    options=TREES,
                    seed=self.columns.seed,
                )
                found[tested] = trees.probabilities(columns[tested])
            self._note("trees", setting, found, fold)

    def ask_largest_class(self) -> None:
        """Answer the largest class: what needs nothing at all.

        The largest of all nodes: with classes of equal size, that of the training folds would be
        wrong more often than any guess, as the test fold has fewer of it.
        """
        shares = (
            np.bincount(self.columns.labels, minlength=self.columns.num_classes)
            / self.columns.labels.size
        )
        for fold, _ in self.columns.folds:
            self._note("largest class", "own", np.tile(shares, (fold.size, 1)), fold)

    def _note(self, learner: str, setting: str, scores: Floats, fold: Nodes) -> None:
        labels = self.columns.labels
        if self.columns.score == "roc-auc":
            labels = np.searchsorted(self.columns.positive, labels)
            scores = scores[:, self.columns.positive]
        scored = node_scores(self.columns.score, labels, scores, fold)
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
        wanted = {beside_own(source): source for source in self.columns.sources()}
        return {
            (learner, wanted[setting]): self.against_own(learner, setting)
            for learner, setting in self.asked
            if setting in wanted
        }

    def run(self) -> Probe:
        """Ask the learners, the cheap one first, and the dear one as far as it may matter."""
        self.ask_largest_class()
        self.ask_linear()
        if not self.columns.quick:
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
            score=self.columns.score,
            scores=scores,
            own=own,
            own_score=self.got(own, "own").mean,
            gains={name: gains[name] for name in self.columns.sources()},
            by_learner=by_learner,
            average_loss=average_loss,
            folds=FOLDS,
            repeats=self.columns.repeats,
            nodes=int(self.columns.labels.size),
            tree_nodes=0
            if self.columns.quick
            else int(min(self.columns.labels.size, self.columns.thin)),
            has_features=self.columns.has_features,
            candidates=len(found),
            notes=tuple(self.columns.notes),
            predicted=predicted,
        )

    def _predicted(self, learner: str) -> Shuffled | None:
        """Return what the classes that own features predict for neighbours tell about a node."""
        if learner not in LEARNERS:
            return None
        fold = self.columns.folds[0][0]
        edges, signal = self.columns.near()
        guesses = []
        for test in range(FOLDS):
            train = np.flatnonzero(fold != test)
            if learner == "linear":
                held = np.flatnonzero(fold == (test + 1) % FOLDS)
                fitted = np.flatnonzero((fold != test) & (fold != (test + 1) % FOLDS))
                guesses.append(
                    predict_all(
                        self.columns.blocks["own"],
                        self.columns.labels,
                        signal,
                        num_classes=self.columns.num_classes,
                        train=fitted,
                        held=held,
                    )
                )
            else:
                columns = self.columns.tree_columns("own", np.empty((0, 0)))
                trees = fit_trees(
                    columns[train],
                    self.columns.labels[train],
                    num_classes=self.columns.num_classes,
                    options=TREES,
                    seed=self.columns.seed,
                )
                every = signal[:, : columns.shape[1]]
                guesses.append(trees.probabilities(every).argmax(axis=1))
        return predicted_informativeness(
            edges,
            self.columns.labels,
            fold,
            guesses,
            num_classes=self.columns.num_classes,
            rng=self.columns.rng,
        )

    def _ask_trees_that_matter(self) -> None:
        if self.columns.has_features:
            self.ask_trees("own")
        self.ask_trees(beside_own("all"))
        found = self.candidates()
        linear = max(gain.value for (learner, _), gain in found.items() if learner == "linear")
        trees = found["trees", "all"].value
        helped = [g for g in found.values() if g.among(2 * len(self.columns.sources())).is_better]
        if not helped or trees > linear + 0.01:
            for source in self.columns.sources():
                self.ask_trees(beside_own(source))
        if self.columns.has_features and self.against_own("linear", "average").is_worse:
            self.ask_trees("average")

    def _average_loss(self) -> Difference | None:
        if not self.columns.has_features:
            return None
        asked = [learner for learner in LEARNERS if (learner, "average") in self.asked]
        best = max(asked, key=lambda learner: self.got(learner, "average").mean)
        return self.against_own(best, "average")
