"""How alike the features of one class are, counted by an engine from class sums.

The algebra is that of :mod:`heterophily.metrics.class_means`: with class sums G (C x F) the sums of
S over classes are Â (X Gᵀ), so the joins with edges carry C columns, not F.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.warehouse.connect import forget, load_ibis
from heterophily.data.warehouse.features import EngineFeatures, balanced
from heterophily.errors import UndefinedError
from heterophily.metrics.class_means import _WIDE
from heterophily.metrics.collect.relational import MOST_SUMS, of_class, sums_by_class
from heterophily.metrics.consistency import FEATURE_TOLERANCE
from heterophily.metrics.statistics import SimilarityCounts

MOST_TERMS = 20_000  # of the products that one query multiplies out

Floats = NDArray[np.float64]


def similarity_counts(
    features: EngineFeatures, sizes: NDArray[np.int64]
) -> SimilarityCounts | UndefinedError:
    """Count the nodes of S_agg(ÂX), S_agg(X) and DD, or return why they are undefined."""
    graph = features.graph
    name, classes = f"similarities of {graph.name!r}", graph.num_classes
    if not features.sums.filled.any():
        return UndefinedError(name, "the features of all labelled nodes are zero")
    if 2 * classes * features.width > MOST_TERMS:
        return UndefinedError(
            name,
            f"{features.width} features times {classes} classes are too many for queries; name "
            "fewer columns with --features",
        )
    spread = graph.kept(_spread(features), "spreading classes over neighbours")
    aggregated, own = _class_sums(features, spread)
    forget(graph.connection, spread)
    dots = graph.kept(_dots(features, aggregated, own), "products with class sums")
    table = graph.kept(_affinities(features, dots), "sums over neighbours")
    forget(graph.connection, dots)
    found = _counts(features, table, sizes)
    forget(graph.connection, table)
    return found


def _spread(features: EngineFeatures) -> Any:
    """Âᵀ Z of every node: columns a0, a1, ..., and z0, z1, ... for its own class."""
    graph, ibis = features.graph, load_ibis()
    nodes = graph.counted.select("id", "y", weight=1.0 / (graph.counted.d + 1).cast("float64"))
    near = graph.neighbours
    there = near.join(nodes, near.v == nodes.id)
    classes = range(graph.num_classes)
    sums = there.group_by("u").agg(
        **{f"a{k}": there.weight.sum(where=there.y == k).fill_null(0.0) for k in classes}
    )
    both = nodes.left_join(sums, nodes.id == sums.u)
    own = {k: ibis.cases((both.y == k, 1.0), else_=0.0) for k in classes}
    return both.select(
        "id",
        **{f"a{k}": both[f"a{k}"].fill_null(0.0) + own[k] * both.weight for k in classes},
        **{f"z{k}": own[k] for k in classes},
    )


def _class_sums(features: EngineFeatures, spread: Any) -> tuple[Floats, Floats]:
    """Return (Âᵀ Z)ᵀ X and Zᵀ X, (C, F) each."""
    classes = features.graph.num_classes
    table = spread.join(features.of(features.columns), "id")
    names = [
        (letter, k, j) for j in range(features.width) for k in range(classes) for letter in "az"
    ]
    found = {letter: np.zeros((classes, features.width)) for letter in "az"}
    for at in range(0, len(names), MOST_SUMS):
        part = names[at : at + MOST_SUMS]
        asked = {
            f"{letter}{k}_{j}": (table[f"{letter}{k}"] * table[f"f{j}"]).sum()
            for letter, k, j in part
        }
        row = features.graph.one(table.agg(**asked), "class sums of features")
        for letter, k, j in part:
            found[letter][k, j] = float(row[f"{letter}{k}_{j}"])
    return found["a"], found["z"]


def _dots(features: EngineFeatures, aggregated: Floats, own: Floats) -> Any:
    """X Gᵀ of every node for both class sums, and the length of its features."""
    table, columns = features.of(features.columns), range(features.width)

    def dot(row: Floats) -> Any:
        return balanced([table[f"f{j}"] * float(row[j]) for j in columns])

    squares = balanced([table[f"f{j}"] * table[f"f{j}"] for j in columns])
    return table.select(
        "id",
        length=squares.sqrt(),
        **{f"l{k}": dot(row) for k, row in enumerate(aggregated)},
        **{f"o{k}": dot(row) for k, row in enumerate(own)},
    )


def _affinities(features: EngineFeatures, dots: Any) -> Any:
    """Sums of S over each class for labelled nodes: low (w), own (o) and high (h)."""
    graph = features.graph
    classes = range(graph.num_classes)
    columns = ["length", *(f"{letter}{k}" for letter in "lo" for k in classes)]
    near = graph.neighbours
    there = near.join(dots, near.u == dots.id)
    sums = there.group_by("v").agg(**{f"n_{name}": there[name].sum() for name in columns})
    nodes = graph.counted
    nodes = nodes.filter(nodes.y.notnull()).select("id", "y", "d")
    home = nodes.join(dots, "id")
    both = home.left_join(sums, home.id == sums.v)
    weight = 1.0 / (both.d + 1).cast("float64")
    low = {name: (both[f"n_{name}"].fill_null(0.0) + both[name]) * weight for name in columns}
    return both.select(
        "y",
        "length",
        around=low["length"],
        **{f"w{k}": low[f"l{k}"] for k in classes},
        **{f"o{k}": both[f"o{k}"] for k in classes},
        **{
            f"h{k}": (both[f"o{k}"] - both[f"l{k}"]) - (low[f"o{k}"] - low[f"l{k}"])
            for k in classes
        },
    )


def _counts(
    features: EngineFeatures, table: Any, sizes: NDArray[np.int64]
) -> SimilarityCounts | UndefinedError:
    graph = features.graph
    some = table.filter(table.length > 0.0)
    ends = graph.one(some.agg(low=some.length.min(), high=some.length.max()), "lengths of features")
    if ends["low"] is None or np.isnan(ends["low"]):
        return UndefinedError(
            f"similarities of {graph.name!r}", "the features of all labelled nodes are zero"
        )
    if ends["high"] > _WIDE * ends["low"]:
        return UndefinedError(
            f"similarities of {graph.name!r}",
            "rows of features differ in length by more than a factor of 100,000",
        )
    bounds = {"w": table.around, "o": table.length, "h": table.length + table.around}
    totals = sums_by_class(graph, table, {letter: bound.sum() for letter, bound in bounds.items()})
    asked: dict[str, Any] = {}
    for letter, bound in bounds.items():
        margin = bound * (FEATURE_TOLERANCE * float((totals[letter] / np.maximum(sizes, 1)).max()))
        same, other = _means(table, letter, sizes)
        if letter == "h":
            asked[letter] = table.count(where=(same >= -margin) & (other <= margin))
        else:
            asked[letter] = table.count(where=same - other >= -margin)
    row = graph.one(table.agg(**asked), "comparing features of classes")
    return SimilarityCounts(aggregated=int(row["w"]), raw=int(row["o"]), diversified=int(row["h"]))


def _means(table: Any, letter: str, sizes: NDArray[np.int64]) -> tuple[Any, Any]:
    """Mean of S over the node's own class, and over all other nodes."""
    classes, total = range(sizes.size), int(sizes.sum())
    same = [table[f"{letter}{k}"] / float(max(sizes[k], 1)) for k in classes]
    other = [
        balanced([table[f"{letter}{j}"] for j in classes if j != k])
        / float(max(total - sizes[k], 1))
        for k in classes
    ]
    return of_class(table.y, same), of_class(table.y, other)
