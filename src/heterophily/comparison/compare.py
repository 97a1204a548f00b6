"""Your own comparison: several models on one graph, the same splits, paired tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heterophily.data.interchange import GraphLike, as_graph
from heterophily.data.remedies import remedy
from heterophily.errors import InputError, lookup
from heterophily.evaluation.baselines import Baseline, baselines
from heterophily.evaluation.evaluate import Against, ScoreValue, against_all
from heterophily.evaluation.intervals import TestSizes
from heterophily.evaluation.per_class import class_scores
from heterophily.evaluation.scores import SCORE_TITLES, SCORES, score_for
from heterophily.evaluation.split_rules import SPLIT_RULES, rule_of
from heterophily.models.spec import ModelSpec
from heterophily.paper.presets import Recipe
from heterophily.runs.cell import CellResult
from heterophily.runs.complete import Watch, complete
from heterophily.runs.executors.base import Executor
from heterophily.runs.model import name_of, spec_with
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.memory import MemoryStore
from heterophily.search.space import Space, recipe_of
from heterophily.search.tune import TuneResult, tune
from heterophily.statistics.paired_tests import PairedTest, all_pairs


@dataclass(frozen=True, eq=False)
class Comparison:
    """Models on one graph, best mean test score first, and a paired test of each pair.

    Parameters
    ----------
    score
        The score by which models are compared and tested.
    values
        Each model's test score with its interval, by its name.
    baselines
        What costs nothing, on the same test nodes: each model against each of them, by its name.
    sizes
        Numbers of test nodes; None when neither the graph nor the records tell them.
    class_names
        Of the confusion matrices.
    searches
        The search of each model when they were tuned.
    """

    graph: str
    splits: str
    models: tuple[CellResult, ...]
    tests: tuple[PairedTest, ...]
    score: str = "accuracy"
    values: Mapping[str, ScoreValue] = field(default_factory=dict)
    baselines: Mapping[str, tuple[Against, ...]] = field(default_factory=dict)
    sizes: TestSizes | None = None
    class_names: tuple[str, ...] = ()
    searches: tuple[TuneResult, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def best(self) -> CellResult:
        """The model with the highest mean test score."""
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
        beside = self.baselines.get(self.best.row, ())
        return {
            "graph": self.graph,
            "splits": self.splits,
            "score": self.score,
            "test_nodes": None if self.sizes is None else self.sizes.nodes,
            "models": [self._model(cell) for cell in self.models],
            "baselines": [
                {
                    "name": found.name,
                    "title": found.title,
                    "test": None if found.value is None else found.value.to_dict(),
                    "splits": found.splits,
                    "absence": found.absence,
                }
                for found in beside
            ],
            "tests": [{**asdict(t), "is_significant": t.is_significant()} for t in self.tests],
            "best": self.best.row,
            "rivals": list(self.rivals),
            "searches": [search.to_dict() for search in self.searches],
            "remarks": list(self.remarks),
        }

    def _model(self, cell: CellResult) -> dict[str, Any]:
        found = cell.to_dict()
        if cell.row in self.values:
            found["score"] = self.values[cell.row].to_dict()
        if cell.confusion and self.class_names:
            classes = class_scores(np.array(cell.confusion), self.class_names)
            found["per_class"] = [each.to_dict() for each in classes]
        found["against"] = [each.to_dict() for each in self.baselines.get(cell.row, ())]
        return found


def compare(
    graph: str | GraphLike,
    models: Sequence[str | ModelSpec],
    *,
    store: Store | None = None,
    splits: str = "random",
    repeats: int | None = None,
    seed: int = 0,
    score: str = "auto",
    is_tuned: bool = False,
    space: str | Path | Space = "default",
    search: str = "grid",
    trials: int | None = None,
    minutes: float | None = None,
    executor: Executor | None = None,
    watch: Watch | None = None,
    keep: Iterable[str] = (),
    **how: Any,
) -> Comparison:
    """Train models on the same splits of a graph, and test which differences are not chance.

    Models are names of the table, or specs of your own (:func:`heterophily.pyg_model`): the key of
    their runs includes the source of their module.

    Without ``is_tuned`` every model has its default settings; with it, each is first tuned on
    validation data (``minutes`` are shared among the models), and the chosen settings are
    compared on the test sets. Without ``store`` nothing is kept. ``score`` is a name in
    :data:`~heterophily.evaluation.scores.SCORES`, or ``"auto"``: that of
    :func:`~heterophily.evaluation.scores.score_for`.
    ``keep`` names artefacts that the runs leave in the store
    (:data:`~heterophily.runs.artefacts.KINDS`). ``how`` are further arguments of
    :class:`~heterophily.runs.plan.Planner`.
    """
    graph = graph if isinstance(graph, str) else as_graph(graph)
    store = MemoryStore() if store is None else store
    lookup(SPLIT_RULES, "split rule", splits)
    if score != "auto":
        lookup(SCORES, "score", score)
    if isinstance(models, str):
        raise InputError(f"models={models!r}; pass a list of models: ['mlp-2', 'gcn']")
    named = {name_of(model): model for model in models}
    names = list(named)
    if len(names) < 2:
        raise InputError("name at least two models to compare, for example mlp-2,gcn,acm-gcn")
    for model in named.values():
        spec_with(model, {})  # an unknown one is refused before anything is trained
    planner = Planner(seed=seed, repeats=repeats, rows_by_data=True, **how)
    dataset = graph if isinstance(graph, str) else graph.name
    searches: list[TuneResult] = []
    recipes = dict.fromkeys(names, Recipe())
    for name in names if is_tuned else ():
        found = tune(
            named[name],
            graph,
            store=store,
            space=space,
            search=search,
            trials=trials,
            minutes=None if minutes is None else minutes / len(names),
            splits=splits,
            repeats=repeats,
            seed=seed,
            score=score,
            executor=executor,
            watch=watch,
            with_baselines=False,
            **how,
        )
        searches.append(found)
        recipes[name] = recipe_of(found.best.settings, named[name], dataset)
    runs = {name: planner.runs(named[name], graph, recipes[name], splits) for name in names}
    first = runs[names[0]]
    if len(first) < 2:
        raise InputError(f"a comparison needs at least two splits; {remedy('more-splits')}")
    every = [run for each in runs.values() for run in each]
    complete(
        every, store=store, executor=executor, keep=keep, watch=None if is_tuned else watch
    ).check()
    opened, drawn = planner.graph_of(first[0]), planner.splits_of_runs(first)
    return compare_records(
        {name: list(store.records([run.key for run in runs[name]])) for name in names},
        test_to_train=planner.test_to_train(first),
        score=score_for(opened.labels) if score == "auto" else score,
        beside=baselines(opened, drawn),
        sizes=TestSizes.of(opened.labels, drawn),
        class_names=opened.class_names,
        settings={search.model: dict(search.best.settings) for search in searches},
        searches=tuple(searches),
        remarks=tuple(planner.remarks),
    )


def compare_records(
    records: Mapping[str, Sequence[Record]],
    *,
    test_to_train: float,
    score: str = "accuracy",
    beside: Sequence[Baseline] = (),
    sizes: TestSizes | None = None,
    class_names: Sequence[str] = (),
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    searches: tuple[TuneResult, ...] = (),
    remarks: tuple[str, ...] = (),
) -> Comparison:
    """Compare models by the records of equal splits.

    When a record lacks the score, or it is undefined on a test set, accuracy takes its place.
    With fewer than two models or two splits there are no paired tests.
    """
    run = next(iter(records.values()))[0].run
    name, stored = run["graph"]["name"], run["split"]["rule"]
    cells = [
        CellResult.of(
            found,
            row=model,
            dataset=name,
            splits=stored,
            wanted=len(found),
            settings=dict((settings or {}).get(model, {})),
        )
        for model, found in records.items()
    ]
    used = score if all(_is_known(cell, score) for cell in cells) else "accuracy"
    if used != score:
        remarks += (
            f"models are compared by accuracy: {SCORE_TITLES[score]} is undefined on a test set, "
            f"or was not recorded with these runs; {remedy('random-splits')}, which record it",
        )
    sizes = sizes or _sizes(cells, test_to_train)
    values = {cell.row: cell.value_by(used, sizes) for cell in cells}
    known = {row: found for row, found in values.items() if found.mean is not None}
    is_paired = len(known) > 1 and min(len(found.values) for found in known.values()) > 1
    tested = {row: found.values for row, found in known.items()}
    return Comparison(
        graph=name,
        splits=rule_of(stored),
        models=tuple(sorted(cells, key=lambda cell: -(values[cell.row].mean or 0.0))),
        tests=all_pairs(tested, test_to_train=test_to_train) if is_paired else (),
        score=used,
        values=values,
        baselines=(
            {}
            if sizes is None
            else {row: against_all(beside, used, found, sizes) for row, found in known.items()}
        ),
        sizes=sizes,
        class_names=tuple(class_names),
        searches=searches,
        remarks=(
            *remarks,
            *(f"{c.row}: a run diverged, no test" for c in cells if values[c.row].mean is None),
        ),
    )


def _is_known(cell: CellResult, score: str) -> bool:
    """Whether each run that did not diverge has the score."""
    found = cell.test_by(score)
    return found is not None and not any(
        value is None and accuracy is not None
        for value, accuracy in zip(found, cell.test, strict=True)
    )


def _sizes(cells: Sequence[CellResult], test_to_train: float) -> TestSizes | None:
    """Count test nodes by a confusion matrix: those of one split, on average."""
    confusion = next((cell.confusion for cell in cells if cell.confusion), None)
    if confusion is None:
        return None
    splits = len(cells[0].test)
    classes = np.array(confusion, np.float64).sum(axis=1) / splits
    return TestSizes(classes, splits, round(float(classes.sum())), test_to_train)
