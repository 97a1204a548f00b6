"""Find settings for a model on a graph: runs in the store, chosen on validation data only."""

from __future__ import annotations

import contextlib
import json
import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heterophily.data.graph import Graph
from heterophily.data.interchange import GraphLike, as_graph
from heterophily.errors import InputError, lookup
from heterophily.evaluation.baselines import baselines
from heterophily.evaluation.evaluate import Against, ScoreValue, against_all
from heterophily.evaluation.intervals import TestSizes
from heterophily.evaluation.scores import SCORE_TITLES, SCORES, score_for
from heterophily.evaluation.split_rules import default_rule
from heterophily.models.spec import ModelSpec
from heterophily.paper.presets import PRESETS
from heterophily.runs.cell import CellResult
from heterophily.runs.complete import Watch, complete
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.local import local
from heterophily.runs.model import name_of
from heterophily.runs.plan import Planner
from heterophily.runs.record import Outcome
from heterophily.runs.run import Run
from heterophily.runs.stores.base import Store
from heterophily.search.proposer import Proposer
from heterophily.search.space import Settings, Space, best_by_validation, recipe_of, space_for

SEARCHES = {
    "grid": "every setting of the space",
    "adaptive": "settings proposed by Optuna from those tried before; hopeless ones end early",
}
FIRST_SPLITS = 3
"""Splits after which an adaptive search asks whether a setting is hopeless."""

MARGIN = 0.02
_ROUND = 10  # settings that are proposed at once
_DEFAULT_TRIALS = 50


@dataclass(frozen=True, eq=False)
class SettingTrial:
    """A setting and its validation scores, one per split; it does not know a test score."""

    settings: Settings
    validation: tuple[float | None, ...]
    is_hopeless: bool = False

    @property
    def mean(self) -> float | None:
        """Mean validation score; None if a run diverged."""
        known = [value for value in self.validation if value is not None]
        is_whole = known and len(known) == len(self.validation)
        return math.fsum(known) / len(known) if is_whole else None


@dataclass(frozen=True, eq=False)
class TuneResult:
    """The chosen setting, all trials, and the test scores of the chosen one, read last.

    ``score`` is the name of the score that chose; ``test`` is the chosen setting's on test nodes,
    with its interval, ``sizes`` the numbers of these, ``baselines`` what costs nothing beside it.
    """

    model: str
    graph: str
    splits: str
    space: Space
    search: str
    best: SettingTrial
    trials: tuple[SettingTrial, ...]
    test: ScoreValue
    sizes: TestSizes
    score: str = "accuracy"
    test_accuracy: tuple[float | None, ...] = ()
    baselines: tuple[Against, ...] = ()
    keys: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "model": self.model,
            "graph": self.graph,
            "splits": self.splits,
            "space": {"name": self.space.name, "size": len(self.space)},
            "search": self.search,
            "settings": dict(self.best.settings),
            "score": self.score,
            "validation": {"mean": self.best.mean, "values": list(self.best.validation)},
            "test": self.test.to_dict(),
            "test_accuracy": {"values": list(self.test_accuracy)},
            "test_nodes": self.sizes.nodes,
            "baselines": [found.to_dict() for found in self.baselines],
            "trials": [
                {
                    "settings": dict(trial.settings),
                    "mean": trial.mean,
                    "splits": len(trial.validation),
                    "is_hopeless": trial.is_hopeless,
                }
                for trial in self.trials
            ],
            "remarks": list(self.remarks),
        }


def is_hopeless(scores: Sequence[float | None], best: Sequence[float | None]) -> bool:
    """Whether a setting is clearly worse than the best one on the same splits.

    It is when it diverged, or when its mean is more than ``MARGIN`` below and two standard errors
    of the paired differences do not bridge the gap.

    >>> is_hopeless([0.5, 0.6, 0.55], [0.8, 0.8, 0.9]), is_hopeless([0.8, 0.7], [0.81, 0.7])
    (True, False)
    """
    if None in scores:
        return True
    pairs = zip(scores, best, strict=False)
    gaps = [b - a for a, b in pairs if a is not None and b is not None]
    if len(gaps) < 2:
        return False
    mean = math.fsum(gaps) / len(gaps)
    spread = math.sqrt(math.fsum((gap - mean) ** 2 for gap in gaps) / (len(gaps) - 1))
    return mean > MARGIN and mean - 2 * spread / math.sqrt(len(gaps)) > 0


class _TimeUpError(Exception):
    """The minutes are over."""


class _NoScoreError(Exception):
    """A finished run has no such validation score."""


