"""``heterophily paper``: the tables of the paper, computed again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources, studies
from heterophily.cli.panels import show_help

if TYPE_CHECKING:
    from heterophily.metrics.reproduce import EstimateComparison, MetricComparison

app = typer.Typer(
    invoke_without_command=True,
    callback=show_help,
    help="Compute the tables and figures of the paper again.",
)

SYMBOLS = {
    "edge_homophily": "H_edge",
    "node_homophily": "H_node",
    "class_homophily": "H_class",
    "modified_aggregation_homophily": "H_agg^M",
    "aggregation_homophily": "H_agg",
    "aggregation_similarity": "S_agg(S(A,X))",
    "feature_similarity": "S_agg(S(I,X))",
    "diversification_distinguishability": "DD",
}
_VALUE_COLUMNS = ("metric", "dataset", "paper", "ours", "difference", "", "as written")
_ESTIMATE_COLUMNS = (
    "estimate",
    "dataset",
    "paper",
    "ours",
    "difference",
    "",
    "training labels only",
)


app.command("list")(studies.list_studies)
app.command("table")(studies.table)


@app.command("metrics")
def metrics(
    datasets: Annotated[
        str | None, typer.Option(help="Datasets of the paper, with commas between; default: all.")
    ] = None,
    data_folder: sources.DataFolder = None,
    estimates: Annotated[
        bool, typer.Option("--estimates", help="Also the estimates from training labels.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws of the estimates.")] = 0,
    json: sources.Json = False,
) -> None:
    """Print the paper's tables of metrics: our values, the paper's, and the formula as written.

    "ours" uses the variant behind each printed value (directed edges, loops kept, row-normalised
    features, ...); "as written" is the paper's formula on the undirected graph without loops.
    """
    from heterophily.metrics.reproduce import compare_estimates, compare_values

    names = None if datasets is None else [name.strip() for name in datasets.split(",")]
    values = list(compare_values(names, data_folder=data_folder))
    drawn = (
        list(compare_estimates(names, data_folder=data_folder, seed=seed)) if estimates else None
    )
    if json:
        _print_json(values, drawn)
        return
    _print_values(values)
    if drawn is not None:
        _print_estimates(drawn, seed)


@app.command("page")
def page(
    results: Annotated[Path, typer.Option(help="Folder of the records.")] = Path("results"),
    out: Annotated[Path | None, typer.Option(help="Write the page here.")] = None,
) -> None:
    """List every equation, table and figure of the paper: its command, and whether we agree."""
    from heterophily.data.atomic import write_text
    from heterophily.report.paper_page import paper_page

    text = paper_page(results)
    if out is None:
        print(text, end="")
    else:
        write_text(out, text)


def _print_values(values: Sequence[MetricComparison]) -> None:
    notes = list(dict.fromkeys(value.note for value in values if value.note))
    rows = []
    for value in _by_metric(values):
        mark = "=" if value.agrees else "differs"
        if value.note:
            mark += f" [{notes.index(value.note) + 1}]"
        rows.append(
            (
                SYMBOLS[value.metric],
                value.dataset,
                f"{value.published:.4f}",
                f"{value.ours:.4f}",
                f"{value.difference:+.5f}",
                mark,
                f"{value.as_written:.4f}",
            )
        )
    _print_table(_VALUE_COLUMNS, rows)
    print()
    for line in _summary(values):
        print(line)
    for number, note in enumerate(notes, start=1):
        print(f"[{number}] {note}.")


def _print_estimates(drawn: Sequence[EstimateComparison], seed: int) -> None:
    rows = [
        (
            SYMBOLS[cell.metric],
            cell.dataset,
            f"{cell.published_mean:.4f} ± {cell.published_std:.4f}",
            f"{cell.mean:.4f} ± {cell.std:.4f}",
            f"{cell.difference:+.4f}",
            "within" if cell.is_within_spread else "outside",
            f"{cell.training_only:.4f}",
        )
        for cell in _by_metric(drawn)
    ]
    print()
    _print_table(_ESTIMATE_COLUMNS, rows)
    within = sum(cell.is_within_spread for cell in drawn)
    print(
        f"\n{within} of {len(drawn)} estimates lie within the paper's spread (one printed standard "
        f"deviation; ten draws, seed {seed})."
    )
    for cell in drawn:
        if cell.note:
            print(f"- {cell.note}.")


def _by_metric(cells: Iterable[Any]) -> list[Any]:
    """Sort by metric, in the order of the paper; datasets keep theirs."""
    order = list(SYMBOLS)
    return sorted(cells, key=lambda cell: order.index(cell.metric))


def _summary(values: Sequence[MetricComparison]) -> list[str]:
    """Say how many values agree, for the groups of the two tables."""
    groups = {
        "H_edge, H_node, H_class": ("edge_homophily", "node_homophily", "class_homophily"),
        "H_agg, S_agg(S(A,X)), S_agg(S(I,X)), DD": (
            "aggregation_homophily",
            "aggregation_similarity",
            "feature_similarity",
            "diversification_distinguishability",
        ),
        "H_agg^M (from the rounded H_agg, as the paper prints it)": (
            "modified_aggregation_homophily",
        ),
    }
    lines = []
    for title, metrics in groups.items():
        chosen = [value for value in values if value.metric in metrics]
        if chosen:
            agree = sum(value.agrees for value in chosen)
            lines.append(f"{title}: {agree} of {len(chosen)} agree to 4 decimals (marked =).")
    return lines


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a rich table on a terminal, plain aligned columns elsewhere."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if console.is_terminal:
        table = Table()
        for number, column in enumerate(columns):
            table.add_column(column, justify="left" if number in (0, 1, 5) else "right")
        for number, row in enumerate(rows):
            is_last = number + 1 == len(rows) or rows[number + 1][0] != row[0]
            table.add_row(*row, end_section=is_last)
        console.print(table)
        return
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, *rows):
        cells = (text.ljust(width) for text, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _print_json(
    values: Sequence[MetricComparison], drawn: Sequence[EstimateComparison] | None
) -> None:
    import json
    from dataclasses import asdict

    result: dict[str, Any] = {
        "values": [
            {**asdict(value), "difference": value.difference, "agrees": value.agrees}
            for value in values
        ],
        "agree": sum(value.agrees for value in values),
        "of": len(values),
    }
    if drawn is not None:
        result["estimates"] = [
            {
                **asdict(cell),
                "difference": cell.difference,
                "is_within_spread": cell.is_within_spread,
                "note": cell.note,
            }
            for cell in drawn
        ]
    print(json.dumps(result, indent=2))
