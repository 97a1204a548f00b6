"""Gradient-boosted trees on a node's own features, or on ACM's channels of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from heterophily.errors import InputError
from heterophily.evaluation.trees import TreeOptions, Trees, fit_trees
from heterophily.layers.fitted import Fitted
from heterophily.layers.inputs import GraphInputs
from heterophily.learning.learner import Learned, Lesson
from heterophily.learning.result import History
from heterophily.models.baseline import Card, check_positive, check_share
from heterophily.models.options import check_choice, check_count
from heterophily.models.tree_columns import COLUMNS, column_names, columns_of, telling_features
from heterophily.models.tree_labels import FOLDS, draw_folds, label_columns

SMALLEST = 1e-12  # probability of a class that trees have never seen, so that its log is finite


@dataclass(frozen=True, kw_only=True)
class TreesOptions:
    """Boosted trees.

    Parameters
    ----------
    columns
        Blocks of columns, keys of :data:`~heterophily.models.tree_columns.COLUMNS`: ``"own"`` X,
        ``"low"`` ÂX, ``"high"`` X - ÂX, ``"low-2"`` Â²X, ``"degree"``, ``"neighbour-degree"``.
    most_features
        Of more features, trees see those that tell the classes of training nodes apart best.
    with_labels
        Whether the trees also see the labels of training nodes one and two edges away
        (:func:`~heterophily.models.tree_labels.label_columns`), along all edges and, where the
        model's inputs have types of edges, along those of each type; they are then bound to the
        graph of the training.
    rounds
        Trees per class, at most; a training ends when ``patience`` rounds have not lowered the
        validation loss.
    depth, learning_rate, column_share, bins, patience
        See :class:`~heterophily.evaluation.trees.TreeOptions`.
    """

    columns: tuple[str, ...] = ("own",)
    most_features: int = 128
    with_labels: bool = False
    rounds: int = 500
    depth: int = 6
    learning_rate: float = 0.05
    column_share: float = 0.5
    bins: int = 128
    patience: int = 30

    def __post_init__(self) -> None:
        """Check every value once."""
        object.__setattr__(self, "columns", tuple(self.columns))
        for block in self.columns:
            check_choice("columns", block, tuple(COLUMNS))
        for name in ("most_features", "rounds", "depth", "bins", "patience"):
            check_count(name, getattr(self, name))
        if not isinstance(self.with_labels, bool):
            raise InputError(f"with_labels={self.with_labels!r}; it must be True or False")
        check_positive("learning_rate", self.learning_rate)
        check_share("column_share", self.column_share)

    def settings(self, *, most_rounds: int) -> TreeOptions:
        """Return what the trees are told."""
        values = {f.name: getattr(self, f.name) for f in fields(TreeOptions)}
        return TreeOptions(**{**values, "rounds": min(self.rounds, most_rounds)})


class TreesModel(Fitted):
    """XGBoost's histogram trees as a model of the table; its state is the saved trees."""

    card: ClassVar[Card] = Card(
        does=(
            "Gradient-boosted trees on the columns of a node; the variants add columns from "
            "its neighbours."
        ),
        paper="Chen and Guestrin 2016, XGBoost, section 2; channels as in ACM",
        cost="O(N K log N) for a tree of K columns; once per graph O(E F) for the channels",
        departs="at most 128 features; `trees-channels`: ACM's channels and the degree; "
        "`trees-labels`: also the labels of neighbours, cross-fitted; `typed-trees`: also those "
        "along each type of edges (all ours)",
        step="round",
    )
    booster: Tensor
    classes: Tensor
    kept: Tensor
    labels: Tensor
    fold: Tensor

    def __init__(
        self, options: TreesOptions, *, num_nodes: int, num_features: int, num_classes: int
    ) -> None:
        super().__init__()
        self.options, self.num_classes = options, num_classes
        self.register_buffer("booster", torch.zeros(0, dtype=torch.uint8))
        self.register_buffer("classes", torch.zeros(0, dtype=torch.int64))
        self.register_buffer("kept", torch.zeros(0, dtype=torch.int64))
        known = num_nodes if options.with_labels else 0
        self.register_buffer("labels", torch.full((known,), -1))
        self.register_buffer("fold", torch.full((known,), FOLDS))

    @property
    def trees(self) -> Trees:
        """The fitted trees."""
        content = self.booster.cpu().numpy().tobytes()
        return Trees.from_bytes(content, self.classes.cpu().numpy(), self.num_classes)

    def learn(self, lesson: Lesson) -> Learned:
        """Fit trees to the training nodes; validation nodes say when to stop."""
        known = np.where(lesson.split.train, lesson.labels, -1)
        telling = telling_features(lesson.inputs, known, self.options.most_features)
        self.kept = torch.from_numpy(telling)
        if self.options.with_labels:
            self.labels = torch.from_numpy(known)
            self.fold = torch.from_numpy(draw_folds(lesson.split.train, seed=lesson.seed))
        table = self.table(lesson.inputs)
        train = np.flatnonzero(lesson.split.train)
        held = np.flatnonzero(lesson.split.validation)
        fitted = fit_trees(
            table[train],
            lesson.labels[train],
            num_classes=self.num_classes,
            options=self.options.settings(most_rounds=lesson.max_epochs),
            validation=(table[held], lesson.labels[held]),
            weights=lesson.node_weights[train] if lesson.is_weighted else None,
            with_curves=True,
            seed=lesson.seed % 2**31,
        )
        content = np.frombuffer(fitted.to_bytes(), np.uint8)
        self.booster = torch.from_numpy(content.copy())
        self.classes = torch.from_numpy(fitted.classes.astype(np.int64))
        if not fitted.curves:  # nothing to learn, or nothing to judge it by
            return lesson.judged(self(lesson.inputs))
        seen, shown = fitted.curves["train"], fitted.curves["validation"]
        history = History(
            np.array(seen["loss"]), np.array(shown["loss"]), 1.0 - np.array(shown["error"])
        )
        return Learned(history, fitted.booster.num_boosted_rounds())

    def table(self, inputs: GraphInputs) -> Any:
        """Return the columns of all nodes, (N, K), dense or CSR."""
        found = columns_of(inputs, self.options.columns, self.kept.cpu().numpy())
        if not self.options.with_labels:
            return found
        labels, fold = (part.cpu().numpy() for part in (self.labels, self.fold))
        more = label_columns(inputs, labels, fold, num_classes=self.num_classes)
        return (
            sp.csr_array(sp.hstack([found, more]))
            if sp.issparse(found)
            else np.hstack([found, more])
        )

    def forward(self, inputs: GraphInputs) -> Tensor:
        """Return the logarithms of the probabilities, (N, C)."""
        if not self.classes.numel():  # not fitted yet
            return torch.zeros(inputs.num_nodes, self.num_classes)
        self._refuse_foreign_numbers(inputs)
        found = self.trees.probabilities(self.table(inputs))
        return torch.from_numpy(np.log(np.maximum(found, SMALLEST)))

    def _refuse_foreign_numbers(self, inputs: GraphInputs) -> None:
        """Refuse a saved state that speaks of classes or features that do not exist."""
        for name, most in (
            ("classes", self.num_classes),
            ("labels", self.num_classes),
            ("kept", inputs.num_features),
        ):
            numbers = getattr(self, name)
            lowest = -1 if name == "labels" else 0
            if numbers.numel() and not lowest <= int(numbers.min()) <= int(numbers.max()) < most:
                raise InputError(
                    f"the saved trees do not fit: {name} go up to {int(numbers.max())}, the model "
                    f"has {most}; train again"
                )

    def gains(self) -> Mapping[tuple[str, int | None], float]:
        """Return the share of each column (block, number of the feature or class) in the gain.

        Labels along edges of each type count with those along all edges.
        """
        names = column_names(self.kept.tolist(), self.options.columns)
        found = self.trees.gains
        if self.options.with_labels:
            of_labels: list[tuple[str, int | None]] = [
                (step, number)
                for step in ("labels", "labels-2")
                for number in (*range(self.num_classes), None)
            ]
            names += of_labels * (1 + max(found, default=0) // len(of_labels))
        total = sum(found.values())
        shares: dict[tuple[str, int | None], float] = {}
        for place, gain in found.items():
            shares[names[place]] = shares.get(names[place], 0.0) + gain / total
        return dict(sorted(shares.items(), key=lambda pair: -pair[1]))
