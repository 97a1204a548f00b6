"""How far the cells of a table agree with the paper's, when several protocols trained them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heterophily.paper.published_tables import published_table
from heterophily.statistics.ranks import rank_correlations

CellFacts = Mapping[str, Any]
PROTOCOLS = {
    "published": "with the paper's settings",
    "validated": "with settings chosen on validation data",
}


def agreement(tables: Sequence[Mapping[str, Any]]) -> str:
    """Say how far tables (as ``paper table --out FILE.json`` writes them) agree with the paper's.

    Cells of the first table count; the others fill in what it lacks, the earlier ones first. Cells
    of the first table that a later one has too are compared.
    """
    first, *others = tables
    own = complete_cells(first)
    cells = dict(own)
    counts = {PROTOCOLS[first["protocol"]]: len(cells)}
    twice: dict[tuple[str, str], CellFacts] = {}
    for table in others:
        for place, cell in complete_cells(table).items():
            if place in own:
                twice.setdefault(place, cell)
            elif place not in cells:
                cells[place] = cell
                name = PROTOCOLS[table["protocol"]]
                counts[name] = counts.get(name, 0) + 1
    rows = {row for table in tables for row in table["rows"]}
    printed = sum(row in rows for row, _ in published_table(first["study"]).cells)
    parts = [f"{count} {name}" for name, count in counts.items() if count]
    how = " and ".join(parts) if len(parts) > 1 else next(iter(counts))
    texts = [
        f"{len(cells)} of {printed} printed cells, {how}",
        *_deviations(list(cells.values())),
    ]
    orders = _orders(cells)
    if orders:
        texts.append(f"order (Spearman, mean over datasets) {np.mean(orders):.2f}")
    earlier = _earlier(list(cells.values()))
    if earlier:
        texts.append(f"{earlier} cells of earlier numerics")
    if twice:
        graphs = ", ".join(dict.fromkeys(name for _, name in twice))
        before = _mean_difference([own[place] for place in twice])
        texts.append(
            f"searched on their own too, {len(twice)} cells on {graphs}: "
            f"{', '.join(_deviations(list(twice.values())))} (with the paper's settings {before}"
            f"{_chosen_by_test(list(twice.values()))})"
        )
    return "; ".join(texts)


def complete_cells(table: Mapping[str, Any]) -> dict[tuple[str, str], CellFacts]:
    """Return the complete cells of a table that the paper prints, by row and dataset."""
    return {
        (cell["row"], cell["dataset"]): cell
        for cell in table["cells"]
        if cell["is_complete"] and cell["published"] is not None
    }


def _deviations(cells: Sequence[CellFacts]) -> list[str]:
    known = [cell for cell in cells if cell["published"]["std"] is not None]
    gaps = [abs(cell["difference"]) / cell["published"]["std"] for cell in known]
    one, two = (sum(gap <= times + 1e-9 for gap in gaps) for times in (1, 2))
    return [
        f"within one {one}, two {two} of {len(known)}",
        f"mean difference {_mean_difference(cells)} points",
    ]


def _mean_difference(cells: Sequence[CellFacts]) -> str:
    return f"{100 * np.mean([cell['difference'] for cell in cells]):+.2f}"


def _chosen_by_test(cells: Sequence[CellFacts]) -> str:
    """Say what the mean difference would be if settings were chosen on the test nodes."""
    gaps = [
        cell["by_test"]["mean"] - cell["published"]["mean"] for cell in cells if "by_test" in cell
    ]
    return f"; chosen on the test nodes {100 * np.mean(gaps):+.2f}" if gaps else ""


def _orders(cells: Mapping[tuple[str, str], CellFacts]) -> list[float]:
    """Return the rank correlation of ours and theirs by dataset, among the rows that both have."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    datasets = list(dict.fromkeys(name for _, name in cells))
    ours, theirs = (np.full((len(rows), len(datasets)), np.nan) for _ in range(2))
    for (row, name), cell in cells.items():
        place = rows.index(row), datasets.index(name)
        ours[place], theirs[place] = cell["mean"], cell["published"]["mean"]
    return [value for value in rank_correlations(ours, theirs) if value is not None]


def _earlier(cells: Sequence[CellFacts]) -> int:
    from heterophily.runs.run import NUMERICS

    today = {f"{engine} {version}" for engine, version in NUMERICS.items()}
    return sum(not set(cell.get("numerics") or ("unknown",)) <= today for cell in cells)
