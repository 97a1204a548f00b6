"""``heterophily train``: a model, a graph, many splits; accuracy beside the published one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import panels
from heterophily.cli.batches import (
    choose_batches,
    disk_facts,
    is_on_disk,
    open_any,
    too_large_for_auto,
)
from heterophily.cli.columns import columns_of, print_reading
from heterophily.cli.spread import RunOptions, StoreOption, spread
from heterophily.cli.train_options import (
    AUTO,
    AutoOptions,
    BatchOptions,
    ModelArgument,
    OutputOptions,
    PresetSplits,
    SettingOptions,
    given,
)
from heterophily.cli.train_text import show, step_of
from heterophily.cli.trained import kept_facts
from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.paper.presets import Recipe


@spread
def train(
    *,
    model: ModelArgument,
    graph: GraphSource,
    splits: PresetSplits = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            help="How many splits to train on.",
            show_default="10; with fixed splits, each split once",
            rich_help_panel=panels.MODEL,
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="paper: hyper-parameters that the paper prints and behaviour of its program; "
            "paper-as-written: its formulas.",
            rich_help_panel=panels.MODEL,
        ),
    ] = None,
    settings: Annotated[
        Path | None,
        typer.Option(
            "--config",
            help="File of settings that heterophily tune wrote.",
            rich_help_panel=panels.MODEL,
        ),
    ] = None,
    own: SettingOptions,
    batches: BatchOptions,
    for_auto: AutoOptions,
    output: OutputOptions,
    runs: RunOptions,
    device: Annotated[
        str, typer.Option(help="cpu or cuda.", rich_help_panel=panels.MORE_RUNS)
    ] = "cpu",
    store: StoreOption = None,
) -> None:
    """Train a model on many splits of a graph and print its accuracy; with --out, keep it.

    auto diagnoses the graph, searches models and settings for --minutes, and trains an ensemble.
    Every training is kept in the store: Ctrl-C reports what is finished, and the same command goes
    on from there.
    """
    options = own.options
    output.check()
    if model == AUTO:
        chosen = {**options, **own.steps}
        chosen |= given(preset=preset, config=settings, repeats=repeats)
        if chosen:
            raise InputError(
                f"auto chooses {next(iter(chosen))} itself; leave it out, or name a model"
            )
        if device != "cpu":
            raise InputError(f"--device {device}: auto runs on the CPU; name a model to use a GPU")
        config = own.config
        _train_auto(graph, splits, for_auto, output, batches, runs, config=config, store=store)
        return
    if for_auto.given():
        name = next(iter(for_auto.given()))
        raise InputError(f"--{name} is for heterophily train auto, not for {model}")
    from heterophily.comparison import train as training
    from heterophily.evaluation.split_rules import default_rule, number_of_runs, splits_of
    from heterophily.models.catalog import MODELS
    from heterophily.prediction import build
    from heterophily.runs.model import spec_with
    from heterophily.runs.stores.url import open_store
    from heterophily.training.interrupts import terminated_like_interrupted
    from heterophily.training.progress import progress_bar

    config = own.config
    if settings is not None:
        from heterophily.search.settings import read_settings

        found = read_settings(settings)
        if found.get("model", model) != model:
            raise InputError(f"--config {settings} is for the model {found['model']}, not {model}")
        options, config = found["options"] | options, found["config"] | config
    rule = splits or default_rule(preset)
    graph, recipe = _with_preset(model, graph, rule, preset)
    opened = open_any(graph)
    spec = MODELS[model]
    _check_steps(model, own.steps)
    # The tables print settings that some models have no use for.
    options = {key: v for key, v in recipe.options.items() if spec.accepts(key)} | options
    way = choose_batches(
        opened,
        spec_with(model, options),
        asked=batches.batches,
        numbers=batches.numbers,
        config=config,
    )
    opened = way.graph
    if way.is_on_disk:
        repeats, runs = repeats or 1, replace(runs, workers=runs.workers or 1)
        print(way.sentence(model), file=sys.stderr)
    elif not output.json and not is_on_disk(graph):
        print_reading(graph, opened, all_columns=output.all_columns)
    trainer = recipe.config.replace(**way.config)
    batch = splits_of(
        opened,
        rule,
        repeats=repeats,
        seed=runs.seed,
        dataset=graph.graph,
        data_folder=graph.data_folder,
        offline=graph.offline,
    )
    with (
        open_store(store) as kept_in,
        progress_bar(f"{model} on {opened.name}") as progress,
        terminated_like_interrupted() as ending,
    ):
        report = training.train(
            model,
            opened,
            splits=batch if rule == "public" else rule,
            repeats=number_of_runs(rule, batch, repeats),
            seed=runs.seed,
            options=options,
            config=trainer,
            device=device,
            engine=runs.engine,
            progress=progress,
            store=kept_in,
            executor=runs.executor_here(is_short=True),
            rows_by_data=preset is None,
        )
    report = replace(report, split_rule=rule)
    network = build.network_of(report, options, trainer)
    calibrated = build.calibrate_report(report)
    if output.out is not None:
        from heterophily.prediction.folder import save_model

        kept = build.model_of_report(
            report,
            network,
            calibrated,
            seed=runs.seed,
            extra=disk_facts(opened) if is_on_disk(graph) else kept_facts(graph, opened),
        )
        save_model(output.out, kept, overwrite=output.overwrite)
    columns = [] if is_on_disk(graph) else columns_of(opened)
    show(report, calibrated, recipe, output.out, columns, as_json=output.json)
    if report.results.interrupted:
        raise typer.Exit(ending.code)


def _train_auto(
    graph: GraphSource,
    splits: str | None,
    for_auto: AutoOptions,
    output: OutputOptions,
    batches: BatchOptions,
    runs: RunOptions,
    *,
    config: Mapping[str, Any],
    store: str | None,
) -> None:
    """Search, in memory or on disk."""
    how = {**given(minutes=for_auto.minutes, score=for_auto.score), "seed": runs.seed}
    if too_large_for_auto(graph):
        from heterophily.cli.auto_disk import train_auto_on_disk

        if for_auto.inductive or for_auto.refit or splits not in (None, "random"):
            raise InputError(
                "auto on a graph that memory cannot hold takes one random split; leave out "
                "--splits, --refit and --inductive"
            )
        train_auto_on_disk(
            graph,
            out=output.out,
            overwrite=output.overwrite,
            as_json=output.json,
            store=store,
            executor=runs.executor,
            how=how,
            config={**config, **batches.numbers},
        )
        return
    from heterophily.cli.auto import train_auto

    train_auto(
        graph,
        splits=splits or "random",
        out=output.out,
        overwrite=output.overwrite,
        as_json=output.json,
        all_columns=output.all_columns,
        store=store,
        executor=None if runs.executor == "local" else runs.executor,
        how={
            **how,
            "inductive": for_auto.inductive,
            "refit": for_auto.refit,
            "workers": runs.workers,
            "engine": runs.engine,
            "config": config,
        },
    )


def _with_preset(
    model: str, graph: GraphSource, splits: str, preset: str | None
) -> tuple[GraphSource, Recipe]:
    """Return how the graph is read, which a preset may say, and the settings of the preset."""
    from heterophily.errors import lookup
    from heterophily.evaluation.split_rules import SPLIT_RULES
    from heterophily.paper.presets import Recipe, recipe

    lookup(SPLIT_RULES, "split rule", splits)
    if preset is None:
        return graph, Recipe()
    if graph.graph is None or graph.kind != "dataset":
        raise InputError(f"--preset {preset} is for catalog names, not for your own files")
    plain = GraphSource(graph=graph.graph, data_folder=graph.data_folder, offline=graph.offline)
    if graph != plain:
        given = graph.replace(data_folder=None, offline=False).arguments()
        raise InputError(
            f"--preset {preset} says how {graph.graph} is read; leave out "
            f"{given.removeprefix(graph.graph).strip()}"
        )
    chosen = recipe(preset, model, graph.graph, splits)
    return plain.replace(**chosen.graph), chosen


def _check_steps(model: str, given: Mapping[str, Any]) -> None:
    """Refuse a learning rate where nothing is learned by gradient steps."""
    from dataclasses import fields

    from heterophily.models.catalog import MODELS

    if given and step_of(model) != "epoch":
        flag = next(iter(given)).replace("_", "-")
        own = ", ".join(field.name for field in fields(MODELS[model].options))
        raise InputError(
            f"--{flag} is for models that learn by gradient steps, {model} does not; "
            f"its settings are given as --option KEY=VALUE: {own}"
        )
