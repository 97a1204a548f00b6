"""From a study to its table: plan the runs of each cell, complete them, sum them up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterophily.errors import InputError, UnknownNameError, lookup
from heterophily.experiments.paper import SAME_MODEL
from heterophily.experiments.presets import PRESETS, Recipe
from heterophily.experiments.programs import candidates, compared_splits
from heterophily.experiments.space import best_by_validation, check_name, recipe_of, space_for
from heterophily.experiments.study import PROTOCOLS, Cell, Study
from heterophily.experiments.table import CellResult, TableResult
from heterophily.experiments.tuned import optimal
from heterophily.models.catalog import MODELS
from heterophily.runs.complete import Watch, complete
from heterophily.runs.executors.base import Executor
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record
from heterophily.runs.run import Run
from heterophily.runs.split_rules import SPLIT_RULES
from heterophily.runs.stores.base import Store

PROGRAMS = "programs"
"""The space that is a list of whole settings for each cell."""


@dataclass(frozen=True, eq=False)
class CellPlan:
    """The settings tried in a cell (one under the published protocol), each with its runs.

    ``compared`` is the number of splits on which settings are compared, if not on all: then the
    chosen setting alone gets the other splits.
    """

    cell: Cell
    settings: tuple[Mapping[str, Any], ...] = ()
    runs: tuple[tuple[Run, ...], ...] = ()
    remark: str = ""
    test_to_train: float = 1 / 3
    compared: int | None = None

    @property
    def first(self) -> tuple[Run, ...]:
        """The runs that are needed in any case: those that decide which setting is chosen."""
        return tuple(run for runs in self.runs for run in runs[: self.compared])

    def rest(self, store: Store) -> tuple[Run, ...]:
        """Return the other runs of the chosen setting, once it is known."""
        keys = [run.key for run in self.first]
        found = {record.key: record for record in store.records(keys)}
        chosen = self._chosen(found)
        return () if chosen is None or self.compared is None else self.runs[chosen][self.compared :]

    def _chosen(self, found: Mapping[str, Record]) -> int | None:
        """Return the number of the chosen setting; None while runs that decide it lack."""
        if len(self.runs) == 1:
            return 0
        if not self.runs or any(run.key not in found for run in self.first):
            return None
        return best_by_validation(
            [
                [found[run.key].outcome.validation_accuracy for run in runs[: self.compared]]
                for runs in self.runs
            ]
        )

    def _found(self, store: Store) -> dict[str, Record]:
        """Return the finished runs by today's key, all of the same numerics.

        Those of today; or, where earlier numerics have more of them, the newest that has the most.
        """
        runs = [run for runs in self.runs for run in runs]
        known = [{run.key: run.key for run in runs}]
        for age in range(max((len(run.earlier_keys) for run in runs), default=0)):
            older = [run for run in runs if age < len(run.earlier_keys)]
            known.append({run.earlier_keys[age]: run.key for run in older})
        found = [{keys[r.key]: r for r in store.records(list(keys))} for keys in known]
        return max(found, key=len)

    def result(self, study: Study, store: Store) -> CellResult:
        """Choose the setting on validation data and sum up its runs."""
        row, dataset = self.cell.row.name, self.cell.dataset
        facts: dict[str, Any] = {
            "row": row,
            "dataset": dataset,
            "splits": SPLIT_RULES[self.cell.splits].stored,
            "wanted": len(self.runs[0]) if self.runs else 0,
            "test_to_train": self.test_to_train,
            "published": study.printed(row, dataset),
            "published_ms": study.printed_ms(row, dataset),
        }
        found = self._found(store)
        chosen = self._chosen(found)
        if chosen is None:
            needed = {run.key for run in self.first}
            done = len(needed & set(found))
            searched = f"{done} of {len(needed)} runs of the search are finished"
            return CellResult(**facts, remark=self.remark or searched)
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
        """Every run that is needed in any case, once: cells share those with the same key."""
        return list({run.key: run for plan in self.cells for run in plan.first}.values())

    def stages(self, store: Store) -> Iterator[list[tuple[CellPlan, tuple[Run, ...]]]]:
        """Yield what is to be trained; what the second stage holds follows from the first."""
        yield [(cell, cell.first) for cell in self.cells]
        yield [(cell, found) for cell in self.cells if (found := cell.rest(store))]

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
    check_name(space)
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
    if protocol == "validated" and space == PROGRAMS:
        known = [candidate.settings for candidate in candidates(row.model, cell.dataset)]
        lacking = f"no settings of a program are known for {row.name} on {cell.dataset}"
        return list(known), "" if known else f"{lacking}; use --space paper or default"
    if protocol == "validated":
        try:
            return list(space_for(space, row.model, cell.dataset)), ""
        except UnknownNameError:
            return [], f"the paper gives no search range for {row.name}; use --space default"
    printed_for = SPLIT_RULES[cell.splits].settings
    assert printed_for is not None
    found = optimal(row.model, cell.dataset, printed_for)
    if found is not None:
        return [found], ""
    if row.settings_of is not None:
        found = optimal(row.settings_of, cell.dataset, printed_for)
        if found is not None:
            used = f"the paper prints no optimum for {row.name}: that of {row.settings_of} is used"
            return [found], used
    printed = study.table
    word = printed.absent.get((row.name, cell.dataset)) if printed else None
    said = f" ({word} in its table)" if word else ""
    return [], (
        f"the paper prints no optimum for {row.name} on {cell.dataset} with {printed_for} "
        f"splits{said}; use --protocol validated"
    )


def _plan_cell(
    study: Study, cell: Cell, protocol: str, space: str | Path, planner: Planner
) -> CellPlan:
    settings, remark = cell_settings(study, cell, protocol, space)
    row, runs = cell.row, []
    has_own = protocol == "validated" and space == PROGRAMS  # whole settings: no preset on top
    rules = () if has_own else PRESETS[study.preset]
    for setting in settings:
        recipe = recipe_of(setting, SAME_MODEL.get(row.model, row.model), cell.dataset, rules)
        changed = Recipe(recipe.graph, {**recipe.options, **row.options}, recipe.config)
        runs.append(tuple(planner.runs(row.model, cell.dataset, changed, cell.splits)))
    ratio = planner.test_to_train(runs[0]) if runs else 1 / 3
    compared = compared_splits(cell.dataset) if has_own and len(runs) > 1 else None
    return CellPlan(cell, tuple(settings), tuple(runs), remark, ratio, compared)


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
    failures: dict[str, str] = {}
    for stage in plan.stages(store):
        runs = [run for _, needed in stage for run in needed]
        failures |= complete(runs, store=store, executor=executor, watch=watch).failures
    result = plan.result(store)
    remarks = (*result.remarks, *dict.fromkeys(failures.values()))
    return TableResult(**{**result.__dict__, "remarks": remarks})
