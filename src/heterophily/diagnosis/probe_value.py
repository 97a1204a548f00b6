"""What the probe found: a value, and the names of the sources of information."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from heterophily.diagnosis.paired import Difference
from heterophily.diagnosis.shuffle import Shuffled

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
