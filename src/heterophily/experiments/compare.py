"""Your own comparison: several models on one graph, the same splits, paired tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heterophily.data.graph import Graph
from heterophily.errors import InputError, lookup
from heterophily.experiments.completion import Watch, complete
from heterophily.experiments.executor import Executor
from heterophily.experiments.planner import Planner
from heterophily.experiments.presets import Recipe
from heterophily.experiments.records import Run
from heterophily.experiments.space import recipe_of
from heterophily.experiments.split_rules import SPLIT_RULES
from heterophily.experiments.statistics import PairedTest, all_pairs
from heterophily.experiments.store import Store
from heterophily.experiments.table import CellResult
from heterophily.experiments.tune import TuneResult, tune
from heterophily.models.catalog import MODELS


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models on one graph, best mean test accuracy first, and a paired test of each pair.

    ``searches`` holds the search of each model when they were tuned.
    """

    graph: str
    splits: str
    models: tuple[CellResult, ...]
    tests: tuple[PairedTest, ...]
    searches: tuple[TuneResult, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def best(self) -> CellResult:
        """The model with the highest mean test accuracy."""
        return self.models[0]

    @property
    def rivals(self) -> tuple[str, ...]:
        """The models that the paired tests do not tell apart from the best one."""
        same = []
        for test in self.tests:
            if self.best.row in (test.first, test.second) and not test.is_significant():
                same.append(test.second if test.first == self.best.row else test.first)
        return tuple(cell.row for cell in self.models if cell.row in same)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data: what a report is made of."""
        return {
            "graph": self.graph,
            "splits": self.splits,
            "models": [cell.to_dict() for cell in self.models],
            "tests": [{**asdict(t), "is_significant": t.is_significant()} for t in self.tests],
            "best": self.best.row,
            "rivals": list(self.rivals),
            "searches": [search.to_dict() for search in self.searches],
            "remarks": list(self.remarks),
        }


def compare(
    graph: str | Graph,
    models: Sequence[str],
    *,
    store: Store,
    splits: str = "random",
    repeats: int | None = None,
    seed: int = 0,
    is_tuned: bool = False,
    space: str | Path = "default",
    search: str = "grid",
    trials: int | None = None,
    minutes: float | None = None,
    executor: Executor | None = None,
    watch: Watch | None = None,
    **how: Any,
) -> Comparison:
    """Train models on the same splits of a graph and test every pair.

    Without ``is_tuned`` every model has its default settings; with it, each is first tuned on
    validation data (``minutes`` are shared among the models), and the chosen settings are
    compared on the test sets. ``how`` are further arguments of
    :class:`~heterophily.experiments.planner.Planner`.
    """
    lookup(SPLIT_RULES, "split rule", splits)
    names = list(dict.fromkeys(models))
    if len(names) < 2:
        raise InputError("name at least two models to compare, for example mlp-2,gcn,acm-gcn")
    for name in names:
        MODELS[name]  # refused before anything is trained
    planner = Planner(seed=seed, repeats=repeats, **how)
    dataset = graph if isinstance(graph, str) else graph.name
    searches: list[TuneResult] = []
    recipes = dict.fromkeys(names, Recipe())
    for name in names if is_tuned else ():
        found = tune(
            name,
            graph,
            store=store,
            space=space,
            search=search,
            trials=trials,
            minutes=None if minutes is None else minutes / len(names),
            splits=splits,
            repeats=repeats,
            seed=seed,
            executor=executor,
            watch=watch,
            **how,
        )
        searches.append(found)
        recipes[name] = recipe_of(found.best.settings, name, dataset)
    runs = {name: planner.runs(name, graph, recipes[name], splits) for name in names}
    if len(runs[names[0]]) < 2:
        raise InputError("a comparison needs at least two splits; raise --repeats")
    every = [run for each in runs.values() for run in each]
    failures = complete(
        every, planner.job(store), store, executor=executor, watch=None if is_tuned else watch
    )
    if failures:
        raise InputError(next(iter(failures.values())))
    settings = {search.model: dict(search.best.settings) for search in searches}
    cells = [_cell(name, runs[name], store, splits, settings.get(name, {})) for name in names]
    return Comparison(
        graph=runs[names[0]][0].graph.name,
        splits=splits,
        models=tuple(sorted(cells, key=lambda cell: -(cell.mean or 0.0))),
        tests=_tests(cells, planner, runs[names[0]]),
        searches=tuple(searches),
        remarks=(
            *planner.remarks,
            *(f"{c.row}: a run diverged, no test" for c in cells if c.mean is None),
        ),
    )


def _cell(
    name: str, runs: Sequence[Run], store: Store, splits: str, settings: dict[str, Any]
) -> CellResult:
    records = list(store.records([run.key for run in runs]))
    return CellResult.of(
        records,
        row=name,
        dataset=runs[0].graph.name,
        splits=SPLIT_RULES[splits].stored,
        wanted=len(runs),
        settings=settings,
    )


def _tests(
    cells: Sequence[CellResult], planner: Planner, runs: Sequence[Run]
) -> tuple[PairedTest, ...]:
    values = {cell.row: [v for v in cell.test if v is not None] for cell in cells if cell.mean}
    if len(values) < 2:
        return ()
    return all_pairs(values, test_to_train=planner.test_to_train(runs))
