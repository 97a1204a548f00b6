"""A graph whose nodes and edges are tables of an engine: the relational plan, written once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from heterophily.data.adjacency import EdgeNotes
from heterophily.data.labels import encode_words
from heterophily.data.tables.columns import LABELS, edge_columns, node_columns
from heterophily.data.warehouse.connect import (
    engine_errors,
    forget,
    keep,
    load_ibis,
    send,
    table_name,
    table_of,
)
from heterophily.data.wording import short
from heterophily.errors import InputError

MOST_CLASSES = 200
_MOST_LABELS = 10_000  # distinct words that are looked at
_LOOKED_AT = 1_000_000  # labels by which the kind of the label column is judged

Columns = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class TableColumns:
    """The names of a table's columns, for the rules that choose among them."""

    path: Path
    columns: list[str]
    has_header: bool = True

    def head(self) -> dict[str, list[str | None]]:
        """Return no cells: columns are chosen by name alone."""
        return {}


@dataclass(frozen=True, eq=False)
class WarehouseGraph:
    """Tables of nodes and edges in an engine, cleaned as a graph in memory is.

    Self loops and duplicates are left out; an undirected edge counts both ways. ``nodes`` has the
    columns ``id`` and ``y`` (class, null = unlabelled), ``pairs`` each edge once, ``a`` and ``b``.
    ``rows`` is the table of nodes as it is, ``key`` its ids. Get it with :meth:`open`.
    """

    connection: Any
    name: str
    is_directed: bool
    edges: Any
    nodes: Any
    rows: Any
    key: Any
    class_names: tuple[str, ...]
    feature_columns: tuple[str, ...]
    remarks: tuple[str, ...]
    where: str

    @classmethod
    def open(
        cls,
        connection: Any,
        edges: str,
        nodes: str | None,
        *,
        source: str | None = None,
        target: str | None = None,
        node_id: str | None = None,
        label: str | None = None,
        split: str | None = None,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        labels_are_classes: bool = False,
        is_directed: bool = False,
        name: str | None = None,
        where: str = "the database",
    ) -> WarehouseGraph:
        """Find the columns, the classes, and what is wrong with ids.

        Arguments are those of :func:`heterophily.read_tables`; columns are chosen by name alone.
        """
        if nodes is None:
            raise InputError(
                f"--edges {edges} in {where} needs --nodes too: the table with ids and labels"
            )
        edge_rows, node_rows = (
            table_of(connection, edges, "edges"),
            table_of(connection, nodes, "nodes"),
        )
        ends = edge_columns(
            TableColumns(Path(edges), list(edge_rows.columns)),
            source=source, target=target, weight=None,
        )  # fmt: skip
        chosen = node_columns(
            TableColumns(Path(nodes), list(node_rows.columns)),
            node_id=node_id,
            label=label,
            split=split,
            features=features,
            ignore=ignore,
        )
        if chosen.label is None:
            raise InputError(
                f"--nodes {nodes} has no column that looks like labels ({', '.join(LABELS[:5])}); "
                f"name it with --label; its columns are {', '.join(node_rows.columns[:8])}"
            )
        remarks = [chosen.remark]
        if ends.weight:
            remarks.append(f"{edges}: the weights in column {ends.weight!r} are not used")
        start, end, key = edge_rows[ends.source], edge_rows[ends.target], node_rows[chosen.node_id]
        if len({start.type(), end.type(), key.type()}) > 1:
            are_integers = all(part.type().is_integer() for part in (start, end, key))
            kind = "int64" if are_integers else "string"
            start, end, key = (part.cast(kind) for part in (start, end, key))
        edge_rows = edge_rows.select(s=start, t=end)
        names, class_of, remark = _classes(
            connection, node_rows, chosen.label, nodes, labels_are_classes
        )
        graph = cls(
            connection,
            name or table_name(edges),
            is_directed,
            edge_rows,
            node_rows.select(id=key, y=class_of),
            node_rows,
            key,
            names,
            chosen.features,
            (*remarks, *remark),
            where,
        )
        may_add = not chosen.features and not chosen.splits
        return graph._checked(edges, nodes, ends, chosen.node_id, may_add=may_add)

    # --- asking the engine -----------------------------------------------------------------------

    def ask(self, query: Any, what: str) -> Columns:
        """Return the rows of a query as NumPy columns; ``what`` names it in an error."""
        with engine_errors(f"{self.name}: {what}"):
            table: pa.Table = self.connection.to_pyarrow(query)
        return {
            name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names
        }

    def one(self, query: Any, what: str) -> dict[str, Any]:
        """Return the only row of a query."""
        return {name: values[0] for name, values in self.ask(query, what).items()}

    def kept(self, query: Any, what: str) -> Any:
        """Let the engine keep the rows of a query in a temporary table."""
        with engine_errors(f"{self.name}: {what}"):
            return keep(self.connection, query)

    def sent(self, rows: pa.Table, what: str) -> Any:
        """Send rows to the engine, which keeps them in a temporary table."""
        with engine_errors(f"{self.name}: {what}"):
            return send(self.connection, rows)

    # --- the plan --------------------------------------------------------------------------------

    @property
    def num_classes(self) -> int:
        """Number of classes C."""
        return len(self.class_names)

    @cached_property
    def pairs(self) -> Any:
        """Each edge once, (a, b), without loops; kept by the engine."""
        ibis = load_ibis()
        rows = self.edges.filter(self.edges.s != self.edges.t)
        if self.is_directed:
            found = rows.select(a=rows.s, b=rows.t)
        else:
            found = rows.select(a=ibis.least(rows.s, rows.t), b=ibis.greatest(rows.s, rows.t))
        return self.kept(found.distinct(), "removing duplicate edges")

    @cached_property
    def neighbours(self) -> Any:
        """Every node v with each of its neighbours u; out-neighbours in a directed graph."""
        forward = self.pairs.select(v=self.pairs.a, u=self.pairs.b)
        if self.is_directed:
            return forward
        return forward.union(self.pairs.select(v=self.pairs.b, u=self.pairs.a), distinct=False)

    @cached_property
    def counted(self) -> Any:
        """Every node (id, y) with its degree d and its labelled neighbours by class, c0, c1, ...;
        kept by the engine.
        """
        ends, near = self.nodes.select(u=self.nodes.id, k=self.nodes.y), self.neighbours
        joined = near.join(ends, near.u == ends.u)
        sums = joined.group_by("v").agg(
            d=joined.count(),
            **{f"c{k}": joined.count(where=joined.k == k) for k in range(self.num_classes)},
        )
        both = self.nodes.left_join(sums, self.nodes.id == sums.v)
        numbers = ("d", *(f"c{k}" for k in range(self.num_classes)))
        query = both.select(
            "id", "y", **{name: both[name].fill_null(0).cast("int64") for name in numbers}
        )
        return self.kept(query, "counting neighbours by class")

    @cached_property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return int(self.one(self.nodes.agg(n=self.nodes.count()), "counting nodes")["n"])

    @cached_property
    def num_edges(self) -> int:
        """Number of edges, each once."""
        return int(self.one(self.pairs.agg(n=self.pairs.count()), "counting edges")["n"])

    @cached_property
    def notes(self) -> EdgeNotes:
        """What the table of edges held, as in memory."""
        rows = self.edges
        is_loop = rows.s == rows.t
        found = self.one(
            rows.agg(
                rows=rows.count(),
                loops=rows.count(where=is_loop),
                loop_nodes=rows.s.nunique(where=is_loop),
            ),
            "counting rows of edges",
        )
        proper = rows.filter(rows.s != rows.t).distinct()
        distinct = int(self.one(proper.agg(n=proper.count()), "counting distinct rows")["n"])
        loops, loop_nodes = int(found["loops"]), int(found["loop_nodes"])
        undirected = self.num_edges
        if self.is_directed:
            ibis = load_ibis()
            ends = rows.filter(rows.s != rows.t)
            once = ends.select(a=ibis.least(ends.s, ends.t), b=ibis.greatest(ends.s, ends.t))
            once = once.distinct()
            undirected = int(self.one(once.agg(n=once.count()), "counting pairs")["n"])
        return EdgeNotes(
            rows=int(found["rows"]),
            duplicates=int(found["rows"]) - loops - distinct + loops - loop_nodes,
            self_loops=loop_nodes,
            one_way=2 * undirected - distinct,
            direction_kept=self.is_directed,
        )

    # --- what is wrong ---------------------------------------------------------------------------

    def _checked(
        self, edges: str, nodes: str, ends: Any, node_id: str, *, may_add: bool
    ) -> WarehouseGraph:
        """Refuse ids that are empty, twice there or unknown; return the graph with all nodes."""
        key = self.nodes.id
        found = self.one(
            self.nodes.agg(n=self.nodes.count(), distinct=key.nunique(), known=key.count()),
            "looking at ids",
        )
        if found["n"] == 0:
            raise InputError(f"--nodes {nodes} has no row; a node table has one row per node")
        if found["known"] < found["n"]:
            raise InputError(
                f"{nodes}, column {short(node_id)}: {found['n'] - found['known']:,} rows have no "
                "id; every row needs the id of a node"
            )
        if found["distinct"] < found["n"]:
            counts = self.nodes.group_by("id").agg(n=self.nodes.count())
            twice = self.ask(counts.filter(counts.n > 1).limit(1), "looking at ids")["id"][0]
            raise InputError(
                f"{nodes}, column {short(node_id)}: node id {short(twice)} occurs more than once; "
                "keep one row per node"
            )
        rows = self.edges
        empty = self.one(
            rows.agg(s=rows.count(where=rows.s.isnull()), t=rows.count(where=rows.t.isnull())),
            "looking at the ends of edges",
        )
        for side, column in (("s", ends.source), ("t", ends.target)):
            if empty[side]:
                raise InputError(
                    f"{edges}, column {short(column)}: {int(empty[side]):,} rows have no id; "
                    "every row needs the id of a node"
                )
        new = self._unknown_ends()
        some = self.ask(new.limit(1), "looking for unknown nodes")["id"]
        if not some.size:
            return self
        if not may_add:
            raise InputError(
                f"{edges}: node {short(some[0])} is not in {nodes}; add it there or remove the edge"
            )
        kind = self.nodes.y.type()
        more = new.select("id", y=load_ibis().null().cast(kind))
        remark = f"{edges}: nodes that are not in {nodes} are taken as unlabelled"
        return replace(
            self,
            nodes=self.nodes.union(more, distinct=False),
            remarks=(*self.remarks, remark),
        )

    def _unknown_ends(self) -> Any:
        rows = self.edges
        ends = rows.select(id=rows.s).union(rows.select(id=rows.t), distinct=True)
        return ends.anti_join(self.nodes.select("id"), "id")

    def close(self) -> None:
        """Let the engine forget its temporary tables."""
        for name in ("pairs", "counted"):
            if name in self.__dict__:
                forget(self.connection, self.__dict__.pop(name))


