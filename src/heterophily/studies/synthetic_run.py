"""Run a study on synthetic graphs: its runs go the one road, its table is read from their records.

A unit is one model on one graph; it has a run for each setting of the search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from heterophily.data.graph import Graph
from heterophily.data.splits import Split
from heterophily.data.synthetic.features import Base, open_base, with_classes
from heterophily.evaluation.split_rules import SPLIT_RULES
from heterophily.learning.progress import Progress
from heterophily.learning.seeding import replica_seed
from heterophily.metrics.catalog import compute_metrics
from heterophily.runs.complete import complete, counted
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.local import local
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record
from heterophily.runs.run import Run
from heterophily.runs.stores.base import Store
from heterophily.studies.synthetic import METRICS, SyntheticStudy, Unit, trials
from heterophily.training.config import TrainConfig

_CONFIG_FIELDS = ("lr", "weight_decay")


def run_study(
    study: SyntheticStudy,
    store: Store,
    *,
    data_folder: str | Path | None = None,
    offline: bool = False,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Train what the store does not hold yet and return what each unit gave, as plain data.

    Ctrl-C loses the runs at work only: call again and the study goes on. Results do not depend on
    the number of workers.

    Parameters
    ----------
    study
        What to generate and train.
    store
        Where runs are looked for and kept.
    data_folder, offline
        Where the base dataset is looked for.
    workers, executor
        Where to train; by default worker processes, one for each usable core.
    progress
        Called with (runs finished, runs).
    """
    base = with_classes(
        open_base(study.base, data_folder=data_folder, offline=offline), study.classes
    )
    planner = Planner(engine=study.engine)
    plan: dict[Unit, list[Run]] = {}
    facts: dict[tuple[float, int], dict[str, Any]] = {}
    for level in study.levels:
        for number in range(study.graphs):
            units = [Unit(study, model, level, number) for model in study.models]
            graph, split = units[0].make_graph(base)
            facts[level, number] = _facts(graph)
            for unit in units:
                plan[unit] = _runs(unit, graph, split, planner)
            planner.sources.graphs[graph.content_hash] = partial(_graph, units[0], base)
    done = complete(
        (run for runs in plan.values() for run in runs),
        store=store,
        executor=executor or local(workers),
        watch=None if progress is None else counted(progress),
    ).check()
    records = done.records()
    return [
        _row(unit, facts[unit.level, unit.graph], [records[run.key] for run in plan[unit]])
        for unit in study.units()
    ]


def _graph(unit: Unit, base: Base) -> Graph:
    return unit.make_graph(base)[0]


def _facts(graph: Graph) -> dict[str, Any]:
    return {
        "edges": graph.num_edges,
        "metrics": compute_metrics(graph, names=METRICS).values,
    }


def _runs(unit: Unit, graph: Graph, split: Split, planner: Planner) -> list[Run]:
    """Return a run for each setting of the search."""
    found = []
    for trial in trials(unit.model, unit.study.search):
        options = {name: value for name, value in trial.items() if name not in _CONFIG_FIELDS}
        config = {name: trial[name] for name in _CONFIG_FIELDS}
        found += planner.runs_on(
            unit.model,
            options,
            TrainConfig(**config, max_epochs=unit.study.max_epochs),
            graph,
            [split],
            rule=SPLIT_RULES["paper-random"].stored,
            seeds=[replica_seed(unit.study.seed, unit.graph)],
            numbers=[unit.graph],
        )
    return found


def _row(unit: Unit, facts: dict[str, Any], records: Sequence[Record]) -> dict[str, Any]:
    """Return what a unit gave: its graph, and the outcome of every setting."""
    settings = trials(unit.model, unit.study.search)
    return {
        "model": unit.model,
        "level": unit.level,
        "graph": unit.graph,
        **facts,
        "keys": [record.key for record in records],
        "trials": [
            {
                **trial,
                "validation_accuracy": _number(record.outcome.validation_accuracy),
                "validation_loss": _number(record.outcome.validation_loss),
                "test_accuracy": _number(record.outcome.test_accuracy),
                "epochs": record.outcome.epochs,
            }
            for trial, record in zip(settings, records, strict=True)
        ],
    }


def _number(value: float | None) -> float:
    return math.nan if value is None else value
