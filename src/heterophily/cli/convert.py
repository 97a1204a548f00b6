"""``heterophily convert``: check a graph, say what is in it, write it in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heterophily.cli import panels, sources
from heterophily.cli.columns import AllColumns, columns_of, print_columns
from heterophily.cli.spread import spread
from heterophily.data.source import GraphSource


@spread
def convert(
    graph: GraphSource,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Write here: .npz, .graphml, .gexf, .disk (any size, read in place), or a folder "
            "(edges.csv, nodes.csv).",
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
    dtype: Annotated[
        str,
        typer.Option(
            help="With --out NAME.disk: type of the features, float32 or bfloat16.",
            rich_help_panel=panels.OUTPUT,
        ),
    ] = "float32",
    json: sources.Json = False,
    all_columns: AllColumns = False,
) -> None:
    """Check a graph, say what is in it and what was repaired; convert it with --out.

    With --recipe the options are written to a file, so that they need not be typed again. Tables
    that memory cannot hold become a graph on disk: --out NAME.disk. Run again, a conversion that
    was stopped goes on.
    """
    from heterophily.data.export import DISK, check_target, write_graph

    if out is not None:
        check_target(out)
        if out.suffix.lower() == DISK and graph.resolved().kind == "tables":
            from heterophily.cli.disk import convert_on_disk

            if recipe is not None:
                graph.write(recipe)
            convert_on_disk(graph.resolved(), out, dtype=dtype, as_json=json)
            return
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
