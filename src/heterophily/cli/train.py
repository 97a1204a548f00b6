"""``heterophily train``: a model, a graph, many splits; accuracy beside the published one."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.experiments.presets import Recipe
    from heterophily.experiments.train_report import TrainReport
    from heterophily.prediction.build import Calibrated

ModelArgument = Annotated[
    str, typer.Argument(help="A model, spelled as in the paper: acm-gcn. Or auto: choose for me.")
]
_RULES = "random (60/20/20, every class in each part), fixed (of the data), paper-random, public"
Splits = Annotated[str, typer.Option(help=f"{_RULES}.")]
PresetSplits = Annotated[
    str | None,
    typer.Option(help=f"{_RULES} (default: random; with --preset, paper-random)."),
]
Repeats = Annotated[
    int | None,
    typer.Option(help="Number of runs [default: 10; with fixed splits, each split once]."),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="Any option of the model; repeatable."),
]
ScoreOption = Annotated[
    str,
    typer.Option(
        help="What is compared: accuracy, balanced-accuracy, macro-f1, roc-auc, average-precision; "
        "auto: by the sizes of the classes."
    ),
]
AUTO = "auto"


def train(
    model: ModelArgument,
    graph: sources.GraphArgument = None,
    splits: PresetSplits = None,
    repeats: Repeats = None,
    seed: Annotated[int, typer.Option(help="Seed of splits, weights and dropout.")] = 0,
    preset: Annotated[
        str | None, typer.Option(help="paper: the published hyper-parameters and variant.")
    ] = None,
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None,
    weight_decay: Annotated[float | None, typer.Option(help="L2 penalty.")] = None,
    dropout: Annotated[float | None, typer.Option(help="Dropout rate.")] = None,
    hidden: Annotated[int | None, typer.Option(help="Width of hidden layers.")] = None,
    layers: Annotated[int | None, typer.Option(help="Number of layers.")] = None,
    max_epochs: Annotated[int | None, typer.Option(help="Limit on epochs.")] = None,
    class_weight: Annotated[
        str | None, typer.Option(help="none, or balanced: every class counts alike.")
    ] = None,
    option: Options = None,
    settings: Annotated[
        Path | None, typer.Option("--config", help="Settings that heterophily tune wrote.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(help="auto: time for the search [default: 3].")
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            help="auto: accuracy, balanced-accuracy, macro-f1, roc-auc or average-precision "
            "(default: by the sizes of the classes)."
        ),
    ] = None,
    inductive: Annotated[
        bool, typer.Option("--inductive", help="auto: only models that accept new nodes.")
    ] = False,
    refit: Annotated[
        bool,
        typer.Option("--refit", help="auto, --splits fixed: let validation nodes train too."),
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write a model folder, for predict.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing model folder.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="Worker processes [default: one per core].")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    engine: Annotated[
        str | None,
        typer.Option(help="auto (native where it can), native (C++) or torch [default: auto]."),
    ] = None,
    edges: sources.Edges = None,
    nodes: sources.Nodes = None,
    label: sources.Label = None,
    source: sources.Source = None,
    target: sources.Target = None,
    weight: sources.Weight = None,
    node_id: sources.NodeId = None,
    features: sources.Features = None,
    ignore: sources.Ignore = "",
    split: sources.SplitColumn = None,
    delimiter: sources.Delimiter = None,
    no_header: sources.NoHeader = False,
    directed: sources.KeepDirection = False,
    self_loops: sources.KeepLoops = False,
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    json: sources.Json = False,
) -> None:
    """Train a model on many splits of a graph and print its accuracy; with --out, keep it.

    auto diagnoses the graph, searches models and settings for --minutes, and trains an ensemble.
    Ctrl-C keeps what is finished.
    """
    read: dict[str, Any] = {
        "edges": edges,
        "nodes": nodes,
        "label": label,
        "source": source,
        "target": target,
        "weight": weight,
        "node_id": node_id,
        "features": features,
        "ignore": ignore,
        "split": split,
        "delimiter": delimiter,
        "has_header": not no_header,
        "keep_direction": directed,
        "keep_self_loops": self_loops,
    }
    where: dict[str, Any] = {"data_folder": data_folder, "offline": offline}
    config = _given(
        lr=lr, weight_decay=weight_decay, max_epochs=max_epochs, class_weight=class_weight
    )
    options = _given(dropout=dropout, hidden=hidden, layers=layers) | _parsed(option or [])
    if out is not None:
        from heterophily.prediction.folder import check_target

        check_target(out, overwrite=overwrite)
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
        train_auto(
            sources.open_source(graph, **read, **where),
            source=graph,
            read=read,
            splits=splits or "random",
            out=out,
            overwrite=overwrite,
            as_json=json,
            how={
                **_given(minutes=minutes, score=score),
                "seed": seed,
                "inductive": inductive,
                "refit": refit,
                "workers": workers,
                "engine": engine or AUTO,
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

    from heterophily.experiments import train as experiments
    from heterophily.experiments.split_rules import default_rule, number_of_runs, splits_of
    from heterophily.models.catalog import MODELS
    from heterophily.prediction import build
    from heterophily.training.progress import progress_bar

    if settings is not None:
        from heterophily.experiments.settings import read_settings

        found = read_settings(settings)
        if found.get("model", model) != model:
            raise InputError(f"--config {settings} is for the model {found['model']}, not {model}")
        options, config = found["options"] | options, found["config"] | config
    rule = splits or default_rule(preset)
    opened, recipe = _open(model, graph, rule, preset, read, where)
    spec = MODELS[model]
    # The tables print settings that some models have no use for.
    options = {key: v for key, v in recipe.options.items() if spec.accepts(key)} | options
    trainer = recipe.config.replace(**config)
    batch = splits_of(opened, rule, repeats=repeats, seed=seed, dataset=graph, **where)
    with progress_bar(f"{model} on {graph or 'your graph'}") as progress:
        report = experiments.train(
            model,
            opened,
            splits=batch if rule == "public" else rule,
            repeats=number_of_runs(rule, batch, repeats),
            seed=seed,
            options=options,
            config=trainer,
            workers=workers,
            device=device,
            engine=engine or "auto",
            progress=progress,
        )
    report = replace(report, split_rule=rule)
    network = build.network_of(report, options, trainer)
    calibrated = build.calibrate_report(report)
    if out is not None:
        from heterophily.cli.auto import reading
        from heterophily.prediction.folder import save_model

        extra = {"read": reading(read) | dict(recipe.graph)}
        kept = build.model_of_report(report, network, calibrated, seed=seed, extra=extra)
        save_model(out, kept, overwrite=overwrite)
    _show(report, calibrated, recipe, out, as_json=json)
    if report.results.interrupted:
        raise typer.Exit(130)


def _open(
    model: str,
    graph: str | None,
    splits: str,
    preset: str | None,
    read: dict[str, Any],
    where: dict[str, Any],
) -> tuple[Graph, Recipe]:
    """Open the graph; a preset also says how a catalog graph is read."""
    from heterophily.data.source import open_graph
    from heterophily.errors import lookup
    from heterophily.experiments.presets import Recipe, recipe
    from heterophily.experiments.split_rules import SPLIT_RULES

    lookup(SPLIT_RULES, "split rule", splits)
    if preset is None:
        return sources.open_source(graph, **read, **where), Recipe()
    if graph is None or read["edges"] is not None:
        raise InputError(f"--preset {preset} is for catalog names, not for your own files")
    for key, option in {"keep_direction": "--directed", "keep_self_loops": "--self-loops"}.items():
        if read[key]:
            raise InputError(f"--preset {preset} says how {graph} is read; leave {option} out")
    chosen = recipe(preset, model, graph, splits)
    return open_graph(graph, **where, **chosen.graph), chosen


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
    report: TrainReport, calibrated: Calibrated, recipe: Recipe, out: Path | None, *, as_json: bool
) -> None:
    data = report.to_dict() | report.evaluation.to_dict()
    data["hyperparameters"] |= recipe.graph
    data["scores"] |= calibrated.to_dict()
    data |= {"temperature": calibrated.temperature}
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
    from heterophily.report.evaluation_text import evaluation_lines, plus_minus

    lines = [
        f"{report.model} on {report.graph}, {len(report.results)} {report.split_rule} split(s)",
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
    add("validation accuracy", plus_minus(spread["mean"], spread["std"]))
    add("calibration error", calibration_text(data["scores"], data["temperature"]))
    add("epochs", f"{data['epochs']:.1f} per split")
    add("time", f"{data['ms_per_epoch']:.2f} ms per epoch")
    add("peak memory", f"{data['peak_memory_mb']:.0f} MB")
    chosen = data["hyperparameters"]
    shown = ("lr", "weight_decay", "dropout", "hidden", "depth", "with_structure", "mix_scale")
    add("hyper-parameters", "  ".join(f"{name}={chosen[name]}" for name in shown if name in chosen))
    if "model_folder" in data:
        add("model folder", data["model_folder"])
    return "\n".join(lines)


def calibration_text(scores: Mapping[str, Any], temperature: float) -> str:
    """Write both calibration errors."""
    before, after = (
        scores[name]["mean"] for name in ("calibration-error", "calibration-error-scaled")
    )
    return f"{before:.4f}, {after:.4f} with temperature {temperature:.2f}"
