"""From a study to its table: plan the runs of each cell, complete them, sum them up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heterophily.errors import InputError, UnknownNameError, lookup
from heterophily.evaluation.split_rules import SPLIT_RULES
from heterophily.models.catalog import MODELS
from heterophily.paper.field_settings import field_settings, field_splits
from heterophily.paper.presets import PRESETS, Recipe
from heterophily.paper.printed import SAME_MODEL
from heterophily.paper.programs import candidates, compared_splits
from heterophily.paper.published_tables import FROM_MEMORY
from heterophily.paper.tuned import optimal
from heterophily.runs.cell import BestByTest, CellResult
from heterophily.runs.complete import Watch, complete
from heterophily.runs.executors.base import Executor
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record
from heterophily.runs.run import Run
from heterophily.runs.stores.base import Store, check_is_store
from heterophily.search.space import best_by_validation, check_name, recipe_of, space_for
from heterophily.studies.remarks import CellRemark
from heterophily.studies.study import PROTOCOLS, Cell, Study
from heterophily.studies.table import TableResult

LISTS: Mapping[str, tuple[Callable[[str, str], list[Any]], Callable[[str], int]]] = {
    "programs": (
        lambda model, dataset: [c.settings for c in candidates(model, dataset)],
        lambda dataset: compared_splits(dataset),
    ),
    "field": (field_settings, field_splits),
}
"""Spaces that are lists of whole settings: those of a cell, and on how many splits of a dataset
they are compared."""

NO_SETTINGS = {"programs": "no-program", "field": "not-in-field"}
"""Kind of the remark on a cell for which such a space has no settings."""


@dataclass(frozen=True, eq=False)
class CellPlan:
    """The settings tried in a cell (one under the published protocol), each with its runs.

    ``compared`` is the number of splits on which settings are compared, if not on all: then the
    chosen setting alone gets the other splits.
    """

    cell: Cell
    settings: tuple[Mapping[str, Any], ...] = ()
    runs: tuple[tuple[Run, ...], ...] = ()
    remark: CellRemark | None = None
    test_to_train: float = 1 / 3
    compared: int | None = None
    score: str = "accuracy"

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
                [
                    found[run.key].outcome.value("validation", self.score)
                    for run in runs[: self.compared]
                ]
                for runs in self.runs
            ]
        )

    def _found(self, store: Store) -> dict[str, Record]:
        """Return the finished runs by today's key, all of the same engine and numerics.

        Those of today; or, where earlier numerics or torch have more of them, the newest that has
        the most.
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
            return CellResult(**facts, score=self.score, remark=str(self.remark or searched))
        records = [found[run.key] for run in self.runs[chosen] if run.key in found]
        return CellResult.of(
            records,
            **facts,
            score=self.score,
            settings=dict(self.settings[chosen]),
            remark=str(self.remark or ""),
            by_test=self._by_test(found),
        )

    def _by_test(self, found: Mapping[str, Record]) -> BestByTest | None:
        """Return the best setting by test score; None unless each of several has all its runs."""
        runs = [run for runs in self.runs for run in runs]
        if len(self.runs) < 2 or any(run.key not in found for run in runs):
            return None
        tests = [
            [found[run.key].outcome.value("test", self.score) for run in runs] for runs in self.runs
        ]
        return BestByTest.among(self.settings, tests)


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
        raise InputError(str(cells[0].remark))
    return StudyPlan(study, protocol, cells, planner)


def cell_settings(
    study: Study, cell: Cell, protocol: str, space: str | Path = "paper"
) -> tuple[list[Mapping[str, Any]], CellRemark | None]:
    """Return the settings that are tried in a cell and a remark; none if it cannot be run."""
    row = cell.row
    try:
        MODELS[row.model]
    except UnknownNameError:
        return [], CellRemark("no-model", row.name)
    except InputError as error:  # refused with a reason
        return [], CellRemark("refused", row.name, detail=str(error))
    if protocol == "validated" and space in LISTS:
        known = LISTS[str(space)][0](row.model, cell.dataset)
        lacking = None if known else CellRemark(NO_SETTINGS[str(space)], row.name, cell.dataset)
        return list(known), lacking
    if protocol == "validated":
        try:
            return list(space_for(space, row.model, cell.dataset)), None
        except UnknownNameError:
            return [], CellRemark("no-range", row.name)
    printed_for = SPLIT_RULES[cell.splits].settings
    assert printed_for is not None
    found = optimal(row.model, cell.dataset, printed_for)
    if found is not None:
        return [found], None
    if row.settings_of is not None:
        found = optimal(row.settings_of, cell.dataset, printed_for)
        if found is not None:
            return [found], CellRemark("borrowed", row.name, detail=row.settings_of)
    printed = study.table
    word = printed.absent.get((row.name, cell.dataset)) if printed else None
    said = f" ({word} in its table)" if word else ""
    where = f"{printed_for} splits{said}"
    return [], CellRemark("no-optimum", row.name, cell.dataset, where)


def _plan_cell(
    study: Study, cell: Cell, protocol: str, space: str | Path, planner: Planner
) -> CellPlan:
    settings, remark = cell_settings(study, cell, protocol, space)
    row, runs = cell.row, []
    has_own = protocol == "validated" and space in LISTS  # whole settings: no preset on top
    rules = () if has_own else PRESETS[study.preset]
    for setting in settings:
        recipe = recipe_of(setting, SAME_MODEL.get(row.model, row.model), cell.dataset, rules)
        changed = Recipe(recipe.graph, {**recipe.options, **row.options}, recipe.config)
        runs.append(tuple(planner.runs(row.model, cell.dataset, changed, cell.splits)))
    ratio = planner.test_to_train(runs[0]) if runs else 1 / 3
    compared = LISTS[str(space)][1](cell.dataset) if has_own and len(runs) > 1 else None
    score = study.scores.get(cell.dataset, "accuracy")
    return CellPlan(cell, tuple(settings), tuple(runs), remark, ratio, compared, score)


def _remarks(plan: StudyPlan) -> tuple[CellRemark, ...]:
    told = [cell.remark for cell in plan.cells if cell.remark]
    told += [
        CellRemark("score", "", dataset, score)
        for dataset, score in plan.study.scores.items()
        if dataset in plan.study.datasets
    ]
    quoted = [
        f"{row.name} on {dataset}"
        for row in plan.study.rows
        for dataset in plan.study.datasets
        if (found := plan.study.printed(row.name, dataset)) and found.source.endswith(FROM_MEMORY)
    ]
    if quoted:
        told.append(CellRemark("quoted", "", detail="; ".join(quoted)))
    return tuple(dict.fromkeys(told))


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
    """Train what a study lacks and return its table.

    ``how`` are the arguments of :class:`Planner`: seed, repeats, engine, data folder.
    """
    check_is_store(store)
    plan = plan_study(study, protocol=protocol, space=space, **how)
    failures: dict[str, str] = {}
    for stage in plan.stages(store):
        runs = [run for _, needed in stage for run in needed]
        failures |= complete(runs, store=store, executor=executor, watch=watch).failures
    result = plan.result(store)
    remarks = (*result.remarks, *dict.fromkeys(failures.values()))
    return TableResult(**{**result.__dict__, "remarks": remarks})
