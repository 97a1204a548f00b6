"""Make portraits: train what has none yet, look inside, keep the answer beside the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heterophily.errors import InputError, lookup
from heterophily.evaluation.run_scores import run_scores
from heterophily.experiments.portrait import Portrait
from heterophily.experiments.presets import PRESETS, Recipe, recipe
from heterophily.experiments.tuned import optimal
from heterophily.layers.adaptive_mixer import AdaptiveMixer
from heterophily.layers.inputs import GraphInputs
from heterophily.runs.job import outcome_of
from heterophily.runs.plan import Planner
from heterophily.runs.record import Record, command_line
from heterophily.runs.run import Run
from heterophily.runs.split_rules import SPLIT_RULES, default_rule
from heterophily.training.config import TrainConfig
from heterophily.training.replicas import Replica, fit_replicas, usable_cores
from heterophily.training.result import softmax

if TYPE_CHECKING:
    from torch import Tensor, nn

    from heterophily.data.graph import Graph
    from heterophily.data.splits import Split
    from heterophily.runs.stores.base import Store
    from heterophily.training.result import FitResult

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
    size = max(1, workers or usable_cores())
    for runs in missing.values():
        for batch in (runs[at : at + size] for at in range(0, len(runs), size)):
            if progress is not None:
                progress(total - left, total)
            _portray(batch, planner, folder, workers)
            left -= len(batch)
    found = {
        model: [Portrait.read(_path(folder, run)) for run in runs] for model, runs in plan.items()
    }
    if store is not None:
        store.add_all(portrait.record for every in found.values() for portrait in every)
    return found


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


def _portray(
    runs: Sequence[Run],
    planner: Planner,
    folder: Path,
    workers: int | None,
) -> None:
    """Train runs of one model on one graph and write their portraits."""
    first = runs[0]
    spec = planner.sources.spec(first)
    graph = planner.graph_of(first)
    inputs = GraphInputs.from_graph(graph, spec.inputs)
    build = spec.builder(inputs, num_classes=graph.num_classes)
    replicas = [
        Replica(build, planner.sources.split(run), TrainConfig(**run.config), run.seed)
        for run in runs
    ]
    results = fit_replicas(replicas, inputs, graph.labels, workers=workers, engine=first.engine)
    folder.mkdir(parents=True, exist_ok=True)
    for number, result in results.by_replica.items():
        run = runs[number]
        if result.best_epoch == 0:
            raise InputError(
                f"{run.model} on {run.graph.name}, split {run.split.index}: the loss was not "
                f"finite in the first epoch; use another model or seed"
            )
        portrait = _portrait(run, result, build, inputs, graph, replicas[number].split)
        portrait.write(_path(folder, run))
    if results.interrupted:
        raise KeyboardInterrupt
    if results.failures:
        raise InputError(next(iter(results.failures.values())))


def _portrait(
    run: Run,
    result: FitResult,
    build: Callable[[], nn.Module],
    inputs: GraphInputs,
    graph: Graph,
    split: Split,
) -> Portrait:
    logits, weights, outputs = look_inside(build, result.state or {}, inputs)
    scores = run_scores(graph.labels, softmax(_array(logits)), split)
    names = [*run.resolved.get("channels", ())]
    names += ["structure"] if run.resolved.get("with_structure") else []
    return Portrait(
        record=Record.of(run, outcome_of(result, scores), command=command_line()),
        train_nodes=int(split.train.sum()),
        labels=graph.labels,
        test=split.test,
        predictions=result.predictions,
        logits=_array(logits),
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
