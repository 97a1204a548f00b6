"""A sample of nodes, with their whole neighbourhoods of two edges in the engine."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heterophily.data.warehouse.connect import engine_errors, forget, load_ibis
from heterophily.data.warehouse.features import EngineFeatures, drawn_rows
from heterophily.data.warehouse.graph import WarehouseGraph

Floats = NDArray[np.float64]
Nodes = NDArray[np.int64]


class NodeSample:
    """Some nodes of a graph in an engine; what it aggregates over their neighbourhoods is exact.

    Parameters
    ----------
    graph
        The graph.
    limit
        How many labelled nodes are drawn, at most.
    seed
        Of the draw.
    rare
        A class of which at least ``rare[1]`` nodes are drawn, if there are so many.
    """

    def __init__(
        self, graph: WarehouseGraph, limit: int, *, seed: int, rare: tuple[int, int] | None = None
    ) -> None:
        self.graph = graph
        table = graph.counted
        labelled = table.filter(table.y.notnull()).select("id", "y", "d")
        parts = [(labelled, limit)]
        if rare is not None:
            parts = [
                (labelled.filter(labelled.y == rare[0]), rare[1]),
                (labelled.filter(labelled.y != rare[0]), limit - rare[1]),
            ]
        drawn = []
        with engine_errors(f"{graph.name}: drawing nodes"):
            for rows, count in parts:
                query = drawn_rows(graph, rows, count, seed=seed)
                drawn.append(graph.connection.to_pyarrow(query))
        found = pa.concat_tables(drawn).sort_by("id")
        self.size = found.num_rows
        self.labels: Nodes = found["y"].to_numpy().astype(np.int64)
        self.degree: Floats = found["d"].to_numpy().astype(np.float64)
        self._ids = found["id"]
        places = pa.table({"id": self._ids, "p": np.arange(self.size)})
        self.table = graph.sent(places, "sending the drawn nodes")

    # --- neighbourhoods, kept by the engine ------------------------------------------------------

    @cached_property
    def _degrees(self) -> Any:
        """Every node w with its degree dw, and dr, the edges that lead to it."""
        counted = self.graph.counted
        if not self.graph.is_directed:
            return counted.select(w=counted.id, dw=counted.d, dr=counted.d)
        pairs = self.graph.pairs
        into = pairs.group_by("b").agg(dr=pairs.count())
        both = counted.left_join(into, counted.id == into.b)
        return both.select(w=both.id, dw=both.d, dr=both.dr.fill_null(0))

    @cached_property
    def near(self) -> Any:
        """Sampled nodes p with each of their neighbours w, and the degrees of those."""
        rows = self._rows(self.table)
        return self.graph.kept(rows, "neighbours of the drawn nodes")

    def _rows(self, chosen: Any) -> Any:
        every, degrees = self.graph.neighbours, self._degrees
        there = chosen.join(every, chosen.id == every.v).select("p", w=every.u)
        return there.join(degrees, "w").select("p", "w", "dw", "dr")

    @cached_property
    def around(self) -> Any:
        """Neighbours w of the sample with each of their own neighbours u, and 1 / degree of w."""
        every = self.graph.neighbours
        near = self.near.select("w", "dw").distinct()
        rows = near.join(every, near.w == every.v)
        query = rows.select(w=rows.w, share=1.0 / rows.dw.cast("float64"), u=rows.u)
        return self.graph.kept(query, "neighbours of those neighbours")

    def close(self) -> None:
        """Let the engine forget the sample."""
        for name in ("near", "around", "table"):
            if name in self.__dict__:
                forget(self.graph.connection, self.__dict__.pop(name))

    # --- what travels ---------------------------------------------------------------------------

    @cached_property
    def edges(self) -> tuple[Nodes, NDArray[Any], Floats, Floats]:
        """Edges of the sample: position, id of the neighbour, its two degrees."""
        return self._edges(self.near)

    def _edges(self, query: Any) -> tuple[Nodes, NDArray[Any], Floats, Floats]:
        found = self.graph.ask(query, "edges of the drawn nodes")
        order = np.lexsort((found["w"], found["p"]))
        return (
            found["p"].astype(np.int64)[order],
            found["w"][order],
            found["dw"].astype(np.float64)[order],
            found["dr"].astype(np.float64)[order],
        )

    def more_edges(self, count: int, *, seed: int) -> tuple[Nodes, NDArray[Any], Floats, Floats]:
        """Return the edges of ``count`` other nodes, labelled or not, as :attr:`edges` are."""
        counted = self.graph.counted.select("id")
        drawn = drawn_rows(self.graph, counted, count, seed=seed)
        rows = drawn.anti_join(self.table, "id")
        row_number = load_ibis().row_number().over(order_by=rows.id)
        return self._edges(self._rows(rows.mutate(p=row_number)))

    def returning(self) -> Floats:
        """Return how likely two random steps lead back to where they began, (n,)."""
        near = self.near
        if self.graph.is_directed:
            every = self.graph.neighbours
            home = self.table
            back = near.join(home, near.p == home.p).select("w", "dw", v=home.id, p=near.p)
            near = back.join(every, (back.w == every.v) & (back.v == every.u)).select(
                p=back.p, dw=back.dw
            )
        sums = near.group_by("p").agg(back=(1.0 / near.dw.cast("float64")).sum())
        found = self._placed(sums, ["back"])[:, 0]
        return found * _inverse(self.degree)

    def means(self, features: EngineFeatures, columns: list[str]) -> tuple[Floats, Floats, Floats]:
        """Return some features of the sample, their mean over neighbours and two edges away."""
        home, table = self.table, features.of(columns)
        own = home.join(table, "id").select("p", *columns)
        near = self.near.join(table, self.near.w == table.id)
        one = near.group_by("p").agg(**{name: near[name].sum() for name in columns})
        far = self.around.join(table, self.around.u == table.id)
        means = far.group_by("w").agg(**{name: (far[name] * far.share).sum() for name in columns})
        there = self.near.select("p", "w").join(means, "w")
        two = there.group_by("p").agg(**{name: there[name].sum() for name in columns})
        inverse = _inverse(self.degree)[:, None]
        return (
            self._placed(own, columns),
            self._placed(one, columns) * inverse,
            self._placed(two, columns) * inverse,
        )

    def neighbour_rows(self, features: EngineFeatures, columns: list[str]) -> tuple[Any, Floats]:
        """Return some features of all neighbours of the sample: ids and values."""
        table = features.of(columns)
        near = self.near.select("w").distinct()
        found = self.graph.ask(near.join(table, near.w == table.id), "features of neighbours")
        order = np.argsort(found["w"], kind="stable")
        values = np.stack([found[name].astype(np.float64) for name in columns], axis=1)
        return found["w"][order], values[order]

    def label_counts(self, fold: Nodes) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return neighbours by class one and two edges away, apart for each fold they are in.

        Two arrays (folds + 1, n, C), as :class:`~heterophily.filters.neighbour_labels` has them;
        the last entry holds the nodes outside the sample.
        """
        folds = int(fold.max()) + 1
        given = pa.table({"id": self._ids, "fold": fold})
        dealt = self.graph.sent(given, "sending the folds")
        known = self.graph.nodes.filter(self.graph.nodes.y.notnull()).select("id", "y")
        known = known.left_join(dealt, known.id == dealt.id)
        known = known.select(u=known.id, y=known.y, place=known.fold.fill_null(folds))
        near = self.near.join(known, self.near.w == known.u)
        one = near.group_by("p", "place", "y").agg(n=near.count().cast("float64"))
        far = self.around.join(known, "u")
        means = far.group_by("w", "place", "y").agg(n=far.share.sum())
        there = self.near.select("p", "w").join(means, "w")
        two = there.group_by("p", "place", "y").agg(n=there.n.sum())
        shape = (folds + 1, self.size, self.graph.num_classes)
        counts = []
        for query in (one, two):
            found = self.graph.ask(query, "labels of neighbours")
            table = np.zeros(shape, np.float64)
            place, at, of = (found[name].astype(np.int64) for name in ("place", "p", "y"))
            table[place, at, of] = found["n"].astype(np.float64)
            counts.append(table)
        counts[1] *= _inverse(self.degree)[None, :, None]
        forget(self.graph.connection, dealt)
        return counts[0].astype(np.float32), counts[1].astype(np.float32)

    def _placed(self, query: Any, columns: list[str]) -> Floats:
        """Return columns in the order of the sample, (n, K); 0 where a node has no row."""
        found = self.graph.ask(query, "means over neighbours")
        values = np.zeros((self.size, len(columns)))
        at = found["p"].astype(np.int64)
        for number, name in enumerate(columns):
            values[at, number] = found[name].astype(np.float64)
        return values


def _inverse(degree: Floats) -> Floats:
    return np.divide(1.0, degree, out=np.zeros_like(degree), where=degree > 0)
