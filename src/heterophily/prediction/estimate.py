"""How good an ensemble is: test nodes, read once, judged by members that saw none of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.splits import SplitBatch
from heterophily.evaluation.scores import SCORES, all_scores, expected_calibration_error
from heterophily.prediction.calibration import fit_temperature, tempered
from heterophily.prediction.ensemble import average, unseen
from heterophily.prediction.members import Member

SCALED = "calibration-error-scaled"
"""Name of the calibration error after temperature scaling, beside the other scores."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Scores on test nodes, one value per distinct test set.

    Parameters
    ----------
    scores
        Name -> values; NaN where a score is undefined (ROC AUC of a single class).
    single
        Mean accuracy of the members one by one.
    test_nodes
        Mean size of the test sets.
    """

    scores: Mapping[str, tuple[float, ...]]
    single: float
    test_nodes: int

    def mean(self, name: str) -> float | None:
        """Mean over the test sets; None when undefined."""
        mean = float(np.mean(self.scores[name]))
        return mean if math.isfinite(mean) else None

    def spread(self, name: str) -> float | None:
        """Standard deviation over several test sets; of one, the standard error of a share.

        The latter, :math:`\\sqrt{p (1 - p) / n}`, is exact for the accuracy and a guide for the
        other scores.
        """
        mean, values = self.mean(name), self.scores[name]
        if mean is None:
            return None
        if len(values) > 1:
            return float(np.std(values))
        return math.sqrt(max(mean * (1 - mean), 0.0) / self.test_nodes)

    def to_dict(self) -> dict[str, Any]:
        """Return mean, spread and values of each score."""
        return {
            name: {
                "mean": self.mean(name),
                "spread": self.spread(name),
                "values": [value if math.isfinite(value) else None for value in values],
            }
            for name, values in self.scores.items()
        }


def validated_temperature(
    members: Sequence[Member], labels: NDArray[np.int64], splits: SplitBatch
) -> float:
    """Fit one temperature on the validation nodes of all splits, each judged by its own members."""
    truth, votes = [], []
    for number, split in enumerate(splits):
        mine = [member for member in members if member.split == number]
        if mine:
            rows = np.flatnonzero(split.validation)
            truth.append(labels[rows])
            votes.append(average(mine)[rows])
    return fit_temperature(np.concatenate(truth), np.concatenate(votes))


def estimate(
    members: Sequence[Member],
    labels: NDArray[np.int64],
    splits: SplitBatch,
    *,
    temperature: float,
) -> Estimate:
    """Read every distinct test set once; on it vote the members that saw none of its nodes."""
    found: dict[str, list[float]] = {}
    singles, sizes = [], []
    sets = {split.test.tobytes(): np.flatnonzero(split.test) for split in splits}
    for rows in sets.values():
        fair = unseen(members, splits, rows)
        if not fair:
            continue  # after Ctrl-C: this split has no member yet
        truth, votes = labels[rows], average(fair)[rows]
        values = all_scores(truth, votes)
        values[SCALED] = expected_calibration_error(truth, tempered(votes, temperature))
        for name, value in values.items():
            found.setdefault(name, []).append(value)
        singles += [SCORES["accuracy"](truth, member.probabilities[rows]) for member in fair]
        sizes.append(rows.size)
    return Estimate(
        {name: tuple(values) for name, values in found.items()},
        float(np.mean(singles)),
        round(float(np.mean(sizes))),
    )
