"""``heterophily report``: everything about a graph in one HTML file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import panels
from heterophily.cli.spread import RunOptions, StoreOption, spread
from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.comparison.compare import Comparison
    from heterophily.comparison.portrait import Portrait
    from heterophily.data.graph import Graph
    from heterophily.runs.executors.base import Executor


@spread
def report(
    *,
    graph: GraphSource,
    models: Annotated[
        str | None,
        typer.Option(
            help="Train these models too, with commas between.", rich_help_panel=panels.MODEL
        ),
    ] = None,
    repeats: Annotated[
        int,
        typer.Option(min=1, help="With --models: number of splits.", rich_help_panel=panels.MODEL),
    ] = 5,
    splits: Annotated[
        str,
        typer.Option(
            help="With --models: random, fixed or paper-random.", rich_help_panel=panels.MODEL
        ),
    ] = "random",
    results: Annotated[
        list[Path] | None,
        typer.Option(
            help="Show results from this file of compare --out or train --json; repeatable.",
            rich_help_panel=panels.MODEL,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page.", show_default="NAME-report.html", rich_help_panel=panels.OUTPUT
        ),
    ] = None,
    no_maps: Annotated[
        bool,
        typer.Option("--no-maps", help="Leave out the t-SNE maps.", rich_help_panel=panels.OUTPUT),
    ] = False,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Faster diagnosis: linear classifiers on 2,000 nodes.",
            rich_help_panel=panels.OUTPUT,
        ),
    ] = False,
    map_nodes: Annotated[
        int,
        typer.Option(
            min=1,
            max=5000,
            help="Most nodes that the maps and the triangle of channels show.",
            rich_help_panel=panels.MORE_RUNS,
        ),
    ] = 2000,
    store: StoreOption = None,
    no_train: Annotated[
        bool,
        typer.Option(
            "--no-train",
            help="With --models: use finished runs only.",
            rich_help_panel=panels.MORE_RUNS,
        ),
    ] = False,
    max_epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Limit on epochs.", rich_help_panel=panels.MORE_RUNS),
    ] = None,
    runs: RunOptions,
) -> None:
    """Write one HTML file about a graph: its diagnosis and, with --models, trained models.

    Stop any time: trained models are kept, and the same command goes on.
    """
    if models is not None and results:
        raise InputError("--models and --results contradict each other; pass one of them")
    opened = graph.open()
    from heterophily.data.wording import safe_name
    from heterophily.diagnosis.diagnose import diagnose
    from heterophily.report.write import write_report

    words = graph.arguments()
    found = diagnose(opened, quick=quick, seed=runs.seed, source=words)
    name = safe_name(opened.name)
    out = out or Path(f"{name}-report.html")
    comparison: Any = None
    portraits: dict[str, list[Portrait]] | None = None
    if models is not None:
        from heterophily.cli.studies import names_of

        comparison, portraits = _trained(
            opened,
            names_of(models) or [],
            store,
            only_finished=no_train,
            executor=runs.executor_here(is_short=True),
            repeats=repeats,
            splits=splits,
            seed=runs.seed,
            engine=runs.engine,
            max_epochs=max_epochs,
        )
    elif results:
        from heterophily.report.results import read_results

        comparison = read_results(results, graph=opened.name)
    command = f"heterophily report {words} --seed {runs.seed}" + (" --quick" if quick else "")
    if models is not None:
        command += (
            f" --models {models} --repeats {repeats} --splits {splits} --engine {runs.engine}"
        )
        command += "" if max_epochs is None else f" --max-epochs {max_epochs}"
    command += "".join(f" --results {shlex.quote(str(path))}" for path in results or ())
    write_report(
        found,
        out,
        graph=opened,
        comparison=comparison,
        portraits=portraits,
        nodes=map_nodes,
        with_maps=not no_maps,
        command=command,
    )
    print(found.verdict.sentence)
    print(f"wrote {out}")


def _trained(
    graph: Graph,
    models: list[str],
    store: str | None,
    *,
    only_finished: bool,
    executor: Executor,
    **how: Any,
) -> tuple[Comparison, dict[str, list[Portrait]] | None]:
    """Train what is missing and compare; without training, finished runs must be somewhere."""
    from heterophily.comparison.compare_finished import compare_portraits, compare_stored
    from heterophily.comparison.portraits import MissingRunsError, portraits
    from heterophily.evaluation.split_rules import splits_of
    from heterophily.runs.stores.url import open_store
    from heterophily.training.progress import progress_bar

    names = list(dict.fromkeys(models))
    if not names:
        raise InputError("--models is empty; name models with commas between")
    with (
        open_store(store, must_exist=only_finished) as opened,
        progress_bar("training") as progress,
    ):
        try:
            found = portraits(
                graph,
                names,
                preset=None,
                only_finished=only_finished,
                store=opened,
                executor=executor,
                progress=progress,
                **how,
            )
        except MissingRunsError:  # records without what a portrait shows: compare them at least
            return compare_stored(graph, names, store=opened, **how), None
    drawn = splits_of(graph, how["splits"], repeats=how["repeats"], seed=how["seed"])
    count = len(next(iter(found.values())))
    used = [drawn[number % len(drawn)] for number in range(count)]
    return compare_portraits(found, graph=graph, splits=used), found
