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
from heterophily.errors import InputError, lookup
from heterophily.experiments.completion import Watch, complete
from heterophily.experiments.executor import Executor, kept_open, local
from heterophily.experiments.planner import Planner
from heterophily.experiments.presets import PRESETS
from heterophily.experiments.proposer import Proposer
from heterophily.experiments.records import Run
from heterophily.experiments.space import Settings, Space, best_by_validation, recipe_of, space_for
from heterophily.experiments.split_rules import default_rule
from heterophily.experiments.store import Store

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
class Trial:
    """A setting and its validation accuracies, one per split; it does not know a test accuracy."""

    settings: Settings
    validation: tuple[float | None, ...]
    is_hopeless: bool = False

    @property
    def mean(self) -> float | None:
        """Mean validation accuracy; None if a run diverged."""
        known = [value for value in self.validation if value is not None]
        is_whole = known and len(known) == len(self.validation)
        return math.fsum(known) / len(known) if is_whole else None


@dataclass(frozen=True, eq=False)
class TuneResult:
    """The chosen setting, all trials, and the test accuracies of the chosen one, read last."""

    model: str
    graph: str
    splits: str
    space: Space
    search: str
    best: Trial
    trials: tuple[Trial, ...]
    test: tuple[float | None, ...] = ()
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
            "validation_accuracy": {"mean": self.best.mean, "values": list(self.best.validation)},
            "test_accuracy": {"values": list(self.test)},
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


@dataclass(eq=False)
class _Search:
    """What both searches share: from settings to validation accuracies."""

    model: str
    graph: str | Graph
    rule: str
    preset: str | None
    planner: Planner
    store: Store
    executor: Executor
    watch: Watch | None
    deadline: float
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
        failures = complete(
            runs,
            self.planner.job(self.store),
            self.store,
            executor=self.executor,
            watch=self._watch,
        )
        if failures:
            raise InputError(next(iter(failures.values())))

    def _watch(self, finished: set[str], total: int) -> None:
        if self.watch is not None:
            self.watch(finished, total)
        if time.monotonic() > self.deadline and len(finished) < total:
            raise _TimeUpError

    def scores(self, settings: Settings) -> tuple[float | None, ...]:
        """Return the validation accuracies of the finished splits, in their order."""
        runs = self.runs(settings)
        found = {record.key: record for record in self.store.records([run.key for run in runs])}
        return tuple(found[run.key].outcome.validation_accuracy for run in runs if run.key in found)

    def trial(self, settings: Settings, *, is_hopeless: bool = False) -> Trial:
        return Trial(dict(settings), self.scores(settings), is_hopeless)


def _grid(search: _Search, space: Space, trials: int | None, seed: int) -> list[Trial]:
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


def _adaptive(search: _Search, space: Space, trials: int | None, proposer: Proposer) -> list[Trial]:
    """Train what is proposed, in rounds; the same seed proposes the same again, from the store."""
    wanted = min(len(space), trials or _DEFAULT_TRIALS)
    found: dict[str, Trial] = {}
    best: Trial | None = None
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


def _promising(search: _Search, batch: Sequence[Settings], best: Trial | None) -> list[Settings]:
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
    model: str,
    graph: str | Graph,
    *,
    store: Store,
    space: str | Path | Space = "default",
    search: str = "grid",
    trials: int | None = None,
    minutes: float | None = None,
    splits: str | None = None,
    repeats: int | None = None,
    seed: int = 0,
    preset: str | None = None,
    executor: Executor | None = None,
    watch: Watch | None = None,
    dashboard: Path | None = None,
    **how: Any,
) -> TuneResult:
    """Search a space and return the setting with the highest mean validation accuracy.

    Every training is a run in the store: the same command goes on where it was stopped, and
    another search finds what this one trained. The choice sees validation accuracies alone.

    Parameters
    ----------
    model, graph
        A model of the table; a graph, or a catalog name or file.
    space
        ``"paper"``, ``"default"``, a TOML file, or a :class:`Space`.
    search
        ``"grid"``: all of it. ``"adaptive"``: ``trials`` settings (default 50) that Optuna
        proposes; one that is hopeless after three splits is not trained on the others.
    trials, minutes
        Limits; a limited grid is searched in random order.
    splits
        A split rule; by default ``"paper-random"`` with a preset and ``"random"`` without.
    preset
        Rules of a preset under the searched settings (``"paper"``: the released program).
    dashboard
        A SQLite file in which ``optuna-dashboard`` shows the adaptive search.
    how
        Further arguments of :class:`~heterophily.experiments.planner.Planner`.
    """
    lookup(SEARCHES, "search", search)
    if preset is not None:
        lookup(PRESETS, "preset", preset)
    for name, limit in (("trials", trials), ("minutes", minutes)):
        if limit is not None and limit <= 0:
            raise InputError(f"{name}={limit}; it must be above 0")
    rule = splits or default_rule(preset)
    dataset = graph if isinstance(graph, str) else graph.name
    chosen = space if isinstance(space, Space) else space_for(space, model, dataset)
    planner = Planner(seed=seed, repeats=repeats, **how)
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    with kept_open(executor or local()) as standing:
        state = _Search(model, graph, rule, preset, planner, store, standing, watch, deadline)
        if search == "grid":
            tried = _grid(state, chosen, trials, seed)
        else:
            name = f"{model} on {dataset}"
            proposer = Proposer(chosen, seed=seed, name=name, dashboard=dashboard)
            tried = _adaptive(state, chosen, trials, proposer)
    complete_ones = [trial for trial in tried if not trial.is_hopeless]
    if not complete_ones:
        raise InputError(f"no setting was finished in {minutes} minutes; allow more time")
    best = complete_ones[best_by_validation([trial.validation for trial in complete_ones])]
    is_partial = len(tried) < len(chosen)
    partial = (f"{len(tried)} of {len(chosen)} settings were tried",) if is_partial else ()
    runs = state.runs(best.settings)
    keys = tuple(run.key for run in runs)
    records = {record.key: record for record in store.records(keys)}
    return TuneResult(
        model=model,
        graph=runs[0].graph.name,
        splits=rule,
        space=chosen,
        search=search,
        best=best,
        trials=tuple(tried),
        test=tuple(records[key].outcome.test_accuracy for key in keys),
        keys=keys,
        remarks=(*planner.remarks, *partial),
    )
