"""``heterophily paper figure NAME``: every figure of the table that is drawn from records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.cli.spread import RunOptions, spread
from heterophily.errors import InputError
from heterophily.report.figures.catalog import FIGURES, Figure

Graphs = Annotated[
    list[str] | None,
    typer.Option("--graph", help="Name of a dataset or a file; repeat it for several panels."),
]
Models = Annotated[str | None, typer.Option(help="Models, with commas between.")]
Repeats = Annotated[int | None, typer.Option(min=1, help="Splits on which models are trained.")]
Splits = Annotated[
    str | None,
    typer.Option(help="Split rule.", show_default="paper-random; with --preset default, random"),
]
Preset = Annotated[
    str, typer.Option(help="paper, paper-as-written, or default: where settings come from.")
]
Nodes = Annotated[int, typer.Option(min=1, help="Draw at most this many nodes (up to 5,000).")]
Results = Annotated[
    list[Path] | None,
    typer.Option(help="For sota-bars: a file or folder of results of ours; repeatable."),
]
StoreFile = Annotated[
    Path | None,
    typer.Option(
        "--store", help="Where finished trainings are kept.", show_default="OUT/runs.sqlite"
    ),
]
NoTrain = Annotated[bool, typer.Option("--no-train", help="Draw from finished trainings only.")]
MaxEpochs = Annotated[int | None, typer.Option(min=1, help="Another limit on epochs.")]
Out = Annotated[Path, typer.Option(help="Folder for pictures and records.")]


def list_figures(json: sources.Json = False) -> None:
    """List the figures: what each draws, and where the paper has it."""
    if json:
        import json as json_module
        from dataclasses import asdict

        print(json_module.dumps({name: asdict(figure) for name, figure in FIGURES.items()}))
        return
    width = max(map(len, FIGURES))
    for name, figure in FIGURES.items():
        place = figure.place or "beyond the paper"
        print(f"{name:<{width}}  {figure.draws} ({place})")


def command_of(name: str, figure: Figure) -> Any:
    """Return the command function of a figure; all of them have the same options."""

    @spread
    def command(
        *,
        graph: Graphs = None,
        models: Models = None,
        repeats: Repeats = None,
        splits: Splits = None,
        preset: Preset = "paper",
        nodes: Nodes = 2000,
        results: Results = None,
        store: StoreFile = None,
        no_train: NoTrain = False,
        max_epochs: MaxEpochs = None,
        runs: RunOptions,
        out: Out = Path("figures"),
        data_folder: sources.DataFolder = None,
        offline: sources.Offline = False,
        json: sources.Json = False,
    ) -> None:
        from heterophily.report.figures.make import make_figure
        from heterophily.report.figures.request import Request
        from heterophily.training.progress import progress_bar

        with progress_bar(name) as progress:
            request = Request(
                graphs=tuple(graph or ()),
                models=_names(models),
                repeats=repeats or figure.repeats,
                splits=splits,
                preset=None if preset == "default" else _preset(preset),
                nodes=nodes,
                results=tuple(results or ()),
                store=store,
                only_finished=no_train,
                seed=runs.seed,
                max_epochs=max_epochs,
                engine=runs.engine,
                workers=runs.workers,
                executor=runs.executor,
                data_folder=data_folder,
                offline=offline,
                progress=progress,
            )
            made = make_figure(name, request, out=out)
        if json:
            import json as json_module

            files = [str(path) for path in made.files]
            print(json_module.dumps({**made.record, "alternative": made.alternative,
                                     "written": files}))  # fmt: skip
            return
        print(made.alternative)
        for path in made.files:
            print(f"wrote {path}")

    place = figure.place or "Beyond the paper"
    command.__doc__ = f"{figure.draws} {place}; {figure.records}."
    return command


def add_to(app: typer.Typer) -> None:
    """Add every figure with a module of its own to the group ``paper figure``."""
    app.command("list")(list_figures)
    for name, figure in FIGURES.items():
        if figure.module:
            app.command(name)(command_of(name, figure))


def _names(text: str | None) -> tuple[str, ...]:
    names = tuple(name.strip() for name in (text or "").split(",") if name.strip())
    if text is not None and not names:
        raise InputError("--models is empty; name models with commas between")
    return names


def _preset(name: str) -> str:
    from heterophily.errors import lookup
    from heterophily.paper.presets import PRESETS

    lookup({**PRESETS, "default": ()}, "preset", name)
    return name
