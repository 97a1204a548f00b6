"""A computed table: cells with ours and theirs, ranks, and how far they agree. No torch here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from heterophily.runs.cell import CellResult
from heterophily.statistics.paired_tests import PairedTest, all_pairs, win_tie_loss
from heterophily.statistics.ranks import (
    CriticalDifference,
    average_ranks,
    critical_difference,
    rank_correlations,
)
from heterophily.studies.remarks import CellRemark

_TIE = 1e-9  # a value exactly one deviation away lies within, whatever the last bit says


@dataclass(frozen=True)
class TableResult:
    """A study under one protocol; ``place`` is where the paper has it, ``command`` makes it."""

    study: str
    title: str
    protocol: str
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    cells: tuple[CellResult, ...]
    remarks: tuple[CellRemark | str, ...] = ()
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

    def ranks(self, *, published: bool = False) -> dict[str, float]:
        """Return the mean rank of each row over the datasets, 1 is best (the paper's last column).

        Where the paper has the table too, ranks are among the cells that both have, so that ours
        and theirs can be compared: the printed ranks are among all rows of the paper. Elsewhere a
        row is ranked on the datasets where it has a value, among the rows that have one.
        """
        ours, theirs = self.means(), self.means(published=True)
        if published:
            ours = theirs
        elif not np.isnan(theirs).all():
            ours = np.where(np.isnan(theirs), np.nan, ours)
        return dict(zip(self.rows, average_ranks(ours).tolist(), strict=True))

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
        both = [c for c in self.cells if c.is_complete and c.by_test is not None]
        gains = [c.by_test.mean - c.mean for c in both if c.by_test and c.mean is not None]
        beyond = [c.by_test.mean - c.published.mean for c in both if c.by_test and c.published]
        return {
            "cells": len(self.cells),
            "complete": sum(cell.is_complete for cell in self.cells),
            "beside_published": len(beside),
            "within_one_std": sum(bool(cell.is_within) for cell in with_std),
            "within_two_std": sum(bool(cell.lies_within(2)) for cell in with_std),
            "of_with_std": len(with_std),
            "mean_difference": float(np.mean(differences)) if differences else None,
            "mean_size_of_difference": float(np.mean(np.abs(differences))) if differences else None,
            "chosen_twice": len(gains),
            "gain_by_test": float(np.mean(gains)) if gains else None,
            "mean_difference_by_test": float(np.mean(beyond)) if beyond else None,
            "rank_correlation": float(np.mean(known)) if known else None,
            "rank_correlations": dict(zip(self.datasets, orders, strict=True)),
            "median_time_ratio": float(np.median(ratios)) if ratios else None,
            "runs": sum(len(cell.test) for cell in self.cells),
            "seconds": sum(cell.seconds for cell in self.cells),
        }

    def engines(self) -> tuple[str, ...]:
        """Return the engines that trained the cells."""
        return tuple(sorted({cell.engine for cell in self.cells if cell.engine}))

    def versions(self) -> tuple[str, ...]:
        """Return the versions of everything that may change a number."""
        return tuple(sorted({text for cell in self.cells for text in cell.versions}))

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
            "published_ranks": {n: _number(r) for n, r in self.ranks(published=True).items()},
            "summary": self.summary(),
            "wins": [[*pair, *counts] for pair, counts in self.wins().items()],
            "critical_difference": None if diagram is None else diagram.to_dict(),
            "remarks": [str(remark) for remark in self.remarks],
        }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
