"""What was recognised in a node table: a kind for each column, shown before anything is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import panels

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.data.source import GraphSource

SHOWN = 12
"""Columns that are printed unless all are asked for."""

LONGEST = 40
"""Letters of a name that are printed."""

AllColumns = Annotated[
    bool,
    typer.Option(
        "--all-columns",
        help="Show every column of the node table, however many there are.",
        rich_help_panel=panels.MORE_DATA,
    ),
]


def columns_of(graph: Graph) -> list[dict[str, Any]]:
    """Return name, kind, number of features and treatment of each column, as plain data."""
    from heterophily.data.encode.kinds import KINDS

    if graph.encoder is None:
        return []
    used = [
        {"name": column.name, "kind": column.kind, "features": len(column.feature_names)}
        for column in graph.encoder.columns
    ]
    left_out = [
        {"name": name, "kind": kind, "features": 0} for name, kind in graph.encoder.left_out
    ]
    return [{**facts, "treatment": KINDS[str(facts["kind"])]} for facts in used + left_out]


def column_lines(graph: Graph, *, all_columns: bool = False) -> list[str]:
    """Return the columns as lines for people; none if the graph has no node table of columns."""
    from heterophily.page.text import printable

    found = columns_of(graph)
    if not found or (graph.encoder is not None and graph.encoder.is_raw):
        return []
    shown = found if all_columns else found[:SHOWN]
    rows = [("column", "kind", "becomes")]
    for facts in shown:
        name = printable(facts["name"])
        name = name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
        count = facts["features"]
        told = f"{count} feature{'s' * (count != 1)}" if count else facts["treatment"]
        rows.append((name, facts["kind"], told))
    widths = [max(len(row[place]) for row in rows) for place in (0, 1)]
    lines = [f"  {row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}" for row in rows]
    if len(found) > len(shown):
        lines.append(f"  ... and {len(found) - len(shown)} more (--all-columns shows them)")
    lines.append("  --column NAME=KIND changes a kind, --ignore NAME leaves a column out.")
    return lines


def print_columns(graph: Graph, *, all_columns: bool = False) -> None:
    """Print how the columns of the node table were understood, if there is one."""
    lines = column_lines(graph, all_columns=all_columns)
    if lines:
        print("\n".join(["Columns of the node table:", *lines, ""]), flush=True)


def print_reading(source: GraphSource, graph: Graph, *, all_columns: bool = False) -> None:
    """Print what a graph of the user holds and how it was read; datasets are known."""
    if source.resolved().kind == "dataset":
        return
    print(graph.report, flush=True)
    print_columns(graph, all_columns=all_columns)
