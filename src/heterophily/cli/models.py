"""``heterophily models``: what there is to train, and what each costs on a graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from heterophily.cli import sources


def models(
    cost: Annotated[
        str | None, typer.Option(metavar="GRAPH", help="Count what each costs on this graph.")
    ] = None,
    names: Annotated[
        str | None, typer.Option("--models", help="Only these, with commas between.")
    ] = None,
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    json: sources.Json = False,
) -> None:
    """List the models; with --cost, count their parameters and the operations of one pass."""
    from heterophily.cli.studies import names_of
    from heterophily.models.catalog import MODELS
    from heterophily.models.table import card_of

    chosen = names_of(names) or [name for name in MODELS if "[" not in name]
    specs = {name: MODELS[name] for name in chosen}  # unknown names are refused here
    if cost is not None:
        _print_costs(cost, specs, data_folder, offline=offline, json=json)
        return
    cards = {name: card_of(name.partition("[")[0]) for name in chosen}
    if json:
        _print_json([{"name": n, "paper": c.paper, "cost": c.cost} for n, c in cards.items()])
        return
    from heterophily.report.tables import plain

    rows = [[name, "", card.paper] for name, card in cards.items()]
    width = max(len(row[2]) for row in rows)
    print(plain(["model", "", "paper".ljust(width)], [[a, b, c.ljust(width)] for a, b, c in rows]))


def _print_costs(
    graph: str, specs: dict[str, Any], data_folder: Path | None, *, offline: bool, json: bool
) -> None:
    from dataclasses import asdict

    from heterophily.data.source import open_graph
    from heterophily.models.operations import model_cost
    from heterophily.report.tables import plain

    opened = open_graph(graph, data_folder=data_folder, offline=offline)
    found = {name: model_cost(spec, opened) for name, spec in specs.items()}
    if json:
        _print_json({name: None if c is None else asdict(c) for name, c in found.items()})
        return
    header = ["model", "parameters", "dense", "sparse", "together", "paper's formula"]
    rows = []
    for name, c in found.items():
        if c is None:
            rows.append([name, *["-"] * 5])
            continue
        numbers = (c.parameters, c.dense, c.sparse, c.dense + c.sparse)
        told = "-" if c.paper is None else _millions(c.paper)
        rows.append([name, f"{numbers[0]:,}", *(_millions(n) for n in numbers[1:]), told])
    print(plain(header, rows))
    print(
        f"\nOn {opened.name}: {opened.num_nodes:,} nodes, {opened.num_features:,} features. "
        "Millions of floating-point operations in the matrix products of one forward pass, default "
        "options. The paper's formula counts every feature, ours those that are not zero."
    )


def _millions(value: int) -> str:
    return f"{value / 1e6:,.2f}"


def _print_json(content: Any) -> None:
    import json

    print(json.dumps(content, indent=2))
