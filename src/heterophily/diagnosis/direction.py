"""Does the direction of edges go with the labels? Linear classifiers, with it and without."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from heterophily.data.graph import Graph
from heterophily.diagnosis.linear import linear_scores
from heterophily.diagnosis.paired import Difference, difference, node_scores
from heterophily.diagnosis.probe import check_labels
from heterophily.diagnosis.probe_columns import FOLDS, QUICK_NODES, Floats, GraphColumns
from heterophily.errors import InputError
from heterophily.filters.direction import EdgeDirection, is_one_way, turned

COLUMNS = 64  # of each block, at most
SKETCHED_EDGES = 200_000  # three sketches are made, of edges each way
READINGS: Mapping[str, tuple[EdgeDirection, ...]] = {
    "given": ("given",),
    "reversed": ("reversed",),
    "apart": ("given", "reversed"),
}
"""Ways to read directed edges: messages along outgoing edges, along incoming ones, both apart."""


@dataclass(frozen=True, slots=True)
class DirectionSignal:
    """The best way to read directed edges, and its gain over edges that go both ways."""

    reading: str
    gain: Difference

    @property
    def tells(self) -> bool:
        """Whether the gain is a point or more, and not by chance."""
        return self.gain.is_better

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {"reading": self.reading, "tells": self.tells, "gain": self.gain.to_dict()}


def direction_signal(
    graph: Graph, *, seed: int = 0, max_nodes: int = QUICK_NODES
) -> DirectionSignal | None:
    """Compare classifiers that read edges one way, or both ways apart, with one that does not.

    All see own features, neighbours' features one and two edges away, which neighbours a node has
    and how many, and neighbours' labels of other folds. None: no edge is one-way, or labels are too
    few. Edges that all go from an earlier to a later row, or all back, are taken as undirected
    ones that were written once: then the direction follows from the order of the rows.
    """
    labelled = np.flatnonzero(graph.is_labelled)
    adjacency = graph.adjacency
    if not (graph.is_directed and is_one_way(adjacency)) or _follows_rows(graph):
        return None
    try:
        check_labels(graph.name, np.bincount(graph.labels[labelled]))
    except InputError:
        return None
    with threadpool_limits(limits=1, user_api="blas"):
        ways: tuple[EdgeDirection, ...] = ("both", *READINGS["apart"])
        columns: dict[EdgeDirection, GraphColumns] = {}
        for way in ways:
            seen = graph.replace(adjacency=turned(adjacency, way), is_directed=way != "both")
            if columns and columns["both"].has_features:  # they were compressed once
                seen = seen.replace(features=columns["both"].signal)
            columns[way] = GraphColumns(
                seen, labelled, seed, True, max_nodes, max_edges=SKETCHED_EDGES
            )
        return _compared(columns)


def _follows_rows(graph: Graph) -> bool:
    """Whether every edge goes to a later row, or every edge to an earlier one."""
    matrix = graph.adjacency.tocoo()
    step = np.sign(matrix.col - matrix.row)
    return bool((step >= 0).all() or (step <= 0).all())


def _compared(columns: dict[EdgeDirection, GraphColumns]) -> DirectionSignal:
    base = columns["both"]
    (fold, _), labels = base.folds[0], base.labels
    blocks = {f"{way} {name}": part for way in columns for name, part in _blocks(columns[way])}
    own = ("own",) if base.has_features else ()
    if own:
        blocks["own"] = base.blocks["own"]
    names = [*sorted({name.partition(" ")[2] for name in blocks} - {""}), "labels"]
    settings = {
        reading: (*own, *(f"{way} {name}" for way in ways for name in names))
        for reading, ways in {"both": ("both",), **READINGS}.items()
    }
    found = {name: np.full((fold.size, base.num_classes), np.nan) for name in settings}
    for test in range(FOLDS):
        for way, mine in columns.items():
            counted = mine.folds[0][1]
            blocks[f"{way} labels"] = counted.columns(test, base.prior(fold, test))
        held = (test + 1) % FOLDS
        parts = {
            "train": np.flatnonzero((fold != test) & (fold != held)),
            "held": np.flatnonzero(fold == held),
            "test": np.flatnonzero(fold == test),
        }
        for name, values in linear_scores(
            blocks, settings, labels, num_classes=base.num_classes, **parts
        ).items():
            found[name][parts["test"]] = values
    places = np.searchsorted(base.positive, labels) if base.score == "roc-auc" else labels

    def scored(name: str) -> Any:
        values = found[name][:, base.positive] if base.score == "roc-auc" else found[name]
        return node_scores(base.score, places, values, fold)

    gains = {name: difference(scored(name), scored("both"), folds=FOLDS) for name in READINGS}
    best = max(gains, key=lambda name: gains[name].value)
    return DirectionSignal(best, gains[best].among(len(gains)))


def _blocks(columns: GraphColumns) -> list[tuple[str, Floats]]:
    """Return the leading columns of each block that edges give; counts come last in a sketch."""
    sketch = columns.blocks["structure"]
    found = [("structure", np.hstack([sketch[:, :COLUMNS], sketch[:, -3:]]))]
    if columns.has_features:
        found += [(name, columns.blocks[name][:, :COLUMNS]) for name in ("mean", "two")]
    return found
