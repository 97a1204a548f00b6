"""``heterophily train``: a model, a graph, many splits; accuracy beside the published one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import panels, sources
from heterophily.cli.batches import (
    choose_batches,
    disk_facts,
    is_on_disk,
    open_any,
    too_large_for_auto,
)
from heterophily.cli.columns import AllColumns, columns_of, print_reading
from heterophily.cli.runs import Engine, ExecutorOption, Seed, StoreOption, Workers
from heterophily.cli.trained import kept_facts
from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.comparison.train_report import TrainReport
    from heterophily.paper.presets import Recipe
    from heterophily.prediction.build import Calibrated

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model, spelled as in the paper: acm-gcn. Or auto: choose, tune and combine models.",
    ),
]
_RULES = "random (60/20/20, every class in each part), fixed (of the data), paper-random, public"
Splits = Annotated[str, typer.Option(help=f"{_RULES}.", rich_help_panel=panels.MODEL)]
PresetSplits = Annotated[
    str | None,
    typer.Option(
        help=f"{_RULES}.",
        show_default="random; with --preset paper-random",
        rich_help_panel=panels.MODEL,
    ),
]
_SCORES = "accuracy, balanced-accuracy, macro-f1, roc-auc or average-precision"
ScoreOption = Annotated[
    str,
    typer.Option(
        help=f"Score that decides: {_SCORES}; auto: by the sizes of the classes.",
        rich_help_panel=panels.SEARCH,
    ),
]
AUTO = "auto"


def _model(*names: str, **settings: Any) -> Any:
    return typer.Option(
        *names, rich_help_panel=panels.MORE_MODEL, **{"show_default": "of the model"} | settings
    )


@sources.reads_graph
def train(
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
    minutes: Annotated[
        float | None,
        typer.Option(
            help="With auto: minutes for the search.",
            show_default="3",
            rich_help_panel=panels.SEARCH,
        ),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            help=f"With auto: score that decides: {_SCORES}.",
            show_default="by the sizes of the classes",
            rich_help_panel=panels.SEARCH,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Save the model in this folder, for predict and explain.",
            rich_help_panel=panels.OUTPUT,
        ),
    ] = None,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Replace an existing model folder.",
            rich_help_panel=panels.OUTPUT,
        ),
    ] = False,
    json: sources.Json = False,
    all_columns: AllColumns = False,
    lr: Annotated[float | None, _model(help="Learning rate.")] = None,
    weight_decay: Annotated[float | None, _model(help="L2 penalty.")] = None,
    dropout: Annotated[float | None, _model(help="Dropout rate.")] = None,
    hidden: Annotated[int | None, _model(help="Width of hidden layers.")] = None,
    layers: Annotated[int | None, _model(help="Number of layers.")] = None,
    max_epochs: Annotated[int | None, _model(help="Limit on epochs.")] = None,
    class_weight: Annotated[
        str | None,
        _model(
            help="balanced: all classes count alike, whatever their size; none: all nodes count "
            "alike.",
            show_default="none",
        ),
    ] = None,
    batches: Annotated[
        str,
        typer.Option(
            help="Which nodes a training step uses: full (all), channels (some, with filtered "
            "features that are computed once), sampled (some, with some of their "
            "neighbours); auto: by size.",
            rich_help_panel=panels.MORE_MODEL,
        ),
    ] = AUTO,
    batch_size: Annotated[
        int | None, _model(help="With channels or sampled: nodes in a step.", show_default="1024")
    ] = None,
    fanout: Annotated[
        int | None, _model(help="With sampled: neighbours drawn in each layer.", show_default="10")
    ] = None,
    evaluate_every: Annotated[
        int | None,
        _model(help="With channels or sampled: epochs between evaluations.", show_default="1"),
    ] = None,
    option: Annotated[
        list[str] | None,
        _model(
            "--option",
            metavar="KEY=VALUE",
            help="Any option of the model; repeatable.",
            show_default=False,
        ),
    ] = None,
    inductive: Annotated[
        bool,
        typer.Option(
            "--inductive",
            help="With auto: only models that accept new nodes.",
            rich_help_panel=panels.MORE_SEARCH,
        ),
    ] = False,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit",
            help="With auto and --splits fixed: at the end, train on validation nodes too.",
            rich_help_panel=panels.MORE_SEARCH,
        ),
    ] = False,
    seed: Seed = 0,
    workers: Workers = None,
    device: Annotated[
        str, typer.Option(help="cpu or cuda.", rich_help_panel=panels.MORE_RUNS)
    ] = "cpu",
    engine: Engine = AUTO,
    store: StoreOption = None,
    executor: ExecutorOption = "local",
) -> None:
    """Train a model on many splits of a graph and print its accuracy; with --out, keep it.

    auto diagnoses the graph, searches models and settings for --minutes, and trains an ensemble.
    Every training is kept in the store: Ctrl-C reports what is finished, and the same command goes
    on from there.
    """
    config = _given(
        lr=lr, weight_decay=weight_decay, max_epochs=max_epochs, class_weight=class_weight
    )
    options = _given(dropout=dropout, hidden=hidden, layers=layers) | _parsed(option or [])
    if out is not None:
        from heterophily.prediction.folder import check_target

        check_target(out, overwrite=overwrite)
    in_batches = _given(batch_size=batch_size, fanout=fanout, evaluate_every=evaluate_every)
    if model == AUTO:
        from heterophily.cli.auto import train_auto

        chosen = {**options, **_given(lr=lr, weight_decay=weight_decay, preset=preset)}
        chosen |= _given(config=settings, repeats=repeats)
        if chosen:
            raise InputError(
                f"auto chooses {next(iter(chosen))} itself; leave it out, or name a model"
            )
        if device != "cpu":
            raise InputError(f"--device {device}: auto runs on the CPU; name a model to use a GPU")
        if too_large_for_auto(graph):
            from heterophily.cli.auto_disk import train_auto_on_disk

            if inductive or refit or splits not in (None, "random"):
                raise InputError(
                    "auto on a graph that memory cannot hold takes one random split; leave out "
                    "--splits, --refit and --inductive"
                )
            train_auto_on_disk(
                graph,
                out=out,
                overwrite=overwrite,
                as_json=json,
                store=store,
                executor=executor,
                how={**_given(minutes=minutes, score=score), "seed": seed},
                config={**config, **in_batches},
            )
            return
        train_auto(
            graph,
            splits=splits or "random",
            out=out,
            overwrite=overwrite,
            as_json=json,
            all_columns=all_columns,
            store=store,
            executor=None if executor == "local" else executor,
            how={
                **_given(minutes=minutes, score=score),
                "seed": seed,
                "inductive": inductive,
                "refit": refit,
                "workers": workers,
                "engine": engine,
                "config": config,
            },
        )
        return
    for_auto = _given(
        minutes=minutes, score=score, inductive=inductive or None, refit=refit or None
    )
    if for_auto:
        raise InputError(f"--{next(iter(for_auto))} is for heterophily train auto, not for {model}")
    from dataclasses import replace

    from heterophily.comparison import train as training
    from heterophily.evaluation.split_rules import default_rule, number_of_runs, splits_of
    from heterophily.models.catalog import MODELS
    from heterophily.prediction import build
    from heterophily.runs.executors.choose import executor_of
    from heterophily.runs.model import spec_with
    from heterophily.runs.stores.url import open_store
    from heterophily.training.interrupts import terminated_like_interrupted
    from heterophily.training.progress import progress_bar

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
    _check_steps(model, _given(lr=lr, weight_decay=weight_decay))
    # The tables print settings that some models have no use for.
    options = {key: v for key, v in recipe.options.items() if spec.accepts(key)} | options
    chosen_way = choose_batches(
        opened, spec_with(model, options), asked=batches, numbers=in_batches, config=config
    )
    opened = chosen_way.graph
    if chosen_way.is_on_disk:
        repeats, workers = repeats or 1, workers or 1
        print(chosen_way.sentence(model), file=sys.stderr)
    elif not json and not is_on_disk(graph):
        print_reading(graph, opened, all_columns=all_columns)
    trainer = recipe.config.replace(**chosen_way.config)
    batch = splits_of(
        opened,
        rule,
        repeats=repeats,
        seed=seed,
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
            seed=seed,
            options=options,
            config=trainer,
            device=device,
            engine=engine,
            progress=progress,
            store=kept_in,
            executor=executor_of(executor, workers, is_short=True),
            rows_by_data=preset is None,
        )
    report = replace(report, split_rule=rule)
    network = build.network_of(report, options, trainer)
    calibrated = build.calibrate_report(report)
    if out is not None:
        from heterophily.prediction.folder import save_model

        kept = build.model_of_report(
            report,
            network,
            calibrated,
            seed=seed,
            extra=disk_facts(opened) if is_on_disk(graph) else kept_facts(graph, opened),
        )
        save_model(out, kept, overwrite=overwrite)
    columns = [] if is_on_disk(graph) else columns_of(opened)
    _show(report, calibrated, recipe, out, columns, as_json=json)
    if report.results.interrupted:
        raise typer.Exit(ending.code)


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


def _step(model: str) -> str:
    """Return what a training of a model counts (``Card.step``)."""
    from heterophily.models.catalog import MODELS

    card = getattr(MODELS[model].network, "card", None)
    return "epoch" if card is None else str(card.step)


def _check_steps(model: str, given: Mapping[str, Any]) -> None:
    """Refuse a learning rate where nothing is learned by gradient steps."""
    from dataclasses import fields

    from heterophily.models.catalog import MODELS

    if given and _step(model) != "epoch":
        flag = next(iter(given)).replace("_", "-")
        own = ", ".join(field.name for field in fields(MODELS[model].options))
        raise InputError(
            f"--{flag} is for models that learn by gradient steps, {model} does not; "
            f"its settings are given as --option KEY=VALUE: {own}"
        )


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _parsed(pairs: list[str]) -> dict[str, Any]:
    """Turn ``key=value`` texts into options; values are read as TOML, else as plain words."""
    import tomllib

    options: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (equals and key.strip() and text.strip()):
            raise InputError(f"--option {pair!r}: write it as KEY=VALUE, for example mix_scale=3")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except (ValueError, RecursionError):  # no TOML: a plain word
            value = text.strip()
        options[key.strip().replace("-", "_")] = tuple(value) if isinstance(value, list) else value
    return options


def _show(
    report: TrainReport,
    calibrated: Calibrated,
    recipe: Recipe,
    out: Path | None,
    columns: list[dict[str, Any]],
    *,
    as_json: bool,
) -> None:
    data = report.to_dict() | report.evaluation.to_dict()
    data["hyperparameters"] |= recipe.graph
    data["scores"] |= calibrated.to_dict()
    data |= {"temperature": calibrated.temperature, "columns": columns}
    data["remarks"] = [*report.remarks, *report.evaluation.remarks]
    if out is not None:
        data["model_folder"] = str(out)
    if as_json:
        import json as json_module

        print(json_module.dumps(data))
    else:
        print(_text(report, data))
    for remark in data["remarks"]:
        print(f"note: {remark}", file=sys.stderr)


def _text(report: TrainReport, data: dict[str, Any]) -> str:
    """Return the report as lines for people; scores are fractions."""
    from heterophily.data.wording import count
    from heterophily.report.evaluation_text import evaluation_lines, plus_minus

    splits = count(len(report.results), f"{report.split_rule} split")
    lines = [
        f"{report.model} on {report.graph}, {splits}",
        *evaluation_lines(report.evaluation),
        "",
    ]

    def add(name: str, text: str) -> None:
        lines.append(f"  {name:<22} {text}")

    if data["published"] is not None:
        paper = data["published"]
        add(
            "published accuracy",
            f"{plus_minus(paper['mean'], paper['std'])}   "
            f"difference {paper['difference']:+.4f}   (table {paper['source']})",
        )
    spread = data["validation_accuracy"]
    several = len(spread["values"]) > 1
    add("validation accuracy", plus_minus(spread["mean"], spread["std"] if several else None))
    add("calibration error", calibration_text(data["scores"], data["temperature"]))
    step = _step(report.model)
    if step:
        add(f"{step}s", f"{data['epochs']:.1f} per split")
    add("time", f"{data['ms_per_epoch']:.2f} ms per {step or 'split'}")
    add("peak memory", f"{data['peak_memory_mb']:.0f} MB")
    chosen = data["hyperparameters"]
    add("hyper-parameters", "  ".join(f"{k}={chosen[k]}" for k in _shown(report.model, chosen)))
    if "model_folder" in data:
        add("model folder", data["model_folder"])
    return "\n".join(lines)


def _shown(model: str, chosen: Mapping[str, Any]) -> list[str]:
    """Return the settings that a reader wants to see; of trees and the like their own ones."""
    from dataclasses import fields

    from heterophily.models.catalog import MODELS

    names = ["lr", "weight_decay", "dropout", "hidden", "depth", "with_structure", "mix_scale"]
    if _step(model) != "epoch":
        names = [field.name for field in fields(MODELS[model].options)]
    return [name for name in names if name in chosen]


def calibration_text(scores: Mapping[str, Any], temperature: float) -> str:
    """Write the mean gap between probability and accuracy, before and after rescaling."""
    before, after = (
        scores[name]["mean"] for name in ("calibration-error", "calibration-error-scaled")
    )
    return (
        f"{before:.4f} (mean gap between probability and accuracy); {after:.4f} after rescaling "
        f"(temperature {temperature:.2f})"
    )