@dataclass(eq=False)
class _Search:
    """What both searches share: from settings to validation scores."""

    model: str | ModelSpec
    graph: str | Graph
    rule: str
    preset: str | None
    planner: Planner
    store: Store
    executor: Executor
    watch: Watch | None
    deadline: float
    score: str = "accuracy"
    planned: dict[str, list[Run]] = field(default_factory=dict)

    def runs(self, settings: Settings) -> list[Run]:
        name = json.dumps(settings, sort_keys=True, default=str)
        if name not in self.planned:
            dataset = self.graph if isinstance(self.graph, str) else self.graph.name
            rules = PRESETS[self.preset] if self.preset else ()
            recipe = recipe_of(settings, self.model, dataset, rules)
            self.planned[name] = self.planner.runs(self.model, self.graph, recipe, self.rule)
        return self.planned[name]

    def complete(self, runs: Sequence[Run]) -> None:
        complete(runs, store=self.store, executor=self.executor, watch=self._watch).check()

    def _watch(self, finished: set[str], total: int) -> None:
        if self.watch is not None:
            self.watch(finished, total)
        if time.monotonic() > self.deadline and len(finished) < total:
            raise _TimeUpError

    def scores(self, settings: Settings) -> tuple[float | None, ...]:
        """Return the validation scores of the finished splits, in their order."""
        runs = self.runs(settings)
        found = {record.key: record for record in self.store.records([run.key for run in runs])}
        return tuple(self._validation(found[run.key].outcome) for run in runs if run.key in found)

    def _validation(self, outcome: Outcome) -> float | None:
        if self.score == "accuracy" or outcome.validation_accuracy is None:
            return outcome.validation_accuracy
        value = ((outcome.scores or {}).get("validation") or {}).get(self.score)
        if value is None:
            raise _NoScoreError
        return float(value)

    def trial(self, settings: Settings, *, is_hopeless: bool = False) -> SettingTrial:
        return SettingTrial(dict(settings), self.scores(settings), is_hopeless)


def _grid(search: _Search, space: Space, trials: int | None, seed: int) -> list[SettingTrial]:
    """Train every setting; under a limit, a part of the grid in random order."""
    settings = list(space)
    if trials is not None or search.deadline < math.inf:
        random.Random(seed).shuffle(settings)
        settings = settings[:trials]
    with contextlib.suppress(_TimeUpError):
        search.complete([run for setting in settings for run in search.runs(setting)])
    every = len(search.runs(settings[0]))
    tried = [search.trial(setting) for setting in settings]
    return [trial for trial in tried if len(trial.validation) == every]


def _adaptive(
    search: _Search, space: Space, trials: int | None, proposer: Proposer
) -> list[SettingTrial]:
    """Train what is proposed, in rounds; the same seed proposes the same again, from the store."""
    wanted = min(len(space), trials or _DEFAULT_TRIALS)
    found: dict[str, SettingTrial] = {}
    best: SettingTrial | None = None
    try:
        for proposals in proposer.rounds(min(_ROUND, wanted)):
            batch = [proposal.settings for proposal in proposals]
            search.complete([r for setting in batch for r in search.runs(setting)[:FIRST_SPLITS]])
            going = _promising(search, batch, best)
            search.complete([run for setting in going for run in search.runs(setting)])
            for proposal in proposals:
                trial = search.trial(proposal.settings, is_hopeless=proposal.settings not in going)
                found.setdefault(str(proposal.settings), trial)
                proposal.tell(trial.mean, is_hopeless=trial.is_hopeless)
                if not trial.is_hopeless and trial.mean is not None:
                    best = trial if best is None or trial.mean > (best.mean or 0.0) else best
            if len(found) >= wanted:
                break
    except _TimeUpError:
        pass
    return list(found.values())


def _promising(
    search: _Search, batch: Sequence[Settings], best: SettingTrial | None
) -> list[Settings]:
    """Return the settings that are not hopeless beside the best one on the first splits."""
    scores = [search.scores(settings)[:FIRST_SPLITS] for settings in batch]
    rivals = [row for row in scores if None not in row]
    if best is not None:
        rivals.append(best.validation[:FIRST_SPLITS])
    if not rivals:
        return list(batch)
    leader = rivals[best_by_validation(rivals)]
    pairs = zip(batch, scores, strict=True)
    return [settings for settings, row in pairs if not is_hopeless(row, leader)]


