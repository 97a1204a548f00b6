"""Run a study on synthetic graphs: units over worker processes, each stored when it is finished."""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterophily.data.synthetic.features import Base, open_base, with_classes
from heterophily.errors import InputError
from heterophily.experiments.synthetic import METRICS, SyntheticStudy, Unit, base_digest
from heterophily.experiments.synthetic_records import append_record, read_records
from heterophily.metrics.catalog import compute_metrics
from heterophily.runs.split_rules import SPLIT_RULES

Record = dict[str, Any]
Progress = Callable[[int, int], None]
_CONFIG_FIELDS = ("lr", "weight_decay")


def run_study(
    study: SyntheticStudy,
    store: Path,
    *,
    data_folder: str | Path | None = None,
    offline: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[Record]:
    """Train what the store does not hold yet and return the records of the whole study.

    A unit is one model on one graph; its record is one line of the JSON-lines file ``store``,
    written as soon as the unit is finished. Ctrl-C loses the units at work only: call again and
    the study goes on. Results do not depend on the number of workers.

    Parameters
    ----------
    study
        What to generate and train.
    store
        File of records; made when missing. Records of other studies in it are left alone.
    data_folder, offline
        Where the base dataset is looked for.
    workers
        Worker processes; default: one for each usable core.
    progress
        Called with (units finished, units).
    """
    base = with_classes(
        open_base(study.base, data_folder=data_folder, offline=offline), study.classes
    )
    digest = base_digest(base)
    wanted = {unit.key(digest): unit for unit in study.units()}
    stored = read_records(store)
    missing = sorted(wanted.keys() - stored.keys())  # keys are random: a fair mix of slow and fast
    done = len(wanted) - len(missing)
    if progress is not None:
        progress(done, len(wanted))

    def advance(finished: int, _: int) -> None:
        if progress is not None:
            progress(done + finished, len(wanted))

    _run([(key, wanted[key]) for key in missing], UnitJob(base, digest, store), workers, advance)
    stored = read_records(store)
    return [stored[key] for key in wanted]


@dataclass(frozen=True, eq=False)
class UnitJob:
    """Trains one unit and stores its record; sent to each worker process once."""

    base: Base
    digest: str
    store: Path

    def __call__(self, task: tuple[str, Unit]) -> str:
        """Train, store, and return the key."""
        key, unit = task
        record = train_unit(unit, self.base)
        append_record(self.store, {"key": key, **unit.describe(self.digest), **record})
        return key


def train_unit(unit: Unit, base: Base) -> Record:
    """Generate the graph of a unit, measure it, and train every trial of the search on it."""
    from heterophily.runs.complete import complete
    from heterophily.runs.executors.in_process import InProcess
    from heterophily.runs.plan import Planner
    from heterophily.runs.stores.memory import MemoryStore
    from heterophily.training.config import TrainConfig
    from heterophily.training.seeding import replica_seed

    start = time.perf_counter()
    graph, split = unit.make_graph(base)
    settings = unit.describe("")["trials"]
    planner, runs = Planner(engine=unit.study.engine), []
    for trial in settings:
        options = {name: value for name, value in trial.items() if name not in _CONFIG_FIELDS}
        config = {name: trial[name] for name in _CONFIG_FIELDS}
        runs += planner.runs_on(
            unit.model,
            options,
            TrainConfig(**config, max_epochs=unit.study.max_epochs),
            graph,
            [split],
            rule=SPLIT_RULES["paper-random"].stored,
            seeds=[replica_seed(unit.study.seed, unit.graph)],
            numbers=[unit.graph],
        )
    with MemoryStore() as store:
        records = complete(runs, store=store, executor=InProcess()).check().records()
    found = [records[run.key].outcome for run in runs]
    outcomes = [
        {
            **trial,
            "validation_accuracy": _rounded(outcome.validation_accuracy),
            "validation_loss": _rounded(outcome.validation_loss),
            "test_accuracy": _rounded(outcome.test_accuracy),
            "epochs": outcome.epochs,
        }
        for trial, outcome in zip(settings, found, strict=True)
    ]
    values = compute_metrics(graph, names=METRICS).values
    return {
        "trained_by": runs[0].engine,
        "edges": graph.num_edges,
        "metrics": {
            name: value if value is None else round(value, 6) for name, value in values.items()
        },
        "trials": outcomes,
        "seconds": round(time.perf_counter() - start, 2),
    }


def _rounded(value: float | None) -> float:
    return math.nan if value is None else round(value, 6)


def _run(
    tasks: Sequence[tuple[str, Unit]], job: UnitJob, workers: int | None, progress: Progress
) -> None:
    from heterophily.training.replicas import usable_cores
    from heterophily.training.workers import WorkerPool

    if workers is not None and workers < 1:
        raise InputError(f"workers={workers}; use at least one")
    count = min(workers or usable_cores(), len(tasks))
    if count <= 1:
        for number, task in enumerate(tasks, start=1):
            job(task)
            progress(number, len(tasks))
        return
    payload = pickle.dumps(job, protocol=pickle.HIGHEST_PROTOCOL)
    pool = WorkerPool(payload, count)
    outcome = pool.run([pickle.dumps(task) for task in tasks], progress=progress)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failures:
        raise InputError(
            f"{next(iter(outcome.failures.values()))} ({len(outcome.results)} of {len(tasks)} "
            "units are stored; run again for the others)"
        )
