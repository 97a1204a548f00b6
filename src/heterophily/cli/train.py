"""``heterophily train``: a model, a graph, many splits; accuracy beside the published one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.experiments.train_report import TrainReport

ModelArgument = Annotated[str, typer.Argument(help="A model, spelled as in the paper: acm-gcn.")]
Splits = Annotated[str, typer.Option(help="random (60/20/20), fixed (of the data) or public.")]
Repeats = Annotated[
    int | None,
    typer.Option(help="Number of runs [default: 10; with fixed splits, each split once]."),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="KEY=VALUE", help="Any option of the model; repeatable."),
]


def train(
    model: ModelArgument,
    graph: sources.GraphArgument = None,
    splits: Splits = "random",
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
    option: Options = None,
    settings: Annotated[
        Path | None, typer.Option("--config", help="Settings that heterophily tune wrote.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Worker processes [default: one per core].")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
    engine: Annotated[
        str, typer.Option(help="torch, native (C++, experimental) or auto.")
    ] = "torch",
    edges: sources.Edges = None,
    nodes: sources.Nodes = None,
    label: sources.Label = None,
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    json: sources.Json = False,
) -> None:
    """Train a model on many splits of a graph and print its accuracy.

    Ctrl-C keeps the splits that are finished.
    """
    from heterophily.experiments import train as experiments
    from heterophily.training.config import TrainConfig
    from heterophily.training.progress import progress_bar

    options = _given(dropout=dropout, hidden=hidden, layers=layers) | _parsed(option or [])
    config = _given(lr=lr, weight_decay=weight_decay, max_epochs=max_epochs)
    if settings is not None:
        from heterophily.experiments.settings import read_settings

        read = read_settings(settings)
        if read.get("model", model) != model:
            raise InputError(f"--config {settings} is for the model {read['model']}, not {model}")
        options, config = read["options"] | options, read["config"] | config
    how: dict[str, Any] = {
        "protocol": splits,
        "repeats": repeats,
        "seed": seed,
        "options": options,
        "workers": workers,
        "device": device,
        "engine": engine,
        "keep_state": False,
    }
    with progress_bar(f"{model} on {graph or 'your graph'}") as progress:
        how["progress"] = progress
        if edges is None and graph is not None and label is None and nodes is None:
            report = experiments.train_by_name(
                model,
                graph,
                preset=preset,
                config=config,
                data_folder=data_folder,
                offline=offline,
                **how,
            )
        else:
            if preset is not None:
                raise InputError(f"--preset {preset} is for catalog names, not for your own files")
            opened = sources.open_source(
                graph,
                edges=edges,
                nodes=nodes,
                label=label,
                data_folder=data_folder,
                offline=offline,
            )
            report = experiments.train(model, opened, config=TrainConfig(**config), **how)
    if json:
        import json as json_module

        print(json_module.dumps(report.to_dict()))
    else:
        print(_text(report))
    for remark in report.remarks:
        print(f"note: {remark}", file=sys.stderr)
    if report.results.interrupted:
        raise typer.Exit(130)


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
        except tomllib.TOMLDecodeError:
            value = text.strip()
        options[key.strip().replace("-", "_")] = tuple(value) if isinstance(value, list) else value
    return options


def _text(report: TrainReport) -> str:
    """Return the report as lines for people; accuracies are fractions."""
    data = report.to_dict()
    splits = len(report.results)
    lines = [f"{report.model} on {report.graph}, {splits} {report.protocol} split(s)"]
    for name in ("test_accuracy", "validation_accuracy"):
        spread = data[name]
        lines.append(f"  {name.replace('_', ' '):<20} {_plus_minus(spread['mean'], spread['std'])}")
    if data["published"] is not None:
        paper = data["published"]
        lines.append(
            f"  {'published':<20} {_plus_minus(paper['mean'], paper['std'])}   "
            f"difference {paper['difference']:+.4f}   (table {paper['source']})"
        )
    lines.append(f"  {'epochs':<20} {data['epochs']:.1f} per split")
    lines.append(f"  {'time':<20} {data['ms_per_epoch']:.2f} ms per epoch")
    lines.append(f"  {'peak memory':<20} {data['peak_memory_mb']:.0f} MB")
    chosen = data["hyperparameters"]
    shown = ("lr", "weight_decay", "dropout", "hidden", "depth", "with_structure", "mix_scale")
    values = "  ".join(f"{name}={chosen[name]}" for name in shown if name in chosen)
    lines.append(f"  {'hyper-parameters':<20} {values}")
    return "\n".join(lines)


def _plus_minus(mean: float, std: float | None) -> str:
    return f"{mean:.4f}" if std is None else f"{mean:.4f} ± {std:.4f}"
