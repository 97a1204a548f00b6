"""The options by which every command receives a graph, spelled once; their value is a GraphSource.

A command says ``graph: GraphSource`` and is decorated with :func:`heterophily.cli.spread.spread`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import panels
from heterophily.data.options import column_kinds, column_names
from heterophily.data.source import GraphSource

if TYPE_CHECKING:
    from heterophily.data.graph import Graph


def _more(*names: str, **settings: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panels.MORE_DATA, **settings)


DataFolder = Annotated[
    Path | None,
    _more(
        "--data-folder",
        help="Folder with datasets.",
        show_default="HETEROPHILY_DATA, else the user cache",
    ),
]
Offline = Annotated[bool, _more("--offline", help="Never download.")]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print data instead of text.", rich_help_panel=panels.OUTPUT),
]


def graph_source(
    *,
    graph: Annotated[
        str | None,
        typer.Argument(
            metavar="GRAPH",
            help="Name of a dataset (heterophily data list); a .npz, .graphml or .gexf file; a "
            ".disk folder; a .toml recipe that convert wrote; or a table of edges (then add "
            "--nodes).",
            show_default=False,
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="Table of edges, instead of GRAPH: .csv, .tsv, .txt or .parquet.",
            rich_help_panel=panels.DATA,
        ),
    ] = None,
    nodes: Annotated[
        Path | None,
        typer.Option(
            help="Table of nodes: ids, labels, and columns that become features.",
            rich_help_panel=panels.DATA,
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            help="Column of the label.",
            show_default="label, y, class, target or is_fraud",
            rich_help_panel=panels.DATA,
        ),
    ] = None,
    source: Annotated[str | None, _more(help="Edge column: where the edge starts.")] = None,
    target: Annotated[str | None, _more(help="Edge column: where the edge ends.")] = None,
    weight: Annotated[str | None, _more(help="Edge column: weight.")] = None,
    edge_type: Annotated[
        str | None, _more(help="Edge column: type of the edge; types are then kept apart.")
    ] = None,
    node_id: Annotated[str | None, _more("--id", help="Node column: id.")] = None,
    features: Annotated[
        str | None, _more(help="Node columns to use: a,b,c.", show_default="all others")
    ] = None,
    ignore: Annotated[str | None, _more(help="Columns to leave out: a,b,c.")] = None,
    unknown_ends: Annotated[
        str | None,
        _more(
            metavar="add|drop",
            help="If an edge leads to a node that --nodes does not have: add the node (without "
            "features and label), or drop the edge.",
            show_default="refused",
        ),
    ] = None,
    columns: Annotated[
        list[str] | None,
        _more(
            "--column",
            metavar="NAME=KIND",
            help="Kind of a column: number, count, category, boolean, date, text, raw or ignore; "
            "repeatable.",
            show_default="recognised",
        ),
    ] = None,
    split: Annotated[
        str | None,
        _more(help="Node column: train, val or test.", show_default="split, split_0, ..."),
    ] = None,
    no_encode: Annotated[
        bool, _more("--no-encode", help="All columns are numbers; leave them as they are.")
    ] = False,
    labels_are_classes: Annotated[
        bool,
        _more(
            "--labels-are-classes", help="Take labels as classes even if they look like numbers."
        ),
    ] = False,
    delimiter: Annotated[
        str | None, _more(help="Column separator: , ; tab space.", show_default="recognised")
    ] = None,
    header: Annotated[
        bool | None,
        _more(
            "--header/--no-header",
            help="Whether the first line of the tables has column names.",
            show_default="recognised",
        ),
    ] = None,
    directed: Annotated[
        bool | None,
        _more(
            "--directed/--undirected",
            help="Keep or drop the direction of edges.",
            show_default="undirected, unless the file says otherwise",
        ),
    ] = None,
    self_loops: Annotated[
        bool | None,
        _more(
            "--self-loops/--no-self-loops",
            help="Keep or remove self loops.",
            show_default="removed, unless the file says otherwise",
        ),
    ] = None,
    fill_unlabelled: Annotated[
        int | None, _more(help="Give unlabelled nodes of a dataset or .npz file this class.")
    ] = None,
    name: Annotated[
        str | None, _more(help="Name of the graph in the output.", show_default="by its file")
    ] = None,
    data_folder: DataFolder = None,
    offline: Offline = False,
    memory: Annotated[
        str | None,
        _more(
            help="Most memory that may be used, such as 4GB; a larger graph is refused.",
            show_default="HETEROPHILY_MEMORY, else 80 % of what is free",
        ),
    ] = None,
) -> GraphSource:
    """Return the graph that the words of a command line name."""
    return GraphSource(
        graph=graph,
        edges=None if edges is None else str(edges),
        nodes=None if nodes is None else str(nodes),
        label=label,
        source=source,
        target=target,
        weight=weight,
        edge_type=edge_type,
        node_id=node_id,
        split=split,
        features=None if features is None else column_names(features),
        ignore=column_names(ignore or ""),
        unknown_ends=unknown_ends or "refuse",  # type: ignore[arg-type]  # checked there
        columns=column_kinds(columns or []),
        encode=not no_encode,
        labels_are_classes=labels_are_classes,
        delimiter=delimiter,
        has_header=header,
        direction=None if directed is None else "keep" if directed else "drop",
        self_loops=None if self_loops is None else "keep" if self_loops else "remove",
        fill_unlabelled=fill_unlabelled,
        name=name,
        data_folder=None if data_folder is None else str(data_folder),
        offline=offline,
        memory=memory,
    )


def name_or_graph(source: GraphSource) -> str | Graph:
    """Return a name or file that worker processes can open themselves, else the graph."""
    if source.graph is not None and source.kind != "recipe":
        plain = GraphSource(
            graph=source.graph, data_folder=source.data_folder, offline=source.offline
        )
        if source == plain:
            return source.graph
    return source.open()
