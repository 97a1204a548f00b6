"""``heterophily diagnose``: is my heterophily harmful, and what should I run?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heterophily.cli import panels, sources
from heterophily.cli.columns import AllColumns, columns_of, print_columns
from heterophily.cli.spread import spread
from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


@spread
def diagnose(
    graph: GraphSource,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Faster: linear classifiers only, on at most 2,000 nodes.",
            rich_help_panel=panels.SEARCH,
        ),
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Of the probe's folds.", rich_help_panel=panels.SEARCH)
    ] = 0,
    connect: Annotated[
        str | None,
        typer.Option(
            help="Count in a database; --edges and --nodes are then names of its tables: "
            "duckdb:///FILE, postgresql://..., spark://HOST:PORT, or another URL of ibis.",
            show_default=False,
            rich_help_panel=panels.DATA,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Write the page here.",
            show_default="NAME-diagnosis.html",
            rich_help_panel=panels.OUTPUT,
        ),
    ] = None,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write no page.", rich_help_panel=panels.OUTPUT)
    ] = False,
    json: sources.Json = False,
    all_columns: AllColumns = False,
) -> None:
    """Say whether the graph helps or harms a model, how sure that is, and what to run next."""
    if report is not None and no_report:
        raise InputError("--report and --no-report contradict each other; pass one of them")
    from heterophily.cli.disk import with_possible_step
    from heterophily.cli.warehouse import diagnose_in_engine, diagnosed
    from heterophily.data.wording import safe_name
    from heterophily.diagnosis.diagnose import diagnose as run

    opened = found = None
    if connect is not None:
        found = diagnose_in_engine(graph, connect, quick=quick, seed=seed)
    else:
        opened, found = diagnosed(graph, quick=quick, seed=seed, as_json=json)
        if opened is None and found is None:
            return
    if opened is not None:
        if not json:
            print_columns(opened, all_columns=all_columns)
        found = run(opened, quick=quick, seed=seed, source=graph.arguments())
        found = with_possible_step(found, graph)
    assert found is not None
    if report is None and not (no_report or json):
        report = Path(f"{safe_name(found.report.name)}-diagnosis.html")
    if report is not None:
        found.write_html(report)
    if json:
        import json as json_module

        data = found.to_dict()
        data["graph"]["columns"] = None if opened is None else columns_of(opened)
        print(json_module.dumps(data, allow_nan=False))
        return
    console = wide_console()
    console.print(found, crop=False)
    if report is not None:
        console.print(f"Report: {report}", markup=False, highlight=False, soft_wrap=True)


def wide_console() -> Console:
    """Return a console that is wide enough for the tables when the output is not a terminal.

    Where the output cannot show a letter or a bar, a question mark takes its place.
    """
    import io
    import sys

    from rich.console import Console

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=100)
