"""From a study to its table: plan the runs of each cell, complete them, sum them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterophily.errors import InputError, UnknownNameError, lookup
from heterophily.experiments.completion import Watch, complete
from heterophily.experiments.executor import Executor
from heterophily.experiments.paper import SAME_MODEL
from heterophily.experiments.planner import Planner
from heterophily.experiments.presets import PRESETS, Recipe
from heterophily.experiments.records import Run
from heterophily.experiments.space import best_by_validation, recipe_of, space_for
from heterophily.experiments.store import Store
from heterophily.experiments.study import PROTOCOLS, Cell, Study
from heterophily.experiments.table import CellResult, TableResult
from heterophily.experiments.tuned import optimal
from heterophily.models.catalog import MODELS


@dataclass(frozen=True, eq=False)
class CellPlan:
    """The settings tried in a cell (one under the published protocol), each with its runs."""

    cell: Cell
    settings: tuple[Mapping[str, Any], ...] = ()
    runs: tuple[tuple[Run, ...], ...] = ()
    remark: str = ""
    test_to_train: float = 1 / 3

    def result(self, study: Study, store: Store) -> CellResult:
        """Choose the setting on validation data and sum up its runs."""
        row, dataset = self.cell.row.name, self.cell.dataset
        facts: dict[str, Any] = {
            "row": row,
            "dataset": dataset,
            "splits": self.cell.splits,
            "wanted": len(self.runs[0]) if self.runs else 0,
            "test_to_train": self.test_to_train,
            "published": study.printed(row, dataset),
            "published_ms": study.printed_ms(row, dataset),
        }
        keys = [run.key for runs in self.runs for run in runs]
        found = {record.key: record for record in store.records(keys)}
        is_complete = len(found) == len(set(keys))
        if not self.runs or (len(self.runs) > 1 and not is_complete):
            searched = f"{len(found)} of {len(set(keys))} runs of the search are finished"
            return CellResult(**facts, remark=self.remark or searched)
        chosen = 0
        if len(self.runs) > 1:
            scores = [
                [found[run.key].outcome.validation_accuracy for run in runs] for runs in self.runs
            ]
            chosen = best_by_validation(scores)
        records = [found[run.key] for run in self.runs[chosen] if run.key in found]
        return CellResult.of(
            records, **facts, settings=dict(self.settings[chosen]), remark=self.remark
        )


@dataclass(frozen=True, eq=False)
class StudyPlan:
    """All runs of a study under one protocol."""

    study: Study
    protocol: str
    cells: tuple[CellPlan, ...]
    planner: Planner

    @property
    def runs(self) -> list[Run]:
        """Every run once: cells, and tables, share those with the same key."""
        every = (run for plan in self.cells for runs in plan.runs for run in runs)
        return list({run.key: run for run in every}.values())

    def result(self, store: Store) -> TableResult:
        """Return the table as far as the store has it."""
        cells = tuple(plan.result(self.study, store) for plan in self.cells)
        return TableResult(
            study=self.study.name,
            title=self.study.title,
            place=self.study.place,
            protocol=self.protocol,
            rows=tuple(row.name for row in self.study.rows),
            datasets=self.study.datasets,
            cells=cells,
            remarks=_remarks(self),
            has_ranks=self.study.table is not None and bool(self.study.table.ranks),
        )


def plan_study(
    study: Study, *, protocol: str = "published", space: str | Path = "paper", **how: Any
) -> StudyPlan:
    """Return the runs of a study; ``how`` are the arguments of :class:`Planner`.

    A cell that cannot be run (the model is not in this package, the paper prints no optimum)
    has no runs and a remark; a study without any runnable cell is refused with its first remark.
    """
    lookup(PROTOCOLS, "protocol", protocol)
    if study.command is not None:
        raise InputError(f"{study.name} is made by another command: {study.command}")
    planner = Planner(**how)
    cells = tuple(_plan_cell(study, cell, protocol, space, planner) for cell in study.cells)
    if not any(plan.runs for plan in cells):
        raise InputError(cells[0].remark)
    return StudyPlan(study, protocol, cells, planner)


def cell_settings(
    study: Study, cell: Cell, protocol: str, space: str | Path = "paper"
) -> tuple[list[Mapping[str, Any]], str]:
    """Return the settings that are tried in a cell and a remark; none if it cannot be run."""
    row = cell.row
    try:
        MODELS[row.model]
    except UnknownNameError:
        return [], f"{row.name} is not a model of this package"
    except InputError as error:  # refused with a reason
        return [], str(error)
    if protocol == "validated":
        try:
            return list(space_for(space, row.model, cell.dataset)), ""
        except UnknownNameError:
            return [], f"the paper gives no search range for {row.name}; use --space default"
    found = optimal(row.model, cell.dataset, cell.splits)
    if found is not None:
        return [found], ""
    if row.settings_of is not None:
        found = optimal(row.settings_of, cell.dataset, cell.splits)
        if found is not None:
            used = f"the paper prints no optimum for {row.name}: that of {row.settings_of} is used"
            return [found], used
    printed = study.table
    word = printed.absent.get((row.name, cell.dataset)) if printed else None
    said = f" ({word} in its table)" if word else ""
    return [], (
        f"the paper prints no optimum for {row.name} on {cell.dataset} with {cell.splits} "
        f"splits{said}; use --protocol validated"
    )


def _plan_cell(
    study: Study, cell: Cell, protocol: str, space: str | Path, planner: Planner
) -> CellPlan:
    settings, remark = cell_settings(study, cell, protocol, space)
    row, rules, runs = cell.row, PRESETS[study.preset], []
    for setting in settings:
        recipe = recipe_of(setting, SAME_MODEL.get(row.model, row.model), cell.dataset, rules)
        changed = Recipe(recipe.graph, {**recipe.options, **row.options}, recipe.config)
        runs.append(tuple(planner.runs(row.model, cell.dataset, changed, cell.splits)))
    ratio = planner.test_to_train(runs[0]) if runs else 1 / 3
    return CellPlan(cell, tuple(settings), tuple(runs), remark, ratio)


def _remarks(plan: StudyPlan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(cell.remark for cell in plan.cells if cell.remark))


def run_study(
    study: Study,
    store: Store,
    *,
    protocol: str = "published",
    space: str | Path = "paper",
    executor: Executor | None = None,
    watch: Watch | None = None,
    **how: Any,
) -> TableResult:
    """Train what a study lacks and return its table; ``how`` are arguments of :class:`Planner`."""
    plan = plan_study(study, protocol=protocol, space=space, **how)
    job = plan.planner.job(store)
    failures = complete(plan.runs, job, store, executor=executor, watch=watch)
    result = plan.result(store)
    remarks = (*result.remarks, *dict.fromkeys(failures.values()))
    return TableResult(**{**result.__dict__, "remarks": remarks})
