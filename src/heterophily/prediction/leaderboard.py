"""The leaderboard of a search: candidates with intervals, and the baselines among the rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from heterophily.data.graph import Graph
from heterophily.data.splits import Split, SplitBatch
from heterophily.errors import MissingExtraError
from heterophily.evaluation.baselines import LARGEST, TITLES
from heterophily.evaluation.intervals import Interval, TestSizes, score_interval
from heterophily.evaluation.scores import SCORES
from heterophily.prediction.trial import Trial, ranked


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One line: a candidate, the ensemble, or a baseline; its validation score and interval."""

    model: str
    settings: str
    validation: float
    interval: Interval | None
    splits: int
    trainings: int
    seconds: float
    is_chosen: bool = False
    is_baseline: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        low, high = (
            (None, None) if self.interval is None else (self.interval.low, self.interval.high)
        )
        return {
            "model": self.model,
            "settings": self.settings,
            "validation": self.validation,
            "low": low,
            "high": high,
            "splits": self.splits,
            "trainings": self.trainings,
            "seconds": self.seconds,
            "chosen": self.is_chosen,
            "baseline": self.is_baseline,
        }


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a search is: for a progress display.

    ``share`` of the time has passed and at most ``left`` seconds remain; ``rows`` makes the
    leaderboard so far.
    """

    share: float
    left: float
    trainings: int
    rows: Callable[[], list[BoardRow]]


class Leaderboard:
    """Makes rows of trials, by the validation nodes of the splits."""

    def __init__(self, graph: Graph, splits: SplitBatch, score: str) -> None:
        self.graph, self.splits, self.score = graph, splits, score

    def rows(self, trials: Iterable[Trial], chosen: Collection[Trial] = ()) -> list[BoardRow]:
        """Return the trials that have a score, and always the largest class; best first."""
        usable = [trial for trial in ranked(trials) if math.isfinite(trial.mean)]
        found = [self._row(trial, trial in chosen) for trial in usable]
        base = self.largest()
        place = next(
            (n for n, row in enumerate(found) if row.validation < base.validation), len(found)
        )
        return [*found[:place], base, *found[place:]]

    def largest(self) -> BoardRow:
        """Return the row of always guessing the largest class of the training nodes."""
        labels, values = self.graph.labels, []
        for split in self.splits:
            counts = np.bincount(labels[split.train], minlength=self.graph.num_classes)
            truth = labels[split.validation]
            votes = np.tile(counts / max(1, counts.sum()), (truth.size, 1))
            values.append(SCORES[self.score](truth, votes))
        known = [value for value in values if math.isfinite(value)]
        mean = math.fsum(known) / len(known) if known else math.nan
        return BoardRow(TITLES[LARGEST], "", mean, None, len(self.splits), 0, 0.0, is_baseline=True)

    def _row(self, trial: Trial, is_chosen: bool) -> BoardRow:
        settings = trial.candidate.settings
        return BoardRow(
            trial.candidate.family.label,
            "  ".join(f"{key}={value:g}" for key, value in settings.items()),
            trial.mean,
            self.interval([trial.scores[key] for key in sorted(trial.scores)], trial.splits),
            trial.splits,
            len(trial.scores),
            trial.seconds,
            is_chosen=is_chosen,
        )

    def interval(self, values: Sequence[float], splits: int) -> Interval | None:
        """Return the 95 % interval of a mean score on the validation nodes of the first splits."""
        known = [value for value in values if math.isfinite(value)]
        used = [self.splits[number] for number in range(min(splits, len(self.splits)))]
        if not known or not used:
            return None
        turned = [Split(split.train, split.test, split.validation) for split in used]
        sizes = TestSizes.of(self.graph.labels, turned)
        return score_interval(self.score, known, sizes)


def as_frame(rows: Sequence[BoardRow]) -> Any:
    """Return rows as a pandas DataFrame."""
    if find_spec("pandas") is None:
        raise MissingExtraError(
            "leaderboard needs pandas: pip install pandas; or use leaderboard_rows, which does not"
        )
    import pandas

    return pandas.DataFrame([row.to_dict() for row in rows])
