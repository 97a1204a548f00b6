"""``heterophily data``: what there is, what a dataset declares, getting it, building one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli.panels import show_help

if TYPE_CHECKING:
    from rich.console import Console

app = typer.Typer(
    name="data",
    invoke_without_command=True,
    callback=show_help,
    help="Datasets: list, describe, fetch, build.",
)

DataFolder = Annotated[
    Path | None,
    typer.Option("--data-folder", help="Folder of .npz files to look in first.", metavar="DIR"),
]
FULL_WIDTH = 120  # of a terminal that shows the variants as well
AsJson = Annotated[bool, typer.Option("--json", help="Print data instead of text.")]


@app.command("list")
def list_datasets(data_folder: DataFolder = None, as_json: AsJson = False) -> None:
    """List all datasets and where each one is."""
    from heterophily.data.catalog import DATASETS

    rows = [_facts(name, data_folder) for name in DATASETS]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.table import Table

    console = _console()
    shows_variant = console.width >= FULL_WIDTH
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name", no_wrap=True)
    for column in ("nodes", "edges", "features", "classes", "splits"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("where", no_wrap=True)
    if shows_variant:
        table.add_column("variant")
    for row in rows:
        numbers = (f"{row[key]:,}" for key in ("nodes", "edges", "features", "classes"))
        splits = "+".join(str(count) for count in row["splits"].values())
        variant = (row["variant"],) if shows_variant else ()
        table.add_row(row["name"], *numbers, splits, row["where"], *variant)
    console.print(table)
    if not shows_variant:
        console.print("heterophily data info NAME says which variant a dataset is.")


@app.command("info")
def info(
    name: Annotated[str, typer.Argument(help="Name of a dataset.")],
    data_folder: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Say what a dataset is, where it is and, if it is on this machine, what it holds."""
    from heterophily.data.catalog import load

    facts = _facts(name, data_folder)
    is_here = facts["where"] != "to download"
    report = load(name, data_folder=data_folder, offline=True).report if is_here else None
    if as_json:
        facts["report"] = None if report is None else report.to_dict()
        typer.echo(json.dumps(facts, indent=2))
        return
    typer.echo(facts["variant"])
    typer.echo(
        f"  declared  {facts['nodes']:,} nodes, {facts['edges']:,} edges, "
        f"{facts['features']:,} features, {facts['classes']} classes, "
        f"splits: {_splits_text(facts) or 'none'}"
    )
    typer.echo(f"  origin    {facts['origin']}")
    typer.echo(f"  where     {facts['where']}{': ' + facts['path'] if facts['path'] else ''}")
    typer.echo(f"  sha256    {facts['content_hash'] or 'not declared'}")
    typer.echo(f"To get it: heterophily data fetch {name}" if report is None else f"\n{report}")


@app.command("fetch")
def fetch(
    names: Annotated[list[str], typer.Argument(help="Names of datasets.", metavar="NAME...")],
    data_folder: DataFolder = None,
    offline: Annotated[bool, typer.Option("--offline", help="Never use the network.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make sure that datasets are on this machine and are the declared ones."""
    from heterophily.data.catalog import DATASETS, find, load
    from heterophily.errors import HeterophilyError, lookup

    for name in names:
        lookup(DATASETS, "dataset", name)  # a misspelt name costs no download
    outcomes = []
    for name in names:
        outcome: dict[str, Any] = {"name": name, "ok": True}
        try:
            graph = load(name, data_folder=data_folder, offline=offline, progress=not as_json)
            where, path = find(name, data_folder)
            outcome |= {"where": where, "path": None if path is None else str(path)}
            outcome["content_hash"] = graph.content_hash
            told = f"{graph.report.headline}  [{where}{'' if path is None else f': {path}'}]"
        except HeterophilyError as error:
            outcome |= {"ok": False, "error": str(error)}
            told = f"error: {error}"
        outcomes.append(outcome)
        if not as_json:
            typer.echo(told, err=not outcome["ok"])
    if as_json:
        typer.echo(json.dumps(outcomes, indent=2))
    if not all(outcome["ok"] for outcome in outcomes):
        raise typer.Exit(2)


@app.command("build")
def build(
    kind: Annotated[str, typer.Argument(help="What to build: debian.")],
    file: Annotated[
        Path, typer.Argument(help="The source: a Packages file (plain, .xz, .gz or .bz2).")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write; by default KIND.npz here.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build a graph from a public file that changes every day.

    debian: packages that name each other, from https://deb.debian.org/debian/dists/stable/main/
    binary-amd64/Packages.xz; five types of edges, words of the description, the section as label.
    """
    from heterophily.data.npz import write_pieces
    from heterophily.data.readers.debian import read_debian
    from heterophily.errors import InputError, lookup

    pieces = lookup({"debian": read_debian}, "graph to build", kind)(file)
    target = out or Path(f"{kind}.npz")
    if target.suffix != ".npz":
        raise InputError(f"--out {target}: the name of the file ends in .npz")
    graph = pieces.graph(direction="keep")
    write_pieces(pieces, target)
    if as_json:
        typer.echo(json.dumps({"file": str(target), "report": graph.report.to_dict()}, indent=2))
        return
    typer.echo(f"{graph.report}\nwritten to {target}; next: heterophily diagnose {target}")


def _facts(name: str, data_folder: Path | None) -> dict[str, Any]:
    """Return what a dataset declares and where it is, as plain data."""
    from heterophily.data.catalog import DATASETS, find
    from heterophily.errors import lookup

    dataset = lookup(DATASETS, "dataset", name)
    where, path = find(name, data_folder)
    return {
        "name": name,
        "nodes": dataset.nodes,
        "edges": dataset.edges,
        "features": dataset.features,
        "classes": dataset.classes,
        "splits": dict(dataset.splits),
        "where": where,
        "path": None if path is None else str(path),
        "variant": dataset.variant,
        "origin": dataset.origin,
        "content_hash": dataset.content_hash,
        "files": [list(file.urls) for file in dataset.source.files] if dataset.source else [],
    }


def _splits_text(facts: dict[str, Any]) -> str:
    return " + ".join(f"{count} {key}" for key, count in facts["splits"].items())


def _console() -> Console:
    """Return a console as wide as the terminal; elsewhere nothing is folded."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=1000)