def tune(
    model: str | ModelSpec,
    graph: str | GraphLike,
    *,
    store: Store,
    space: str | Path | Space = "default",
    search: str = "grid",
    trials: int | None = None,
    minutes: float | None = None,
    splits: str | None = None,
    repeats: int | None = None,
    seed: int = 0,
    score: str = "auto",
    preset: str | None = None,
    executor: Executor | None = None,
    watch: Watch | None = None,
    dashboard: Path | None = None,
    with_baselines: bool = True,
    **how: Any,
) -> TuneResult:
    """Try settings of a model and return the one with the best mean validation score.

    Every training is a run in the store: the same command goes on where it was stopped, and
    another search finds what this one trained. The choice sees validation scores alone.

    Parameters
    ----------
    model, graph
        A model of the table or a spec of your own (with a :class:`Space`); a graph, or a catalog
        name or file.
    space
        ``"paper"``, ``"default"``, a TOML file, or a :class:`Space`.
    search
        ``"grid"``: all of it. ``"adaptive"``: ``trials`` settings (default 50) that Optuna
        proposes; one that is hopeless after three splits is not trained on the others.
    trials, minutes
        Limits; a limited grid is searched in random order.
    splits
        A split rule; by default ``"paper-random"`` with a preset and ``"random"`` without.
    score
        A name in :data:`~heterophily.evaluation.scores.SCORES`, or ``"auto"``: that of
        :func:`~heterophily.evaluation.scores.score_for` the graph. Where finished runs lack it
        (those on the paper's random splits), accuracy chooses, and a remark says so.
    preset
        Rules of a preset under the searched settings (``"paper"``: the released program).
    dashboard
        A SQLite file in which ``optuna-dashboard`` shows the adaptive search.
    with_baselines
        Whether the baselines are computed beside the chosen setting.
    how
        Further arguments of :class:`~heterophily.runs.plan.Planner`.
    """
    graph = graph if isinstance(graph, str) else as_graph(graph)
    lookup(SEARCHES, "search", search)
    if preset is not None:
        lookup(PRESETS, "preset", preset)
    for name, limit in (("trials", trials), ("minutes", minutes)):
        if limit is not None and limit <= 0:
            raise InputError(f"{name}={limit}; it must be above 0")
    rule = splits or default_rule(preset)
    dataset = graph if isinstance(graph, str) else graph.name
    if not (isinstance(model, str) or isinstance(space, Space)):
        raise InputError(f"{name_of(model)} is a model of your own: give its space as a Space")
    chosen = space if isinstance(space, Space) else space_for(space, str(model), dataset)
    planner = Planner(seed=seed, repeats=repeats, rows_by_data=preset is None, **how)
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    remarks: tuple[str, ...] = ()
    with executor or local() as standing:
        state = _Search(model, graph, rule, preset, planner, store, standing, watch, deadline)
        state.score = _score(score, state, chosen)

        def searched() -> list[SettingTrial]:
            if search == "grid":
                return _grid(state, chosen, trials, seed)
            name = f"{name_of(model)} on {dataset}"
            proposer = Proposer(chosen, seed=seed, name=name, dashboard=dashboard)
            return _adaptive(state, chosen, trials, proposer)

        try:
            tried = searched()
        except _NoScoreError:  # all that was trained is in the store
            remarks = (
                f"settings are chosen by accuracy: finished runs on these splits lack "
                f"{SCORE_TITLES[state.score]}",
            )
            state.score = "accuracy"
            tried = searched()
    complete_ones = [trial for trial in tried if not trial.is_hopeless]
    if not complete_ones:
        raise InputError(f"no setting was finished in {minutes} minutes; allow more time")
    best = complete_ones[best_by_validation([trial.validation for trial in complete_ones])]
    if len(tried) < len(chosen):
        remarks += (f"{len(tried)} of {len(chosen)} settings were tried",)
    return _result(state, chosen, search, best, tried, remarks, with_baselines=with_baselines)


def _score(asked: str, state: _Search, space: Space) -> str:
    """Return the name of the score that chooses."""
    if asked != "auto":
        lookup(SCORES, "score", asked)
        return asked
    run = state.runs(next(iter(space)))[0]
    return score_for(state.planner.graph_of(run).labels)


def _result(
    state: _Search,
    space: Space,
    search: str,
    best: SettingTrial,
    tried: Sequence[SettingTrial],
    remarks: tuple[str, ...],
    *,
    with_baselines: bool,
) -> TuneResult:
    """Read the test scores of the chosen setting, beside the baselines."""
    runs, planner = state.runs(best.settings), state.planner
    keys = tuple(run.key for run in runs)
    records = {record.key: record for record in state.store.records(keys)}
    outcomes = [records[key].outcome for key in keys]
    graph, splits = planner.graph_of(runs[0]), planner.splits_of_runs(runs)
    sizes = TestSizes.of(graph.labels, splits)
    cell = CellResult.of(
        [records[key] for key in keys],
        row=name_of(state.model),
        dataset=graph.name,
        splits=runs[0].split.rule,
        wanted=len(runs),
    )
    test = cell.value_by(state.score, sizes)
    beside = baselines(graph, splits) if with_baselines else ()
    return TuneResult(
        model=name_of(state.model),
        graph=runs[0].graph.name,
        splits=state.rule,
        space=space,
        search=search,
        best=best,
        trials=tuple(tried),
        test=test,
        sizes=sizes,
        score=state.score,
        test_accuracy=tuple(outcome.test_accuracy for outcome in outcomes),
        baselines=against_all(beside, state.score, test, sizes),
        keys=keys,
        remarks=(*planner.remarks, *remarks),
    )
