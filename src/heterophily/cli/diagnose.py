"""``heterophily diagnose``: is my heterophily harmful, and what should I run?"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console


def diagnose(
    graph: sources.GraphArgument = None,
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
    quick: Annotated[
        bool, typer.Option("--quick", help="Linear classifiers only, on at most 2,000 nodes.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the probe's folds.")] = 0,
    report: Annotated[
        Path | None, typer.Option(help="Write the page here.", show_default="NAME-diagnosis.html")
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no page.")] = False,
    json: sources.Json = False,
) -> None:
    """Say whether the heterophily of a graph is harmful: verdict, metrics, probe, what to run."""
    if report is not None and no_report:
        raise InputError("--report and --no-report contradict each other; pass one of them")
    named: dict[str, Any] = {
        "--edges": edges,
        "--nodes": nodes,
        "--label": label,
        "--source": source,
        "--target": target,
        "--weight": weight,
        "--id": node_id,
        "--features": features,
        "--ignore": ignore or None,
        "--split": split,
        "--delimiter": delimiter,
        "--no-header": no_header,
        "--directed": directed,
        "--self-loops": self_loops,
        "--data-folder": data_folder,
        "--offline": offline,
    }
    opened = sources.open_source(
        graph,
        edges=edges,
        nodes=nodes,
        label=label,
        source=source,
        target=target,
        weight=weight,
        node_id=node_id,
        features=features,
        ignore=ignore,
        split=split,
        delimiter=delimiter,
        has_header=not no_header,
        keep_direction=directed,
        keep_self_loops=self_loops,
        data_folder=data_folder,
        offline=offline,
    )
    from heterophily.diagnosis.diagnose import diagnose as run
    from heterophily.diagnosis.diagnose import safe_name

    found = run(opened, quick=quick, seed=seed, source=_arguments(graph, named))
    if report is None and not (no_report or json):
        report = Path(f"{safe_name(opened.name)}-diagnosis.html")
    if report is not None:
        found.write_html(report)
    if json:
        import json as json_module

        print(json_module.dumps(found.to_dict(), allow_nan=False))
        return
    console = wide_console()
    console.print(found, crop=False)
    if report is not None:
        console.print(f"Report: {report}", markup=False, highlight=False, soft_wrap=True)


def _arguments(graph: str | None, named: dict[str, Any]) -> str:
    """Return the words by which the command line named the graph, ready to be pasted."""
    words = [] if graph is None else [graph]
    for option, value in named.items():
        if value is True:
            words.append(option)
        elif value not in (None, False):
            words += [option, str(value)]
    return shlex.join(words)


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