def _classes(
    connection: Any, rows: Any, label: str, nodes: str, labels_are_classes: bool
) -> tuple[tuple[str, ...], Any, tuple[str, ...]]:
    """Return the class names, the expression of the class of a row, and remarks."""
    ibis = load_ibis()
    column, place = rows[label], f"{nodes}, column {short(label)}"
    if column.type().is_floating():
        with engine_errors(place):
            odd = connection.to_pyarrow(
                rows.agg(n=rows.count(where=(column != column.floor()) & ~column.isnan()))
            )["n"][0].as_py()
        if not odd:
            column = ibis.cases((rows[label].isnan(), ibis.null()), else_=rows[label]).cast("int64")
    words = column.cast("string")
    counts = rows.select(word=words)
    counts = counts.group_by("word").agg(n=counts.count()).limit(_MOST_LABELS + 1)
    with engine_errors(place):
        found = connection.to_pyarrow(counts)
    if found.num_rows > _MOST_LABELS:
        raise InputError(
            f"{place}: over {_MOST_LABELS:,} different labels; name the column of the classes with "
            "--label"
        )
    order = sorted(
        (word, number)
        for word, number in zip(found["word"].to_pylist(), found["n"].to_pylist(), strict=True)
        if word
    )
    real = [word for word, _ in order]
    sizes = np.array([number for _, number in order], np.float64)
    share = np.ceil(sizes * min(1.0, _LOOKED_AT / max(float(sizes.sum()), 1.0))).astype(np.int64)
    some = np.concatenate([np.repeat(np.arange(len(real)), share), np.arange(len(real))])
    if not real:
        raise InputError(
            f"{place}: the column is empty; name the column of the labels with --label"
        )
    classes = encode_words(
        real,
        some,
        cell=lambda node: f"{place}, label {short(real[int(some[node])])}",
        place=place,
        labels_are_classes=labels_are_classes,
    )
    if len(classes.names) > MOST_CLASSES:
        raise InputError(
            f"{place}: {len(classes.names)} classes; a database counts at most {MOST_CLASSES}"
        )
    of_word = classes.labels[some.size - len(real) :]
    branches = [(words == word, int(k)) for word, k in zip(real, of_word, strict=True) if k >= 0]
    return classes.names, ibis.cases(*branches, else_=ibis.null()).cast("int64"), classes.remarks
