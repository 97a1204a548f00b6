"""The curves that the runs of a synthetic study add up to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

UnitRow = Mapping[str, Any]
"""What :func:`~heterophily.studies.synthetic_run.run_study` says of one model on one graph."""

_OUTCOMES = ("validation_accuracy", "validation_loss", "test_accuracy", "epochs")


@dataclass(frozen=True)
class Point:
    """A model at one level: the setting that validation chose, and what it gave on each graph."""

    level: float
    setting: Mapping[str, Any]
    accuracies: tuple[float, ...]  # test accuracy by graph
    metrics: Mapping[str, tuple[float, ...]]  # name -> value by graph

    @property
    def accuracy(self) -> float:
        """Mean test accuracy over the graphs."""
        return float(np.mean(self.accuracies))

    @property
    def spread(self) -> float:
        """Standard deviation of the test accuracy over the graphs."""
        return float(np.std(self.accuracies))

    def metric(self, name: str) -> float:
        """Mean of a metric over the graphs; nan where it is undefined."""
        return float(np.mean(self.metrics[name]))


def curves(records: Iterable[UnitRow]) -> dict[str, list[Point]]:
    """Return, for each model, its points in the order of the levels.

    At each level the setting with the highest mean *validation* accuracy over the graphs is
    chosen (ties: lower validation loss, then the first); its test accuracies are reported. The
    released program chose by test accuracy.
    """
    groups: dict[tuple[str, float], list[UnitRow]] = defaultdict(list)
    for record in records:
        groups[record["model"], record["level"]].append(record)
    found: dict[str, list[Point]] = defaultdict(list)
    for (model, level), members in sorted(groups.items(), key=lambda item: item[0][1]):
        found[model].append(_point(level, sorted(members, key=lambda record: record["graph"])))
    return {model: found[model] for model in dict.fromkeys(model for model, _ in groups)}


def _point(level: float, members: list[UnitRow]) -> Point:
    def mean(name: str, number: int) -> float:
        values = [record["trials"][number][name] for record in members]
        return float(np.mean([np.nan if value is None else value for value in values]))

    settings = members[0]["trials"]
    best = max(
        range(len(settings)),
        key=lambda number: (mean("validation_accuracy", number), -mean("validation_loss", number)),
    )
    names = members[0]["metrics"]
    return Point(
        level=level,
        setting={k: v for k, v in settings[best].items() if k not in _OUTCOMES},
        accuracies=tuple(record["trials"][best]["test_accuracy"] for record in members),
        metrics={
            name: tuple(
                np.nan if record["metrics"][name] is None else record["metrics"][name]
                for record in members
            )
            for name in names
        },
    )
