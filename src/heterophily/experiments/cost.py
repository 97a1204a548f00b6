"""What a study will cost: numbers of runs, and the time they take on this machine."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from heterophily.data.atomic import write_text
from heterophily.data.catalog import DATASETS, find
from heterophily.experiments.records import versions
from heterophily.experiments.runner import cell_settings
from heterophily.experiments.store import Store
from heterophily.experiments.study import Study
from heterophily.experiments.train import train_by_name
from heterophily.experiments.tuned import tuned

REFERENCE = "acm-gcn"
"""The model that is measured; the others are scaled by the paper's own times."""

_EPOCHS = 6  # that are measured
_USUAL_EPOCHS = 250.0  # of a run of which neither we nor the paper say it
_REPEATS = 10


@dataclass(frozen=True)
class Cost:
    """Number of runs, and the seconds one worker needs for them (None: a dataset is not here)."""

    runs: int
    seconds: float | None


class Clock:
    """Seconds per run: from finished runs, else from a few epochs measured on this machine.

    Parameters
    ----------
    store
        Whose finished runs are used, if any.
    memory
        A JSON file that keeps the measurements; None: measure anew.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        memory: Path | None = None,
        data_folder: Path | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self.memory, self.data_folder, self.notice = memory, data_folder, notice
        self._measured = _read(memory)
        self._seen: dict[tuple[str, str], list[float]] = defaultdict(list)
        for record in store.records() if store is not None else ():
            place = (record.run["model"], record.run["graph"]["name"])
            self._seen[place].append(record.outcome.seconds)

    def seconds_per_run(self, model: str, dataset: str, splits: str) -> float | None:
        """Return the time of one run on one worker."""
        if seen := self._seen.get((model, dataset)):
            return mean(seen)
        epoch = self.reference_epoch(dataset)
        if epoch is None:
            return None
        return epoch * _relative_time(model, dataset, splits) * _epochs(model, dataset, splits)

    def reference_epoch(self, dataset: str) -> float | None:
        """Return seconds of one epoch of the reference model, measured once."""
        key = f"{dataset} torch {versions()['torch']}"
        if key not in self._measured:
            if find(dataset, self.data_folder)[0] == "to download":
                return None
            if self.notice is not None:
                self.notice(f"measuring {_EPOCHS} epochs of {REFERENCE} on {dataset}")
            report = train_by_name(
                REFERENCE,
                dataset,
                data_folder=self.data_folder,
                offline=True,
                repeats=1,
                config={"max_epochs": _EPOCHS},
                workers=1,
                keep_state=False,
            )
            self._measured[key] = report.ms_per_epoch / 1000
            if self.memory is not None:
                self.memory.parent.mkdir(parents=True, exist_ok=True)
                write_text(self.memory, json.dumps(self._measured))
        return self._measured[key]


def study_cost(
    study: Study,
    clock: Clock,
    *,
    protocol: str = "published",
    space: str | Path = "paper",
    repeats: int | None = None,
) -> Cost:
    """Return runs and time of a study on one worker, without opening its graphs."""
    runs, seconds = 0, 0.0
    is_known = True
    for cell in study.cells:
        settings, _ = cell_settings(study, cell, protocol, space)
        count = len(settings) * _splits(cell.dataset, cell.splits, repeats)
        if not count:
            continue
        runs += count
        each = clock.seconds_per_run(cell.row.model, cell.dataset, cell.splits)
        is_known = is_known and each is not None
        seconds += count * (each or 0.0)
    return Cost(runs, seconds if is_known else None)


def default_memory() -> Path:
    """Return the file of measurements in the user's cache."""
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("heterophily")) / "seconds-per-epoch.json"


def _splits(dataset: str, splits: str, repeats: int | None) -> int:
    if splits == "random":
        return repeats or _REPEATS
    known = DATASETS[dataset].splits.get("fixed", _REPEATS) if dataset in DATASETS else _REPEATS
    return min(repeats or known, known)


def _epochs(model: str, dataset: str, splits: str) -> float:
    """Return the usual number of epochs: the paper's seconds per run over its time per epoch."""
    row = tuned(model, dataset, splits)
    if row is None or not row.ms_per_epoch or not row.seconds_per_run:
        return _USUAL_EPOCHS
    return 1000 * row.seconds_per_run / row.ms_per_epoch


def _relative_time(model: str, dataset: str, splits: str) -> float:
    """Return the paper's time per epoch of a model over that of the reference."""
    rows = (tuned(name, dataset, splits) for name in (model, REFERENCE))
    ours, reference = (None if row is None else row.ms_per_epoch for row in rows)
    return ours / reference if ours and reference else 1.0


def _read(memory: Path | None) -> dict[str, float]:
    """Return kept measurements; a file that is not ours is measured anew."""
    try:
        content: Any = json.loads(memory.read_text("utf-8")) if memory is not None else {}
    except (OSError, ValueError):
        return {}
    pairs: Iterable[tuple[Any, Any]] = content.items() if isinstance(content, dict) else ()
    return {str(key): float(v) for key, v in pairs if isinstance(v, float) and v > 0}
