"""``heterophily tune``: search a space on validation data, keep every run, write the best."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heterophily.cli import panels, sources
from heterophily.cli.spread import RunOptions, StoreOption, spread
from heterophily.cli.train_options import PresetSplits, ScoreOption
from heterophily.data.source import GraphSource
from heterophily.data.wording import count
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.search.tune import TuneResult

ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model, spelled as in the paper: acm-gcn.")
]
SpaceOption = Annotated[
    str,
    typer.Option("--space", help="paper, default, or a .toml file.", rich_help_panel=panels.SEARCH),
]
SearchOption = Annotated[
    str,
    typer.Option(
        help="grid (all of it) or adaptive (Optuna proposes).", rich_help_panel=panels.SEARCH
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Try at most this many settings.",
        show_default="the whole grid",
        rich_help_panel=panels.SEARCH,
    ),
]
Minutes = Annotated[
    float | None,
    typer.Option(
        help="Search at most this many minutes.",
        show_default="no limit",
        rich_help_panel=panels.SEARCH,
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(min=1, help="Number of splits.", show_default="10", rich_help_panel=panels.MODEL),
]


@spread
def tune(
    *,
    model: ModelArgument,
    graph: GraphSource,
    space: SpaceOption = "default",
    search: SearchOption = "grid",
    trials: Trials = None,
    minutes: Minutes = None,
    score: ScoreOption = "auto",
    splits: PresetSplits = None,
    repeats: Repeats = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Settings file.", show_default="MODEL-GRAPH.toml", rich_help_panel=panels.OUTPUT
        ),
    ] = None,
    json: sources.Json = False,
    preset: Annotated[
        str | None,
        typer.Option(
            help="paper: the behaviour of the released program, with the settings that are "
            "searched.",
            rich_help_panel=panels.MORE_MODEL,
        ),
    ] = None,
    dashboard: Annotated[
        Path | None,
        typer.Option(
            help="SQLite file for optuna-dashboard (adaptive).", rich_help_panel=panels.MORE_SEARCH
        ),
    ] = None,
    runs: RunOptions,
    store: StoreOption = None,
) -> None:
    """Find good hyper-parameters of a model. They are chosen by validation scores only.

    Every training is kept in the store: stop and repeat the command as you like.
    """
    from heterophily.cli.compare import safe
    from heterophily.runs.stores.url import open_store
    from heterophily.search.settings import write_settings
    from heterophily.search.tune import tune as run
    from heterophily.training.progress import progress_bar

    if model == "auto":
        raise InputError(
            "auto tunes the models that it chooses: run heterophily train auto "
            f"{graph.arguments()}, or name one model to tune"
        )
    source = sources.name_or_graph(graph)
    with open_store(store) as opened, progress_bar(f"tuning {model}") as progress:
        result = run(
            model,
            source,
            store=opened,
            space=space,
            search=search,
            trials=trials,
            minutes=minutes,
            splits=splits,
            repeats=repeats,
            seed=runs.seed,
            score=score,
            preset=preset,
            executor=runs.executor_here(),
            watch=None if progress is None else lambda done, total: progress(len(done), total),
            dashboard=dashboard,
            data_folder=graph.data_folder,
            offline=graph.offline,
            engine=runs.engine,
        )
    path = out or Path(f"{safe(model)}-{safe(result.graph)}.toml")
    write_settings(path, result.best.settings, model=model, graph=result.graph, why=_why(result))
    if json:
        import json as json_module

        print(json_module.dumps({**result.to_dict(), "written": str(path)}))
    else:
        _print(result, path)


def _why(result: TuneResult) -> str:
    from heterophily.evaluation.scores import SCORE_TITLES

    return (
        f"best of {len(result.trials)} settings ({result.search}) by mean validation "
        f"{SCORE_TITLES[result.score]} over "
        f"{count(len(result.best.validation), f'{result.splits} split')}: {result.best.mean:.4f}"
    )


def _print(result: TuneResult, path: Path) -> None:
    from heterophily.evaluation.scores import SCORE_TITLES
    from heterophily.report.evaluation_text import against_text, score_text

    stopped = sum(trial.is_hopeless for trial in result.trials)
    print(f"{result.model} on {result.graph}: {_why(result)}")
    for key, value in result.best.settings.items():
        print(f"  {key:<16} {value}")
    title = f"test {SCORE_TITLES[result.score]}"
    print(f"  {title:<16} {score_text(result.test, result.sizes)}; not used for the choice")
    for found in result.baselines:
        print(f"  {against_text(found)}")
    if stopped:
        print(f"  {count(stopped, 'setting')} far behind the best on three splits: ended early")
    print(f"wrote {path}")
    for remark in result.remarks:
        print(f"note: {remark}", file=sys.stderr)
