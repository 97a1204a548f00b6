"""The surroundings of one node of a graph on disk, as a small graph in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.rows import row_entries
from heterophily.data.graph import Graph
from heterophily.data.memory import need
from heterophily.data.wording import short
from heterophily.errors import InputError


def neighbourhood(graph: DiskGraph, node: int, hops: int) -> Graph:
    """Return all nodes within some hops of a node, with their features, labels and ids.

    Nodes up to ``hops - 1`` away have all their edges; those at the rim only edges to them.

    >>> import tempfile
    >>> from heterophily.data.disk.write import write_disk_graph
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], labels=[0, 1, 0, 1, 0])
    >>> around = neighbourhood(write_disk_graph(path, tempfile.mkdtemp() + "/g.disk"), 0, 2)
    >>> around.node_ids.tolist(), around.num_edges
    ([0, 1, 2], 2)
    """
    known = rim = np.array([node], np.int64)
    sources: list[NDArray[np.int64]] = []
    targets: list[NDArray[np.int64]] = []
    directions = [(graph.parts, False)]
    if graph.is_directed:
        directions.append((graph.reverse_parts, True))
    for _ in range(hops):
        for parts, is_reversed in directions:
            counts, others = row_entries(parts, rim)
            own = np.repeat(rim, counts)
            sources.append(others if is_reversed else own)
            targets.append(own if is_reversed else others)
        found = np.unique(np.concatenate([known, sources[-1], targets[-1]]))
        if graph.is_directed:
            found = np.unique(np.concatenate([found, sources[-2], targets[-2]]))
        rim, known = np.setdiff1d(found, known, assume_unique=True), found
        size = sum(each.size for each in sources)
        need(
            80 * size + known.size * (64 + 8 * graph.num_features),
            f"the surroundings of the node, {known.size:,} nodes and {size:,} edges,",
        )
    features: Any = None
    if graph.sparse_features is not None:
        features = graph.sparse_features[known]
    elif graph.num_features:
        features = np.concatenate([panel.read(known) for panel in graph.panels], axis=1)
    ends = [np.searchsorted(known, np.concatenate(side)) for side in (sources, targets)]
    ids = graph.node_ids(known)
    return Graph.from_edges(
        *ends,
        num_nodes=known.size,
        features=features,
        labels=np.asarray(graph.labels[known], np.int64),
        class_names=graph.class_names,
        node_ids=ids.astype(str) if ids.dtype == object else ids,
        feature_names=graph.feature_names or None,
        name=graph.name,
        direction="keep" if graph.is_directed else "drop",
    )


def place_of(graph: DiskGraph, node: str | int) -> int:
    """Return the number of a node id; an unknown one is refused with an example."""
    text = str(node)
    if graph.manifest.ids is None:
        if text.isdecimal() and int(text) < graph.num_nodes:
            return int(text)
    else:
        step = 1 << 20
        for at in range(0, graph.num_nodes, step):
            ids = graph.node_ids(slice(at, min(at + step, graph.num_nodes)))
            found = np.flatnonzero(ids.astype(str) == text)
            if found.size:
                return at + int(found[0])
    example = short(graph.node_ids(np.array([0]))[0]) if graph.num_nodes else "none"
    raise InputError(f"{graph.name} has no node {short(node)}; ids look like {example}")
