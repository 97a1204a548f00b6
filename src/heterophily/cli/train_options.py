"""The options of ``heterophily train`` in groups, each of them one value."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from heterophily.cli import panels, sources
from heterophily.cli.columns import AllColumns
from heterophily.errors import InputError

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


def _search(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panels.SEARCH, **settings)


def _output(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panels.OUTPUT, **settings)


def _more_search(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panels.MORE_SEARCH, **settings)


@dataclass(frozen=True, slots=True)
class AutoOptions:
    """What only ``train auto`` takes; a named model refuses what is given here."""

    minutes: Annotated[
        float | None, _search(help="With auto: minutes for the search.", show_default="3")
    ] = None
    score: Annotated[
        str | None,
        _search(
            help=f"With auto: score that decides: {_SCORES}.",
            show_default="by the sizes of the classes",
        ),
    ] = None
    inductive: Annotated[
        bool, _more_search("--inductive", help="With auto: only models that accept new nodes.")
    ] = False
    refit: Annotated[
        bool,
        _more_search(
            "--refit",
            help="With auto and --splits fixed: at the end, train on validation nodes too.",
        ),
    ] = False

    def given(self) -> dict[str, Any]:
        """Return what was given."""
        return given(
            minutes=self.minutes,
            score=self.score,
            inductive=self.inductive or None,
            refit=self.refit or None,
        )


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Where a model goes, and what is printed."""

    out: Annotated[
        Path | None, _output(help="Save the model in this folder, for predict and explain.")
    ] = None
    overwrite: Annotated[bool, _output("--overwrite", help="Replace an existing model folder.")] = (
        False
    )
    json: sources.Json = False
    all_columns: AllColumns = False

    def check(self) -> None:
        """Refuse a folder that is taken, before anything is trained."""
        if self.out is not None:
            from heterophily.prediction.folder import check_target

            check_target(self.out, overwrite=self.overwrite)


@dataclass(frozen=True, slots=True)
class SettingOptions:
    """Settings of a model and of its training."""

    lr: Annotated[float | None, _model(help="Learning rate.")] = None
    weight_decay: Annotated[float | None, _model(help="L2 penalty.")] = None
    dropout: Annotated[float | None, _model(help="Dropout rate.")] = None
    hidden: Annotated[int | None, _model(help="Width of hidden layers.")] = None
    layers: Annotated[int | None, _model(help="Number of layers.")] = None
    max_epochs: Annotated[int | None, _model(help="Limit on epochs.")] = None
    class_weight: Annotated[
        str | None,
        _model(
            help="balanced: all classes count alike, whatever their size; none: all nodes count "
            "alike.",
            show_default="none",
        ),
    ] = None
    option: Annotated[
        list[str] | None,
        _model(
            "--option",
            metavar="KEY=VALUE",
            help="Any option of the model; repeatable.",
            show_default=False,
        ),
    ] = None

    @property
    def steps(self) -> dict[str, float]:
        """Those that only models with gradient steps have."""
        return given(lr=self.lr, weight_decay=self.weight_decay)

    @property
    def config(self) -> dict[str, Any]:
        """Those of the training."""
        return self.steps | given(max_epochs=self.max_epochs, class_weight=self.class_weight)

    @property
    def options(self) -> dict[str, Any]:
        """Those of the model."""
        plain = given(dropout=self.dropout, hidden=self.hidden, layers=self.layers)
        return plain | _parsed(self.option or [])


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """Full batches, or mini-batches."""

    batches: Annotated[
        str,
        typer.Option(
            help="Which nodes a training step uses: full (all), channels (some, with filtered "
            "features that are computed once), sampled (some, with some of their "
            "neighbours); auto: by size.",
            rich_help_panel=panels.MORE_MODEL,
        ),
    ] = AUTO
    batch_size: Annotated[
        int | None, _model(help="With channels or sampled: nodes in a step.", show_default="1024")
    ] = None
    fanout: Annotated[
        int | None, _model(help="With sampled: neighbours drawn in each layer.", show_default="10")
    ] = None
    evaluate_every: Annotated[
        int | None,
        _model(help="With channels or sampled: epochs between evaluations.", show_default="1"),
    ] = None

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that were given."""
        return given(
            batch_size=self.batch_size, fanout=self.fanout, evaluate_every=self.evaluate_every
        )


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
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
