"""The options by which every verb receives a graph: a name, a file, or a pair of tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.adjacency import Direction, SelfLoops
    from heterophily.data.graph import Graph

GraphArgument = Annotated[
    str | None,
    typer.Argument(metavar="GRAPH", help="A catalog name, or a .npz, .graphml or .gexf file."),
]
Edges = Annotated[Path | None, typer.Option(help="Edge table: two id columns, optional weight.")]
Nodes = Annotated[Path | None, typer.Option(help="Node table: id, label, feature columns.")]
Label = Annotated[str | None, typer.Option(help="Column or attribute that holds the label.")]
Source = Annotated[str | None, typer.Option(help="Edge column: where the edge starts.")]
Target = Annotated[str | None, typer.Option(help="Edge column: where the edge ends.")]
Weight = Annotated[str | None, typer.Option(help="Edge column: weight.")]
NodeId = Annotated[str | None, typer.Option("--id", help="Node column: id.")]
Features = Annotated[str | None, typer.Option(help="Node columns to use as features: a,b,c.")]
Ignore = Annotated[str, typer.Option(help="Node columns to leave out: a,b,c.")]
SplitColumn = Annotated[str | None, typer.Option("--split", help="Node column: train/val/test.")]
Delimiter = Annotated[str | None, typer.Option(help="Column separator, if not the usual one.")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The tables have no header line.")]
KeepDirection = Annotated[bool, typer.Option("--directed", help="Keep the direction of edges.")]
KeepLoops = Annotated[bool, typer.Option("--self-loops", help="Keep self loops.")]
DataFolder = Annotated[
    Path | None,
    typer.Option(help="Folder with datasets (else HETEROPHILY_DATA, else the user cache)."),
]
Offline = Annotated[bool, typer.Option("--offline", help="Never download.")]
Json = Annotated[bool, typer.Option("--json", help="Print data instead of text.")]


def open_source(
    graph: str | None,
    *,
    edges: Path | None = None,
    nodes: Path | None = None,
    label: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    node_id: str | None = None,
    features: str | None = None,
    ignore: str = "",
    split: str | None = None,
    delimiter: str | None = None,
    has_header: bool = True,
    keep_direction: bool = False,
    keep_self_loops: bool = False,
    data_folder: Path | None = None,
    offline: bool = False,
) -> Graph:
    """Open what the command line names."""
    direction: Direction | None = "keep" if keep_direction else None
    self_loops: SelfLoops | None = "keep" if keep_self_loops else None
    if (graph is None) == (edges is None):
        raise InputError("name one graph: either GRAPH (a name or a file) or --edges with --nodes")
    if edges is None:
        if nodes is not None:
            raise InputError(f"--nodes {nodes} needs --edges: the table of edges")
        only_tables = {
            "--source": source,
            "--target": target,
            "--weight": weight,
            "--id": node_id,
            "--features": features,
            "--ignore": ignore,
            "--split": split,
            "--delimiter": delimiter,
            "--no-header": not has_header,
        }
        for option, value in only_tables.items():
            if value:
                raise InputError(f"{option} is for tables (--edges, --nodes), not for {graph}")
        from heterophily.data.source import open_graph

        assert graph is not None
        return open_graph(
            graph,
            data_folder=data_folder,
            offline=offline,
            direction=direction,
            self_loops=self_loops,
            label=label,
        )
    from heterophily.data.tables import read_tables

    return read_tables(
        edges,
        nodes,
        source=source,
        target=target,
        weight=weight,
        node_id=node_id,
        label=label,
        features=None if features is None else column_names(features),
        ignore=column_names(ignore),
        split=split,
        delimiter=delimiter_of(delimiter),
        has_header=has_header,
        direction=direction or "drop",
        self_loops=self_loops or "remove",
    )


def delimiter_of(text: str | None) -> str | None:
    """Return the character that a word for a delimiter stands for.

    >>> delimiter_of("tab"), delimiter_of(";")
    ('\\t', ';')
    """
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(text or "", text)


def column_names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas.

    >>> column_names("a, b,")
    ('a', 'b')
    """
    return tuple(name.strip() for name in text.split(",") if name.strip())
