"""What ``auto`` returns: what was chosen, why, and how good it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike
from heterophily.data.splits import SplitBatch
from heterophily.diagnosis.direction import DirectionSignal
from heterophily.diagnosis.verdict import Verdict
from heterophily.prediction.candidates import uses_edges
from heterophily.prediction.ensemble import Ensemble
from heterophily.prediction.estimate import Estimate
from heterophily.prediction.families import Family
from heterophily.prediction.leaderboard import BoardRow, Leaderboard, as_frame
from heterophily.prediction.trial import Trial, ranked

if TYPE_CHECKING:
    from heterophily.prediction.predict import Predictions


@dataclass(frozen=True, eq=False)
class AutoResult:
    """What was chosen, why, and how good it is. Print it, or show it in a notebook.

    Parameters
    ----------
    splits, choice
        The splits that chose, and the members that were chosen on them.
    folds, ensemble
        The splits of the members that vote, and these members: the same, unless they were trained
        again on folds.
    direction
        Whether the direction of edges goes with the labels; None where no edge is one-way.
    estimate, estimate_of_choice
        How good the ensemble is, and the choice; the same, unless they were trained again.
    """

    graph: Graph
    splits: SplitBatch
    folds: SplitBatch
    verdict: Verdict
    direction: DirectionSignal | None
    families: tuple[Family, ...]
    score: str
    trials: tuple[Trial, ...]
    finalists: tuple[Trial, ...]
    choice: Ensemble
    ensemble: Ensemble
    temperature: float
    estimate: Estimate
    estimate_of_choice: Estimate
    replicas: int
    notes: tuple[str, ...] = ()
    interrupted: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_refit(self) -> bool:
        """Whether the voters were trained again on folds of training and validation nodes."""
        return self.ensemble is not self.choice

    @property
    def without_graph(self) -> Trial | None:
        """The best candidate that sees no edges, by validation score; None when none was tried."""
        found = [
            trial
            for trial in self.trials
            if math.isfinite(trial.mean) and not uses_edges(trial.candidate.family)
        ]
        return max(found, key=lambda trial: (trial.splits, trial.mean), default=None)

    def predict(self, graph: GraphLike = None) -> Predictions:
        """Let the ensemble vote on a graph, by default on the one it was chosen for."""
        from heterophily.prediction.build import model_of
        from heterophily.prediction.predict import predict

        return predict(model_of(self), self.graph if graph is None else graph)

    def ranking(self) -> list[Trial]:
        """Return all trials: those with more trainings first, then by validation score."""
        return ranked(self.trials)

    def leaderboard_rows(self) -> list[BoardRow]:
        """Return the leaderboard: the ensemble, candidates with intervals, the largest class."""
        board = Leaderboard(self.graph, self.splits, self.score)
        voters = self.choice.trials
        whole = BoardRow(
            "ensemble",
            f"{len(self.choice.members)} votes",
            self.choice.score,
            board.interval([self.choice.score], len(self.splits)),
            len(self.splits),
            len(self.choice.members),
            math.fsum(trial.seconds for trial in voters),
            is_chosen=True,
        )
        return [whole, *board.rows(self.trials, voters)]

    def leaderboard(self) -> Any:
        """Return the leaderboard as a pandas DataFrame."""
        return as_frame(self.leaderboard_rows())

    def __repr__(self) -> str:
        """Return one sentence and the head of the leaderboard."""
        from heterophily.prediction.auto_text import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        """Return the same as HTML, for notebooks."""
        from heterophily.prediction.auto_text import as_html

        return as_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: verdict, candidates, choice, test estimate."""
        return {
            "graph": self.graph.name,
            "verdict": self.verdict.to_dict(),
            **({} if self.direction is None else {"direction": self.direction.to_dict()}),
            "score": self.score,
            "candidates": [_row(trial) for trial in self.ranking()],
            "chosen": [_row(trial) for trial in self.choice.trials],
            "members": len(self.ensemble.members),
            "validation": {
                "single": self.finalists[0].mean,
                "by_finalists": list(self.choice.scores),
                "ensemble": self.choice.score,
            },
            "temperature": self.temperature,
            "test": self.estimate.to_dict(),
            "evaluation": self.estimate.evaluation.to_dict(),
            "ranking": [found.to_dict() for found in self.estimate.top],
            "test_single_member_accuracy": self.estimate.single,
            "refit": self.is_refit,
            **({"test_before_refit": self.estimate_of_choice.to_dict()} if self.is_refit else {}),
            "test_nodes": self.estimate.test_nodes,
            "replicas": self.replicas,
            "notes": list(self.notes),
            "interrupted": self.interrupted,
        }


def _row(trial: Trial) -> dict[str, Any]:
    mean = trial.mean
    return {
        "model": trial.candidate.family.label,
        "settings": dict(trial.candidate.settings),
        "splits": trial.splits,
        "trainings": len(trial.scores),
        "validation": mean if math.isfinite(mean) else None,
        "seconds": round(trial.seconds, 2),
    }
