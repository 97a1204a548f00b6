"""``heterophily convert``: check a graph, say what is in it, write it in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heterophily.cli import sources


def convert(
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
    out: Annotated[
        Path | None,
        typer.Option(help="Write here: .npz, .graphml, .gexf, or a folder (edges.csv, nodes.csv)."),
    ] = None,
    json: sources.Json = False,
) -> None:
    """Check a graph file, say what is in it and what was repaired, and convert it with --out."""
    from heterophily.data.export import check_target, write_graph

    if out is not None:
        check_target(out)
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
    written = [] if out is None else write_graph(opened, out)
    if json:
        import json as json_module

        print(json_module.dumps({**opened.report.to_dict(), "written": [str(p) for p in written]}))
        return
    print(opened.report)
    for path in written:
        print(f"  wrote  {path}")
