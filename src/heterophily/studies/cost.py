"""What a study will cost: numbers of runs, and the time they take on this machine."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from heterophily.data.atomic import write_text
from heterophily.data.catalog import DATASETS, find
from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.data.splits import random_splits
from heterophily.data.wording import count
from heterophily.evaluation.split_rules import SPLIT_RULES
from heterophily.models.catalog import MODELS
from heterophily.paper.printed import SAME_MODEL
from heterophily.paper.tuned import tuned
from heterophily.runs.complete import complete
from heterophily.runs.engines import engine_for
from heterophily.runs.executors.in_process import InProcess
from heterophily.runs.plan import Planner
from heterophily.runs.record import versions
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.memory import MemoryStore
from heterophily.studies.runner import LISTS, cell_settings
from heterophily.studies.study import Study
from heterophily.training.config import TrainConfig

REFERENCE = "acm-gcn"
"""Of the models that torch trains only this one is measured; the paper's times scale the others."""

_EPOCHS = (3, 30)  # that are measured: a few, and more where these are over in no time
_ENOUGH_SECONDS = 0.1
_USUAL_EPOCHS = 250.0  # of a run of which neither we nor the paper say it
_REPEATS = 10


@dataclass(frozen=True)
class Cost:
    """Number of runs, and the seconds one worker needs for them.

    None: a dataset is not here, or nobody asked.
    """

    runs: int
    seconds: float | None


class RunClock:
    """Seconds per run: from finished runs, else from a few epochs measured on this machine.

    Parameters
    ----------
    store
        Whose finished runs are used, if any.
    engine
        What will train; ``"auto"`` differs from model to model.
    memory
        A JSON file that keeps the measurements; None: measure anew.
    """

    def __init__(
        self,
        store: Store | None = None,
        *,
        engine: str = "torch",
        memory: Path | None = None,
        data_folder: Path | None = None,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self.engine, self.memory = engine, memory
        self.data_folder, self.notice = data_folder, notice
        self._measured = _read(memory)
        self._seen: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for record in store.records() if store is not None else ():
            place = (record.run["model"], record.run["graph"]["name"], record.run["engine"])
            self._seen[place].append(record.outcome.seconds)

    def seconds_per_run(self, model: str, dataset: str, splits: str) -> float | None:
        """Return the time of one run on one worker."""
        model = SAME_MODEL.get(model, model)
        engine, _ = engine_for(MODELS[model], self.engine)
        if seen := self._seen.get((model, dataset, engine)):
            return mean(seen)
        self.measure([model], dataset)
        timed = _timed(model, engine)
        epoch = self._measured.get(_key(timed, dataset, engine))
        if epoch is None:
            return None
        scale = 1.0 if timed == model else _relative_time(model, dataset, splits)
        return epoch * scale * _epochs(model, dataset, splits)

    def measure(
        self, models: Iterable[str], graph: str, opener: Callable[[], Graph] | None = None
    ) -> None:
        """Measure an epoch of each model, in one go and once for all.

        ``opener`` gives the graph; without it, one of the catalog is opened if the data is here.
        """
        wanted: dict[str, list[str]] = defaultdict(list)
        for model in dict.fromkeys(SAME_MODEL.get(model, model) for model in models):
            engine, _ = engine_for(MODELS[model], self.engine)
            timed = _timed(model, engine)
            is_known = _key(timed, graph, engine) in self._measured
            if not (is_known or (model, graph, engine) in self._seen or timed in wanted[engine]):
                wanted[engine].append(timed)
        if opener is None:
            if graph not in DATASETS or find(graph, self.data_folder)[0] == "to download":
                return
            opener = partial(open_graph, graph, data_folder=self.data_folder, offline=True)
        number = sum(map(len, wanted.values()))
        if not number:
            return
        if self.notice is not None:
            self.notice(f"measuring {count(number, 'model')} on {graph} for a few epochs")
        opened = opener()
        for engine, names in wanted.items():
            for model, seconds in seconds_per_epoch(names, opened, engine).items():
                self._measured[_key(model, graph, engine)] = seconds
        if self.memory is not None:
            self.memory.parent.mkdir(parents=True, exist_ok=True)
            write_text(self.memory, json.dumps(self._measured))


def seconds_per_epoch(models: Sequence[str], graph: Graph, engine: str) -> dict[str, float]:
    """Measure the epochs of some models on one graph, one thread."""
    splits = random_splits(graph.labels, repeats=1, seed=0)
    planner, found = Planner(engine=engine), dict.fromkeys(models, 0.0)
    rule = SPLIT_RULES["paper-random"].stored  # of such runs no scores are computed
    for epochs in _EPOCHS:
        config = TrainConfig(max_epochs=epochs, stopping="none")
        quick = [model for model in models if found[model] * _EPOCHS[0] < _ENOUGH_SECONDS]
        runs = {
            model: planner.runs_on(model, {}, config, graph, [splits[0]], rule=rule, seeds=[0])[0]
            for model in quick
        }
        with MemoryStore() as store:
            done = complete(runs.values(), store=store, executor=InProcess()).check().records()
        for model, run in runs.items():
            found[model] = done[run.key].outcome.seconds / done[run.key].outcome.epochs
    return found


def study_cost(
    study: Study,
    clock: RunClock | None,
    *,
    protocol: str = "published",
    space: str | Path = "paper",
    repeats: int | None = None,
) -> Cost:
    """Return runs and time of a study on one worker; without a clock the runs alone."""
    counts: dict[tuple[str, str, str], int] = defaultdict(int)
    for cell in study.cells:
        settings, _ = cell_settings(study, cell, protocol, space)
        if settings:
            printed_for = SPLIT_RULES[cell.splits].settings or ""
            each = _splits(cell.dataset, printed_for, repeats)
            compared = each
            if protocol == "validated" and space in LISTS and len(settings) > 1:
                compared = min(each, LISTS[str(space)][1](cell.dataset))
            runs = len(settings) * compared + each - compared
            counts[cell.row.model, cell.dataset, printed_for] += runs
    seconds = None if clock is None else run_seconds(counts, clock)
    return Cost(sum(counts.values()), seconds)


def run_seconds(counts: Mapping[tuple[str, str, str], int], clock: RunClock) -> float | None:
    """Return the time of numbers of runs by (model, dataset, splits); None if one is unknown."""
    by_dataset: dict[str, list[str]] = defaultdict(list)
    for model, dataset, _ in counts:
        by_dataset[dataset].append(model)
    for dataset, models in by_dataset.items():
        clock.measure(models, dataset)
    seconds = 0.0
    for (model, dataset, splits), runs in counts.items():
        each = clock.seconds_per_run(model, dataset, splits)
        if each is None:
            return None
        seconds += runs * each
    return seconds


def default_memory() -> Path:
    """Return the file of measurements in the user's cache."""
    from platformdirs import user_cache_dir

    return Path(user_cache_dir("heterophily")) / "seconds-per-epoch.json"


def _timed(model: str, engine: str) -> str:
    """Return the model that is measured for a model.

    The native engine runs an epoch of anything it covers in no time; models of torch take long
    to prepare (embeddings, neighbourhoods), and one of them stands for all.
    """
    return model if engine == "native" else REFERENCE


def _key(model: str, dataset: str, engine: str) -> str:
    name = "torch" if engine == "torch" else "heterophily"
    return f"{model} {dataset} {engine} {versions()[name]}"


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
