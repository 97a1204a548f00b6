"""Records of synthetic studies: JSON lines on disk, and the curves that they add up to."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heterophily.errors import InputError

Record = Mapping[str, Any]
_OUTCOMES = ("validation_accuracy", "validation_loss", "test_accuracy", "epochs")


def append_record(store: Path, record: Record) -> None:
    """Add one record as one line, in a single write: writers in other processes do not mix."""
    line = json.dumps(record, separators=(",", ":"), ensure_ascii=False) + "\n"
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        handle = os.open(store, flags, 0o666)
    except OSError as error:
        raise InputError(f"cannot write {store}: {error.strerror}") from error
    try:
        os.write(handle, line.encode("utf-8"))
    finally:
        os.close(handle)


def read_records(store: Path) -> dict[str, dict[str, Any]]:
    """Return the records of a file by key; a last line without its end (a crash) is left out."""
    if not store.exists():
        return {}
    records = {}
    for number, line in enumerate(store.read_text("utf-8").splitlines(keepends=True), start=1):
        if not line.endswith("\n"):
            break
        try:
            record = json.loads(line)
            records[str(record["key"])] = record
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{store}, line {number} is not a record of a synthetic study; remove the line, or "
                "name another file"
            ) from error
    return records


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


def curves(records: Iterable[Record]) -> dict[str, list[Point]]:
    """Return, for each model, its points in the order of the levels.

    At each level the setting with the highest mean *validation* accuracy over the graphs is
    chosen (ties: lower validation loss, then the first); its test accuracies are reported. The
    released program chose by test accuracy.
    """
    groups: dict[tuple[str, float], list[Record]] = defaultdict(list)
    for record in records:
        groups[record["model"], record["level"]].append(record)
    found: dict[str, list[Point]] = defaultdict(list)
    for (model, level), members in sorted(groups.items(), key=lambda item: item[0][1]):
        found[model].append(_point(level, sorted(members, key=lambda record: record["graph"])))
    return {model: found[model] for model in dict.fromkeys(model for model, _ in groups)}


def _point(level: float, members: list[Record]) -> Point:
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
