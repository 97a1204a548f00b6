"""Portraits of models on a graph: train what has none yet, and see what each run left."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from heterophily.comparison.portrait import PORTRAIT_KINDS, Portrait
from heterophily.errors import InputError, lookup
from heterophily.evaluation.split_rules import SPLIT_RULES, default_rule
from heterophily.learning.progress import Progress
from heterophily.paper.presets import PRESETS, Recipe, recipe
from heterophily.paper.tuned import optimal
from heterophily.runs.artefacts import artefacts_of
from heterophily.runs.complete import Completion, complete, counted
from heterophily.runs.executors.base import Executor
from heterophily.runs.executors.local import this_machine
from heterophily.runs.plan import Planner
from heterophily.runs.run import Run
from heterophily.runs.stores.base import Store, check_is_store
from heterophily.runs.stores.memory import MemoryStore

if TYPE_CHECKING:
    from heterophily.data.graph import Graph


class MissingRunsError(InputError):
    """Runs are not in the store, and nothing may be trained."""


def portraits(
    graph: str | Graph,
    models: Sequence[str],
    *,
    repeats: int = 1,
    splits: str | None = None,
    seed: int = 0,
    preset: str | None = "paper",
    engine: str = "auto",
    workers: int | None = None,
    only_finished: bool = False,
    data_folder: str | Path | None = None,
    offline: bool = False,
    max_epochs: int | None = None,
    store: Store | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> dict[str, list[Portrait]]:
    """Train models on a graph and return, for each split, what figures need from inside them.

    A portrait is one trained model seen from inside: weights of channels, predictions, losses.
    Those that the store has are read, the others are trained. Splits and seeds are those of
    ``heterophily train`` and ``compare``.

    Parameters
    ----------
    splits
        A split rule; by default ``"paper-random"`` with a preset and ``"random"`` without.
    preset
        Settings of a preset where it has some for (model, graph); elsewhere the defaults.
    only_finished
        Train nothing; a missing run is an error.
    max_epochs
        Another limit on epochs than that of the settings.
    store
        Where finished runs are looked for and kept; by default they are not kept.
    executor
        Where to train; by default on this machine, with ``workers``.
    """
    planner = Planner(
        seed=seed,
        repeats=repeats,
        data_folder=data_folder,
        offline=offline,
        engine=engine,
        rows_by_data=preset is None,
    )
    rule = splits or default_rule(preset)
    plan = {
        model: planner.runs(
            model, graph, settings_for(preset, model, graph, rule, max_epochs), rule
        )
        for model in models
    }
    every = [run for runs in plan.values() for run in runs]
    with ExitStack() as stack:
        kept_in = stack.enter_context(MemoryStore()) if store is None else store
        check_is_store(kept_in)
        if only_finished:
            _check_finished(every, kept_in)
        done = complete(
            every,
            store=kept_in,
            executor=executor or this_machine(workers),
            keep=PORTRAIT_KINDS,
            watch=None if progress is None else counted(progress),
        ).check()
        return {
            model: [_portrait(run, done, planner) for run in runs] for model, runs in plan.items()
        }


def _check_finished(runs: Sequence[Run], store: Store) -> None:
    finished, artefacts = store.finished([run.key for run in runs]), artefacts_of(store)
    left = sum(
        run.key not in finished or not artefacts.has(run.key, PORTRAIT_KINDS) for run in runs
    )
    if left:
        raise MissingRunsError(
            f"{left} of {len(runs)} trained models are not in {store.name}, and --no-train "
            "forbids training them; leave it out"
        )


def _portrait(run: Run, done: Completion, planner: Planner) -> Portrait:
    record = done.records()[run.key]
    if record.outcome.best_epoch == 0:
        raise InputError(
            f"{run.model} on {run.graph.name}, split {run.split.index}: the loss was not finite in "
            "the first epoch; use another model or seed"
        )
    kept = done.kept(run.key, *PORTRAIT_KINDS)
    assert kept is not None
    return Portrait.of(record, kept, planner.graph_of(run).labels, planner.sources.split(run))


def settings_for(
    preset: str | None, model: str, graph: str | Graph, splits: str, max_epochs: int | None
) -> Recipe:
    """Return the settings of a preset where it has some for the model on the graph."""
    if preset is not None:
        lookup(PRESETS, "preset", preset)
    name = graph if isinstance(graph, str) else ""
    found = Recipe()
    printed = lookup(SPLIT_RULES, "split rule", splits).settings
    if preset is not None and printed is not None and optimal(model, name, printed) is not None:
        found = recipe(preset, model, name, splits)
    if max_epochs is None:
        return found
    return Recipe(found.graph, found.options, found.config.replace(max_epochs=max_epochs))
