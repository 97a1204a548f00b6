"""Panels of the help pages: what most users need first, the rest under headings "More: ..."."""

from __future__ import annotations

import typer

DATA = "Data"
MODEL = "Model"
SEARCH = "Search"
OUTPUT = "Output"
MORE_DATA = "More: data"
MORE_MODEL = "More: model"
MORE_SEARCH = "More: search"
MORE_RUNS = "More: runs"


def show_help(context: typer.Context) -> None:
    """Show the help of a group of commands that is called without a command."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)
        raise typer.Exit
