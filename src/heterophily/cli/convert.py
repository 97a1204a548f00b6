"""``heterophily convert``: check a graph, say what is in it, write it in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heterophily.cli import panels, sources
from heterophily.cli.columns import AllColumns, columns_of, print_columns
from heterophily.data.source import GraphSource


@sources.reads_graph
def convert(
    graph: GraphSource,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write here: .npz, .graphml, .gexf, or a folder (edges.csv, nodes.csv).",
            rich_help_panel=panels.OUTPUT,
        ),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(
            help="Write how the graph is read (.toml); every command takes this file as its GRAPH.",
            rich_help_panel=panels.OUTPUT,
        ),
    ] = None,
    json: sources.Json = False,
    all_columns: AllColumns = False,
) -> None:
    """Check a graph, say what is in it and what was repaired; convert it with --out.

    With --recipe the options are written to a file, so that they need not be typed again.
    """
    from heterophily.data.export import check_target, write_graph

    if out is not None:
        check_target(out)
    opened = graph.open()
    if recipe is not None:
        graph.write(recipe)
    written = [] if out is None else write_graph(opened, out)
    written += [] if recipe is None else [recipe]
    if json:
        import json as json_module

        data = {**opened.report.to_dict(), "columns": columns_of(opened)}
        print(json_module.dumps({**data, "written": [str(path) for path in written]}))
        return
    print(opened.report)
    print_columns(opened, all_columns=all_columns)
    for path in written:
        print(f"wrote {path}")
