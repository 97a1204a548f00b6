"""Make portraits: train what has none yet, look inside, keep the answer beside the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.errors import InputError, lookup
from heterophily.evaluation.run_scores import run_scores
from heterophily.experiments.portrait import Portrait
from heterophily.experiments.presets import PRESETS, Recipe, recipe
from heterophily.experiments.tuned import optimal
from heterophily.layers.adaptive_mixer import AdaptiveMixer
from heterophily.runs.artefacts import KINDS
from heterophily.runs.complete import Completion, Watch, complete
from heterophily.runs.executors.local import this_machine
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record
from heterophily.runs.run import Run
from heterophily.runs.split_rules import SPLIT_RULES, default_rule
from heterophily.runs.stores.base import Store
from heterophily.runs.stores.memory import MemoryStore
from heterophily.training.result import FitResult, softmax

if TYPE_CHECKING:
    from torch import Tensor, nn

    from heterophily.data.graph import Graph

Progress = Callable[[int, int], None]


def portray(
    graph: str | Graph,
    models: Sequence[str],
    *,
    folder: Path,
    repeats: int = 1,
    splits: str | None = None,
    seed: int = 0,
    preset: str | None = "paper",
    engine: str = "auto",
    workers: int | None = None,
    is_trained: bool = True,
    data_folder: str | Path | None = None,
    offline: bool = False,
    max_epochs: int | None = None,
    store: Store | None = None,
    progress: Progress | None = None,
) -> dict[str, list[Portrait]]:
    """Return the portraits of models on a graph, one per split, in the order of the splits.

    A portrait is a file in ``folder``, named by the key of its run: what is there is read, what is
    missing is trained and written as soon as it is finished. Splits and seeds are those of
    ``heterophily train`` and ``compare``.

    Parameters
    ----------
    splits
        A split rule; by default ``"paper-random"`` with a preset and ``"random"`` without.
    preset
        Settings of a preset where it has some for (model, graph); elsewhere the defaults.
    is_trained
        False: train nothing; a missing portrait is an error.
    max_epochs
        Another limit on epochs than that of the settings.
    store
        Where the outcome of each run is recorded as well, for tables and tests.
    """
    planner = Planner(
        seed=seed, repeats=repeats, data_folder=data_folder, offline=offline, engine=engine
    )
    rule = splits or default_rule(preset)
    plan = {
        model: planner.runs(
            model, graph, settings_for(preset, model, graph, rule, max_epochs), rule
        )
        for model in models
    }
    missing = {
        model: [run for run in runs if not _path(folder, run).is_file()]
        for model, runs in plan.items()
    }
    total, left = sum(map(len, plan.values())), sum(map(len, missing.values()))
    if left and not is_trained:
        raise InputError(
            f"{left} of {total} trained models are not in {folder}, and --no-train forbids to "
            "train them; leave it out"
        )
    with ExitStack() as stack:
        kept_in = stack.enter_context(MemoryStore()) if store is None else store
        executor = stack.enter_context(this_machine(workers))
        if progress is not None:
            progress(total - left, total)
        for runs in missing.values():
            try:
                complete(
                    runs,
                    store=kept_in,
                    executor=executor,
                    keep=tuple(KINDS),
                    watch=_shown(progress, total - left, total),
                ).check()
            finally:  # after Ctrl-C too: what is finished is written
                _write(runs, planner, kept_in, folder)
            left -= len(runs)
    found = {
        model: [Portrait.read(_path(folder, run)) for run in runs] for model, runs in plan.items()
    }
    if store is not None:
        store.add_all(portrait.record for every in found.values() for portrait in every)
    return found


def _shown(progress: Progress | None, before: int, total: int) -> Watch:
    """Return a watch that shows the runs of one model among all."""

    def watch(finished: set[str], _: int) -> None:
        if progress is not None and finished:
            progress(before + len(finished), total)

    return watch


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


def _path(folder: Path, run: Run) -> Path:
    return folder / f"{run.key[:24]}.npz"


def _write(runs: Sequence[Run], planner: Planner, store: Store, folder: Path) -> None:
    """Write the portraits of those runs that are finished."""
    done = Completion(tuple(runs), store)
    records = done.records()
    for run in runs:
        if run.key not in records or done.kept(run.key, *KINDS) is None:
            continue
        result = done.result(records[run.key], *KINDS)
        if result.best_epoch == 0:
            raise InputError(
                f"{run.model} on {run.graph.name}, split {run.split.index}: the loss was not "
                f"finite in the first epoch; use another model or seed"
            )
        folder.mkdir(parents=True, exist_ok=True)
        _portrait(run, records[run.key], result, planner).write(_path(folder, run))


def _portrait(run: Run, record: Record, result: FitResult, planner: Planner) -> Portrait:
    graph, split = planner.graph_of(run), planner.sources.split(run)
    inputs = planner.sources.inputs(run)
    build = planner.sources.spec(run).builder(inputs, num_classes=graph.num_classes)
    assert result.logits is not None
    _, weights, outputs = look_inside(build, result.state or {}, inputs)
    if record.outcome.scores is None:
        scores = run_scores(graph.labels, softmax(result.logits), split)
        record = replace(record, outcome=replace(record.outcome, scores=scores))
    names = [*run.resolved.get("channels", ())]
    names += ["structure"] if run.resolved.get("with_structure") else []
    return Portrait(
        record=record,
        train_nodes=int(split.train.sum()),
        labels=graph.labels,
        test=split.test,
        predictions=result.predictions,
        logits=result.logits,
        train_loss=result.history.train_loss,
        validation_loss=result.history.validation_loss,
        validation_accuracy=result.history.validation_accuracy,
        channels=tuple(map(str, names)) if weights else (),
        weights=tuple(map(_array, weights)),
        outputs=tuple(map(_array, outputs)),
    )


def look_inside(
    build: Callable[[], nn.Module], state: Any, inputs: Any
) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """Return logits (N, C), the weights (N, K) of each mixing layer, the channels of the last.

    The model is rebuilt with the given state and evaluated without dropout.
    """
    import torch

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model = build()
        model.load_state_dict(state)
        model.eval()
        seen: list[list[Tensor]] = []
        mixers = [part for part in model.modules() if isinstance(part, AdaptiveMixer)]
        hooks = [
            mixer.register_forward_pre_hook(lambda _, arguments: seen.append(list(arguments[0])))
            for mixer in mixers
        ]
        try:
            if not mixers:
                return model(inputs), [], []
            logits, weights = model(inputs, return_weights=True)
        finally:
            for hook in hooks:
                hook.remove()
    return logits, list(weights), seen[-1]


def _array(tensor: Tensor) -> Any:
    return np.ascontiguousarray(tensor.detach().cpu().numpy(), np.float32)
