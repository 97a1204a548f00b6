"""How good an ensemble is: test nodes, read once, judged by members that saw none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch
from heterophily.errors import InputError
from heterophily.evaluation.baselines import baselines
from heterophily.evaluation.evaluate import Evaluation, ScoreValue, evaluate
from heterophily.evaluation.scores import accuracy, expected_calibration_error
from heterophily.evaluation.threshold import choose_threshold
from heterophily.prediction.calibration import helpful_temperature, tempered
from heterophily.prediction.ensemble import average, unseen
from heterophily.prediction.members import Member
from heterophily.prediction.ranking import TopNodes, top_nodes

CALIBRATION, SCALED = "calibration-error", "calibration-error-scaled"
"""Names of the calibration error before and after temperature scaling, beside the scores."""

RANKS = ("roc-auc", "average-precision")
"""Scores of rankings: beside them stands what the first nodes of the ranking hold."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """An ensemble on test nodes that its voters never saw, by distinct test set.

    Parameters
    ----------
    evaluation
        Scores, intervals, classes, baselines.
    single
        Mean accuracy of the members one by one.
    calibration
        The two calibration errors by name, one value per test set.
    top
        Two classes: how many of the nodes ranked first are of the rarer one.
    """

    evaluation: Evaluation
    single: float
    calibration: Mapping[str, tuple[float, ...]]
    top: tuple[TopNodes, ...] = ()

    @property
    def scores(self) -> dict[str, tuple[float, ...]]:
        """Values of each score and calibration error; NaN where one is undefined."""
        found = {name: value.values for name, value in self.evaluation.scores.items()}
        return found | dict(self.calibration)

    @property
    def test_nodes(self) -> int:
        """Test nodes of the smallest test set."""
        return self.evaluation.sizes.nodes

    def mean(self, name: str) -> float | None:
        """Mean over the test sets; None when undefined."""
        return ScoreValue(self.scores[name]).mean

    def to_dict(self) -> dict[str, Any]:
        """Return mean, spread, values and interval of each score."""
        errors = {name: ScoreValue(values).to_dict() for name, values in self.calibration.items()}
        return {**self.evaluation.to_dict()["scores"], **errors}


def validated_temperature(
    members: Sequence[Member], labels: NDArray[np.int64], splits: SplitBatch
) -> float:
    """Fit one temperature on the validation nodes of all splits, each judged by its own members.

    1 unless it clearly helps on nodes that it was not fitted on.
    """
    found = [_validated(members, labels, splits, number) for number in range(len(splits))]
    truth, votes = zip(*(pair for pair in found if pair is not None), strict=True)
    return helpful_temperature(np.concatenate(truth), np.concatenate(votes))


def _validated(
    members: Sequence[Member], labels: NDArray[np.int64], splits: SplitBatch, number: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
    """Return labels and votes of the validation nodes of a split, by its own members."""
    mine = [member for member in members if member.split == number]
    rows = np.flatnonzero(splits.validation[number])
    return (labels[rows], average(mine)[rows]) if mine else None


def estimate(
    members: Sequence[Member],
    graph: Graph,
    splits: SplitBatch,
    *,
    temperature: float,
    score: str | None = None,
    beside: SplitBatch | None = None,
) -> Estimate:
    """Read every distinct test set once; on it vote the members that saw none of its nodes.

    ``score`` is that of the comparison with the baselines. These are fitted on the splits
    ``beside``, by default on ``splits``; where several have the same test nodes, their votes are
    averaged as those of the members are.
    """
    labels = graph.labels
    judged: dict[bytes, NDArray[np.float64]] = {}
    held: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    singles: list[float] = []
    for split in splits:
        known, rows = split.test.tobytes(), np.flatnonzero(split.test)
        fair = [] if known in judged else unseen(members, splits, rows)
        if not fair:
            continue  # seen already; or, after Ctrl-C, this split has no member yet
        judged[known] = average(fair)
        alike = [k for k in range(len(splits)) if splits.test[k].tobytes() == known]
        pairs = [_validated(members, labels, splits, k) for k in alike]
        mine = [pair for pair in pairs if pair is not None]
        if mine:
            truth, votes = zip(*mine, strict=True)
            held.append((np.concatenate(truth), np.concatenate(votes)))
        singles += [accuracy(labels[rows], member.probabilities[rows]) for member in fair]
    if not judged:
        raise InputError("every member saw test nodes: there is nothing to judge them by")
    found = _evaluated(graph, splits if beside is None else beside, judged, score)
    pairs_of_test = [(labels[rows], votes[rows]) for rows, votes in _rows(judged)]
    threshold = None
    if len(held) == len(pairs_of_test):
        threshold = choose_threshold(held, pairs_of_test)
    return Estimate(
        replace(found, threshold=threshold),
        float(np.mean(singles)),
        {
            CALIBRATION: tuple(expected_calibration_error(*pair) for pair in pairs_of_test),
            SCALED: tuple(
                expected_calibration_error(truth, tempered(votes, temperature))
                for truth, votes in pairs_of_test
            ),
        },
        top_nodes(pairs_of_test) if found.score in RANKS else (),
    )


def _rows(
    judged: Mapping[bytes, NDArray[np.float64]],
) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    return [(np.flatnonzero(np.frombuffer(k, np.bool_)), votes) for k, votes in judged.items()]


def _evaluated(
    graph: Graph,
    splits: SplitBatch,
    judged: Mapping[bytes, NDArray[np.float64]],
    score: str | None,
) -> Evaluation:
    """Judge the votes on each test set beside the baselines of the splits that have it."""
    groups = {
        known: [k for k in range(len(splits)) if splits.test[k].tobytes() == known]
        for known in judged
    }
    order = [k for group in groups.values() for k in group]
    places = iter(range(len(order)))
    by_set = [[next(places) for _ in group] for group in groups.values()]
    return evaluate(
        graph,
        [splits[group[0]] for group in groups.values()],
        list(judged.values()),
        baselines=[b.joined(by_set) for b in baselines(graph, [splits[k] for k in order])],
        score=score,
        with_threshold=False,
    )
