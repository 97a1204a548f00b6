"""What a graph holds and what its importer did to it: nothing is repaired silently."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from heterophily.data.wording import Doubt

if TYPE_CHECKING:
    from heterophily.data.graph import Graph


def _count(number: int, singular: str, plural: str | None = None) -> str:
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


@dataclass(frozen=True, slots=True)
class GraphReport:
    """Facts about a graph: ``found`` says what is in it, ``done`` what was changed when reading."""

    name: str
    content_hash: str
    nodes: int
    edges: int
    features: int
    classes: int
    class_sizes: dict[str, int]
    is_directed: bool
    is_weighted: bool
    edge_rows: int
    duplicates_merged: int
    zero_weight_edges_dropped: int
    one_way_edges: int
    direction_dropped: bool
    unequal_weights: int
    self_loops_found: int
    self_loops_removed: int
    isolated_nodes: int
    connected_components: int | None  # None: not counted
    largest_component: int | None
    zero_feature_rows: int
    unlabelled_nodes: int
    classes_with_one_node: tuple[str, ...]
    fixed_splits: int
    remarks: tuple[str, ...]
    edge_types: dict[str, int]

    @classmethod
    def of(cls, graph: Graph) -> GraphReport:
        """Examine a graph."""
        adjacency, notes = graph.adjacency, graph.notes
        off_diagonal = np.diff(adjacency.indptr) - (adjacency.diagonal() != 0)
        isolated = off_diagonal == 0
        if graph.is_directed:
            has_in = np.zeros(graph.num_nodes, bool)
            rows = np.repeat(np.arange(graph.num_nodes), np.diff(adjacency.indptr))
            has_in[adjacency.indices[rows != adjacency.indices]] = True
            isolated &= ~has_in
        num_components, component = connected_components(
            adjacency, directed=graph.is_directed, connection="weak"
        )
        sizes = np.bincount(graph.labels[graph.is_labelled], minlength=graph.num_classes)
        features: Any = graph.features
        zero_rows = 0
        if features is not None and graph.encoder is None:  # encoded, a 0 is an average value
            filled = np.diff(features.indptr) if sp.issparse(features) else features.any(axis=1)
            zero_rows = int((filled == 0).sum())
        return cls(
            name=graph.name,
            content_hash=graph.content_hash,
            nodes=graph.num_nodes,
            edges=graph.num_edges,
            features=graph.num_features,
            classes=graph.num_classes,
            class_sizes={
                name: int(size) for name, size in zip(graph.class_names, sizes, strict=True)
            },
            is_directed=graph.is_directed,
            is_weighted=graph.is_weighted,
            edge_rows=notes.rows,
            duplicates_merged=notes.duplicates,
            zero_weight_edges_dropped=notes.zero_weights,
            one_way_edges=notes.one_way,
            direction_dropped=notes.one_way > 0 and not notes.direction_kept,
            unequal_weights=notes.unequal_weights,
            self_loops_found=notes.self_loops,
            self_loops_removed=0 if notes.self_loops_kept else notes.self_loops,
            isolated_nodes=int(isolated.sum()),
            connected_components=int(num_components),
            largest_component=int(np.bincount(component).max()) if graph.num_nodes else 0,
            zero_feature_rows=zero_rows,
            unlabelled_nodes=int((~graph.is_labelled).sum()),
            classes_with_one_node=tuple(
                name for name, size in zip(graph.class_names, sizes, strict=True) if size == 1
            ),
            fixed_splits=0 if graph.splits is None else len(graph.splits),
            remarks=graph.remarks,
            edge_types={name: graph.of_type(name).num_edges for name in graph.type_names},
        )

    @property
    def headline(self) -> str:
        """Return one line on the data."""
        kind = ("directed" if self.is_directed else "undirected") + (
            ", weighted" if self.is_weighted else ""
        )
        features = _count(self.features, "feature") if self.features else "no features"
        return (
            f"{self.name}: {_count(self.nodes, 'node')}, {_count(self.edges, 'edge')} ({kind}), "
            f"{features}, {_count(self.classes, 'class', 'classes')}"
        )

    @property
    def done(self) -> tuple[str, ...]:
        """What the importer changed, one sentence each."""
        told = []
        if self.duplicates_merged:
            told.append(f"{_count(self.duplicates_merged, 'duplicate edge')} merged")
        if self.zero_weight_edges_dropped:
            told.append(f"{_count(self.zero_weight_edges_dropped, 'edge')} of weight 0 dropped")
        if self.direction_dropped:
            told.append(
                f"direction dropped: {_count(self.one_way_edges, 'edge')} had no reverse edge"
            )
        if self.unequal_weights:
            told.append(
                f"{_count(self.unequal_weights, 'edge')} had different weights in the two "
                "directions: the larger one is used"
            )
        if self.self_loops_removed:
            told.append(f"{_count(self.self_loops_removed, 'self loop')} removed")
        elif self.self_loops_found:
            told.append(f"{_count(self.self_loops_found, 'self loop')} kept")
        return (*told, *(text for text in self.remarks if not isinstance(text, Doubt)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What looks wrong in the data, one sentence each."""
        return tuple(text for text in self.remarks if isinstance(text, Doubt))

    @property
    def found(self) -> tuple[str, ...]:
        """What a user should know about the contents, one sentence each."""
        told = []
        if self.edge_types:
            sizes = ", ".join(f"{name} ({edges:,})" for name, edges in self.edge_types.items())
            told.append(f"{_count(len(self.edge_types), 'type')} of edges: {sizes}")
        if self.isolated_nodes:
            told.append(f"{_count(self.isolated_nodes, 'isolated node')}")
        if self.connected_components is not None and self.connected_components > 1:
            told.append(
                f"{self.connected_components:,} connected components, "
                f"the largest has {_count(self.largest_component or 0, 'node')}"
            )
        if self.zero_feature_rows:
            told.append(f"{_count(self.zero_feature_rows, 'node')} without any feature")
        if self.unlabelled_nodes:
            told.append(f"{_count(self.unlabelled_nodes, 'unlabelled node')}")
        if self.classes_with_one_node:
            told.append(f"classes with one node: {', '.join(self.classes_with_one_node)}")
        if self.fixed_splits:
            told.append(f"{_count(self.fixed_splits, 'fixed split')}")
        return tuple(told)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            **asdict(self),
            "found": list(self.found),
            "done": list(self.done),
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        """Return the report as text."""
        lines = [self.headline]
        lines += [f"  found  {text}" for text in self.found]
        lines += [f"  done   {text}" for text in self.done]
        lines += [f"  WARN   {text}" for text in self.warnings]
        lines.append(f"  sha256 {self.content_hash[:16]}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the report as HTML, for notebooks."""
        told = {"found": self.found, "done": self.done, "warning": self.warnings}
        rows = [(key, text) for key, texts in told.items() for text in texts]
        rows.append(("sha256", self.content_hash[:16]))
        sizes = ", ".join(f"{name} ({size:,})" for name, size in self.class_sizes.items())
        if sizes:
            rows.insert(0, ("classes", sizes if len(sizes) < 400 else sizes[:400] + " ..."))
        body = "".join(
            f"<tr><th style='text-align:left'>{escape(key)}</th>"
            f"<td style='text-align:left'>{escape(text)}</td></tr>"
            for key, text in rows
        )
        return f"<div><b>{escape(self.headline)}</b><table>{body}</table></div>"
