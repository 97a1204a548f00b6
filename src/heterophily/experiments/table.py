"""A computed table: cells with ours and theirs, ranks, and how far they agree. No torch here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from heterophily.evaluation.evaluate import ScoreValue
from heterophily.evaluation.intervals import TestSizes, score_interval
from heterophily.experiments.paper import Published
from heterophily.experiments.statistics import (
    CriticalDifference,
    PairedTest,
    all_pairs,
    average_ranks,
    critical_difference,
    rank_correlations,
    win_tie_loss,
)
from heterophily.runs.record import Outcome, Record
from heterophily.runs.run import NUMERICS

_TIE = 1e-9  # a value exactly one deviation away lies within, whatever the last bit says


@dataclass(frozen=True)
class CellResult:
    """What the finished runs of one cell say; one entry per split, in the order of the splits.

    ``splits`` is the split rule by its stored name (``random`` is the paper's).
    ``test_to_train`` is the ratio of the sizes of these sets, for the paired tests.
    ``wanted`` is the number of runs that the cell is made of; ``remark`` says why there are none.
    Accuracies are fractions, ``std`` is divided by R as in the paper. ``seconds`` is the training
    time of all runs, ``versions`` ("torch 2.4.0") and ``finished`` (days) are those of any of them.
    ``numerics`` names the engine with the version of its numerics, for example "native 4".
    Where the records have them, ``scores`` and ``validation_scores`` are all scores by name, and
    ``confusion`` is the confusion matrix of all test sets together.
    """

    row: str
    dataset: str
    splits: str
    wanted: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    test: tuple[float | None, ...] = ()
    validation: tuple[float | None, ...] = ()
    keys: tuple[str, ...] = ()
    epochs: float | None = None
    ms_per_epoch: float | None = None
    peak_memory_mb: float | None = None
    engine: str = ""
    numerics: tuple[str, ...] = ()
    test_to_train: float = 1 / 3
    published: Published | None = None
    published_ms: float | None = None
    seconds: float = 0.0
    versions: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()
    remark: str = ""
    scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    validation_scores: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)
    confusion: tuple[tuple[int, ...], ...] = ()

    @classmethod
    def of(cls, records: Sequence[Record], **facts: Any) -> CellResult:
        """Sum up the records of a cell."""
        ordered = sorted(records, key=lambda record: int(record.run["split"]["index"]))
        outcomes = [record.outcome for record in ordered]
        if not outcomes:
            return cls(**facts)
        epochs = [outcome.epochs for outcome in outcomes]
        return cls(
            test=tuple(outcome.test_accuracy for outcome in outcomes),
            validation=tuple(outcome.validation_accuracy for outcome in outcomes),
            keys=tuple(record.key for record in ordered),
            epochs=float(np.mean(epochs)),
            ms_per_epoch=1000 * sum(o.seconds for o in outcomes) / sum(epochs),
            engine=" and ".join(sorted({record.run["engine"] for record in ordered})),
            numerics=_distinct(f"{record.run['engine']} {record.numerics}" for record in ordered),
            peak_memory_mb=max(outcome.peak_memory_mb for outcome in outcomes),
            seconds=sum(outcome.seconds for outcome in outcomes),
            versions=_distinct(f"{k} {v}" for r in ordered for k, v in r.versions.items()),
            finished=_distinct(record.finished_at[:10] for record in ordered),
            scores=_scores(outcomes, "test"),
            validation_scores=_scores(outcomes, "validation"),
            confusion=_confusion(outcomes),
            **facts,
        )

    @property
    def earlier_numerics(self) -> tuple[str, ...]:
        """Those of ``numerics`` that are not today's."""
        today = {f"{engine} {version}" for engine, version in NUMERICS.items()}
        return tuple(name for name in self.numerics if name not in today)

    @property
    def is_complete(self) -> bool:
        """Whether every run of the cell is finished and has an accuracy."""
        return len(self.test) == self.wanted > 0 and None not in self.test

    @property
    def mean(self) -> float | None:
        """Mean test accuracy of the finished runs; None without any, or when one diverged."""
        if not self.test or None in self.test:
            return None
        return float(np.mean(self.test))  # type: ignore[arg-type]

    @property
    def std(self) -> float | None:
        """Standard deviation of the test accuracy, divided by R."""
        return None if self.mean is None else float(np.std(self.test))  # type: ignore[arg-type]

    @property
    def difference(self) -> float | None:
        """Ours minus theirs."""
        if self.mean is None or self.published is None:
            return None
        return self.mean - self.published.mean

    @property
    def is_within(self) -> bool | None:
        """Whether ours is within one published standard deviation; None if that is unknown."""
        return self.lies_within(1)

    def lies_within(self, deviations: float) -> bool | None:
        """Whether ours is within some published standard deviations; None if that is unknown."""
        if self.difference is None or self.published is None or self.published.std is None:
            return None
        return abs(self.difference) <= deviations * self.published.std + _TIE

    def test_by(self, score: str) -> tuple[float | None, ...] | None:
        """Return a score of the test nodes, one value per split; None if the records lack it."""
        return self.test if score == "accuracy" else self.scores.get(score)

    def value_by(self, score: str, sizes: TestSizes | None) -> ScoreValue:
        """Return a score of the test nodes with its interval, NaN where a run has none."""
        values = tuple(math.nan if v is None else v for v in self.test_by(score) or ())
        if sizes is None:
            return ScoreValue(values)
        confusion = np.array(self.confusion) if self.confusion else None
        return ScoreValue(values, score_interval(score, values, sizes, confusion))

    def to_dict(self) -> dict[str, Any]:
        """Return the cell as plain data; scores that the records lack are left out."""
        facts = ("is_complete", "mean", "std", "difference", "is_within")
        values = asdict(self)
        for name in ("scores", "validation_scores", "confusion"):
            if not values[name]:
                del values[name]
        return {**values, **{name: getattr(self, name) for name in facts}}


@dataclass(frozen=True)
class TableResult:
    """A study under one protocol; ``place`` is where the paper has it, ``command`` makes it."""

    study: str
    title: str
    protocol: str
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: tuple[CellResult, ...]
    remarks: tuple[str, ...] = ()
    has_ranks: bool = False
    place: str = ""
    command: str = ""

    def cell(self, row: str, dataset: str) -> CellResult | None:
        """Return a cell, or None if the study has none there."""
        found = (cell for cell in self.cells if (cell.row, cell.dataset) == (row, dataset))
        return next(found, None)

    def means(self, *, published: bool = False) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Return the mean accuracies, rows by datasets, NaN where there is none.

        Only complete cells count; of the published values only those that ours stand beside.
        """
        values = np.full((len(self.rows), len(self.datasets)), np.nan)
        for cell in self.cells:
            mean = cell.mean if cell.is_complete else None
            if published:
                mean = cell.published.mean if cell.published and cell.is_complete else None
            if mean is not None:
                values[self.rows.index(cell.row), self.datasets.index(cell.dataset)] = mean
        return values

    def ranks(self) -> dict[str, float]:
        """Return the mean rank of each row over the datasets, 1 is best (the paper's last column).

        A row is ranked on the datasets where it has a value, among the rows that have one.
        """
        return dict(zip(self.rows, average_ranks(self.means()).tolist(), strict=True))

    def summary(self) -> dict[str, Any]:
        """Say how far ours and theirs agree, over the complete cells with a published value."""
        beside = [c for c in self.cells if c.is_complete and c.published is not None]
        with_std = [cell for cell in beside if cell.is_within is not None]
        differences = [cell.difference for cell in beside if cell.difference is not None]
        orders = rank_correlations(self.means(), self.means(published=True))
        known = [order for order in orders if order is not None]
        ratios = [
            cell.published_ms / cell.ms_per_epoch
            for cell in self.cells
            if cell.is_complete and cell.published_ms and cell.ms_per_epoch
        ]
        return {
            "cells": len(self.cells),
            "complete": sum(cell.is_complete for cell in self.cells),
            "beside_published": len(beside),
            "within_one_std": sum(bool(cell.is_within) for cell in with_std),
            "within_two_std": sum(bool(cell.lies_within(2)) for cell in with_std),
            "of_with_std": len(with_std),
            "mean_difference": float(np.mean(differences)) if differences else None,
            "mean_size_of_difference": float(np.mean(np.abs(differences))) if differences else None,
            "rank_correlation": float(np.mean(known)) if known else None,
            "rank_correlations": dict(zip(self.datasets, orders, strict=True)),
            "median_time_ratio": float(np.median(ratios)) if ratios else None,
            "runs": sum(len(cell.test) for cell in self.cells),
            "seconds": sum(cell.seconds for cell in self.cells),
        }

    def engines(self) -> tuple[str, ...]:
        """Return the engines that trained the cells."""
        return _distinct(cell.engine for cell in self.cells if cell.engine)

    def versions(self) -> tuple[str, ...]:
        """Return the versions of everything that may change a number."""
        return _distinct(text for cell in self.cells for text in cell.versions)

    def paired_tests(self) -> dict[str, tuple[PairedTest, ...]]:
        """Return the paired tests of each dataset between its complete rows."""
        found = {}
        for dataset in self.datasets:
            cells = [c for c in self.cells if c.dataset == dataset and c.is_complete]
            values = {c.row: [v for v in c.test if v is not None] for c in cells}
            if len(values) > 1 and min(map(len, values.values())) > 1:
                found[dataset] = all_pairs(values, test_to_train=cells[0].test_to_train)
        return found

    def wins(self) -> dict[tuple[str, str], tuple[int, int, int]]:
        """Return wins, ties and losses of each row against each other, over the datasets."""
        return win_tie_loss(self.paired_tests())

    def critical_difference(self) -> CriticalDifference | None:
        """Return the data of the critical-difference diagram of the rows that are complete.

        None with fewer than two rows that are complete on every dataset, or one dataset.
        """
        means = self.means()
        whole = ~np.isnan(means).any(axis=1)
        if whole.sum() < 2 or len(self.datasets) < 2:
            return None
        names = [name for name, is_whole in zip(self.rows, whole, strict=True) if is_whole]
        return critical_difference(names, means[whole])

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain data: what a report is made of."""
        diagram = self.critical_difference()
        return {
            "study": self.study,
            "title": self.title,
            "protocol": self.protocol,
            "command": self.command,
            "engines": list(self.engines()),
            "versions": list(self.versions()),
            "rows": list(self.rows),
            "datasets": list(self.datasets),
            "cells": [cell.to_dict() for cell in self.cells],
            "ranks": {name: _number(rank) for name, rank in self.ranks().items()},
            "summary": self.summary(),
            "wins": [[*pair, *counts] for pair, counts in self.wins().items()],
            "critical_difference": None if diagram is None else diagram.to_dict(),
            "remarks": list(self.remarks),
        }


def _scores(outcomes: Sequence[Outcome], part: str) -> dict[str, tuple[float | None, ...]]:
    """Return the scores of a part by name, if every run has them."""
    found = [(outcome.scores or {}).get(part) for outcome in outcomes]
    if any(each is None for each in found):
        return {}
    known = [each for each in found if each is not None]
    return {name: tuple(each.get(name) for each in known) for name in known[0]}


def _confusion(outcomes: Sequence[Outcome]) -> tuple[tuple[int, ...], ...]:
    """Return the sum of the confusion matrices, if every run has one."""
    found: list[Any] = [(outcome.scores or {}).get("confusion") for outcome in outcomes]
    if any(each is None for each in found):
        return ()
    return tuple(tuple(map(int, row)) for row in np.sum(found, axis=0))


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(values)))


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
