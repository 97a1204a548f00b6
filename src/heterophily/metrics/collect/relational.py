"""Statistics from tables in an engine: one pass over the edges, then sums by class.

Only numbers by class travel: C x C of them, and C x C x C for the metrics of neighbourhoods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.warehouse.connect import load_ibis
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.metrics.collect.blocks import mean_gaps
from heterophily.metrics.consistency import LABEL_TOLERANCE
from heterophily.metrics.statistics import LabelStatistics, NeighbourhoodSums
from heterophily.native.edges import EdgeTotals

MOST_SUMS = 400  # of one query

Floats = NDArray[np.float64]


def relational_statistics(graph: WarehouseGraph) -> LabelStatistics:
    """Let the engine count a graph; the same numbers as in memory."""
    num_classes, table = graph.num_classes, graph.counted
    labelled = with_shares(table.filter(table.y.notnull()), num_classes)
    sums = sums_by_class(graph, labelled, _first_sums(labelled, num_classes))
    sizes, nodes = (sums[name].astype(np.int64) for name in ("size", "nodes"))
    means = _stacked(sums, "s", num_classes) / np.maximum(nodes, 1)[:, None]
    gap = mean_gaps(_stacked(sums, "m", num_classes), sizes)
    second = sums_by_class(graph, labelled, _second_sums(labelled, gap, means))
    spreads = np.sqrt(_stacked(second, "q", num_classes) / np.maximum(nodes, 1)[:, None])
    grams = np.zeros((num_classes,) * 3)
    for i in range(num_classes):
        for j in range(i + 1):
            grams[:, i, j] = grams[:, j, i] = sums[f"g{i}_{j}"]
    facts = graph.one(_walks(table, num_classes), "counting walks")
    returning = float(sums["degree"].sum())
    walks = float(facts["matching"]) - returning, float(facts["walks"]) - returning
    return LabelStatistics(
        name=graph.name,
        is_directed=graph.is_directed,
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges,
        class_names=graph.class_names,
        sizes=sizes,
        totals=EdgeTotals(
            _stacked(sums, "c", num_classes),
            np.zeros(num_classes),
            np.array([sums["own"].sum(), nodes.sum()]),
        ),
        neighbourhoods=NeighbourhoodSums(
            nodes=nodes, grams=grams, units=_stacked(sums, "e", num_classes), spreads=spreads
        ),
        consistent=(int(second["consistent"].sum()), int(sizes.sum())),
        isolated=int(facts["isolated"]),
        walks=None if graph.is_directed else walks,
    )


def with_shares(table: Any, num_classes: int) -> Any:
    """Add to counted nodes: labelled neighbours, the shares s of the classes, their length."""
    known = sum((table[f"c{k}"] for k in range(1, num_classes)), table["c0"])
    table = table.mutate(known=known)
    least = load_ibis().greatest(table.known, 1).cast("float64")
    table = table.mutate(
        **{f"s{k}": table[f"c{k}"].cast("float64") / least for k in range(num_classes)}
    )
    squares = [table[f"s{k}"] * table[f"s{k}"] for k in range(num_classes)]
    return table.mutate(length=sum(squares[1:], squares[0]).sqrt())


def _first_sums(rows: Any, num_classes: int) -> dict[str, Any]:
    ibis = load_ibis()
    has, weight = rows.known > 0, 1.0 / (rows.d + 1).cast("float64")
    length = ibis.cases((has, rows.length), else_=1.0)
    found = {
        "size": rows.count(),
        "nodes": rows.count(where=has),
        "degree": rows.d.sum(),
        "own": of_class(rows.y, [rows[f"s{k}"] for k in range(num_classes)]).sum(),
    }
    for k in range(num_classes):
        is_own = ibis.cases((rows.y == k, 1), else_=0)
        found[f"c{k}"] = rows[f"c{k}"].sum()
        found[f"m{k}"] = ((rows[f"c{k}"] + is_own).cast("float64") * weight).sum()
        found[f"s{k}"] = rows[f"s{k}"].sum()
        found[f"e{k}"] = (rows[f"s{k}"] / length).sum()
        for j in range(k + 1):
            found[f"g{k}_{j}"] = (rows[f"s{k}"] * rows[f"s{j}"]).sum()
    return found


def _second_sums(rows: Any, gap: Floats, means: Floats) -> dict[str, Any]:
    """Nodes that aggregation homophily counts, and squares of differences to the mean share."""
    classes = range(gap.shape[0])
    margin = of_class(
        rows.y,
        [
            sum((rows[f"c{j}"] * float(gap[k, j]) for j in classes), float(gap[k, k]))
            for k in classes
        ],
    ) / (rows.d + 1).cast("float64")
    found = {"consistent": rows.count(where=margin >= -LABEL_TOLERANCE)}
    for j in classes:
        away = rows[f"s{j}"] - of_class(rows.y, [float(means[k, j]) for k in classes])
        found[f"q{j}"] = (away * away).sum(where=rows.known > 0)
    return found


def of_class(column: Any, values: Sequence[Any]) -> Any:
    """Return the expression that has the k-th value where the class is k."""
    ibis = load_ibis()
    return ibis.cases(*((column == k, value) for k, value in enumerate(values)), else_=0.0)


def _walks(table: Any, num_classes: int) -> Any:
    """Walks of two edges by the node in between, labelled or not, and nodes without edges."""
    counts = [table[f"c{k}"].cast("float64") for k in range(num_classes)]
    known = sum(counts[1:], counts[0])
    squares = [count * count for count in counts]
    return table.agg(
        walks=(known * known).sum(),
        matching=sum(squares[1:], squares[0]).sum(),
        isolated=table.count(where=table.d == 0),
    )


def sums_by_class(
    graph: WarehouseGraph, rows: Any, sums: Mapping[str, Any]
) -> dict[str, NDArray[Any]]:
    """Return sums over the nodes of each class, (C,) each; several queries if there are many."""
    names, found = list(sums), dict[str, NDArray[Any]]()
    for at in range(0, len(names), MOST_SUMS):
        part = {name: sums[name] for name in names[at : at + MOST_SUMS]}
        table = graph.ask(rows.group_by("y").agg(**part), "sums over classes")
        place = table["y"].astype(np.int64)
        for name in part:
            values = np.zeros(graph.num_classes, np.float64)
            values[place] = table[name].astype(np.float64)
            found[name] = values
    return found


def _stacked(sums: Mapping[str, NDArray[Any]], letter: str, num_classes: int) -> Floats:
    return np.stack([sums[f"{letter}{k}"] for k in range(num_classes)], axis=1)
