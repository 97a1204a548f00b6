"""``heterophily models``: what there is to train, and what each costs on a graph."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
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
    """List the models and what each does; with --cost, how large and how expensive each is."""
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
        _print_json(
            [
                {"name": n, "does": c.does, "paper": c.paper, "cost": c.cost}
                for n, c in cards.items()
            ]
        )
        return
    for card in dict.fromkeys(cards.values()):
        alike = [name for name in cards if cards[name] == card]
        print(fill(", ".join(alike), 100))
        print(fill(card.does, 100, initial_indent="    ", subsequent_indent="    "))
    print("\nPapers, options and costs: docs/models.md. Costs on your graph: --cost GRAPH.")


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
        "Apart from the parameters, numbers are millions of floating-point operations of one "
        "forward pass with default options (matrix products only). The paper's formula counts "
        "every feature, the other columns only features that are not zero."
    )


def _millions(value: int) -> str:
    return f"{value / 1e6:,.2f}"


def _print_json(content: Any) -> None:
    import json

    print(json.dumps(content, indent=2))
