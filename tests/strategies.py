"""Hypothesis strategies: random small graphs with everything that a graph may have."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from heterophily.data.graph import Graph
from heterophily.data.splits import SplitBatch

PLAIN_TEXT = st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=6)
LOOKS_LIKE_SOMETHING_ELSE = st.sampled_from(
    ["1", "01", "+1", "-0", "0x1", "1.0", "1e3", "1 ", " 1", "nan", "true", "null", "2020-01-01",
     "12:30", "id", "source", "#", "'", '"', 'a"b', "a,b", "a\tb", "a;b", "-", "9" * 25]
)  # fmt: skip
WITH_LINE_ENDS = st.sampled_from(["a\nb", "\n", "a\r\nb", '"\n"'])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64) | st.sampled_from(
    [0.0, 1.0, 0.1, 1e-300, 2.0**60]
)
WEIGHTS = st.floats(2**-20, 2**20) | st.just(1.0)


def _node_ids(texts: st.SearchStrategy[str], num_nodes: int) -> st.SearchStrategy[Any]:
    size = {"min_size": num_nodes, "max_size": num_nodes, "unique": True}
    integers = st.integers(-5, 20) | st.integers(-(2**63), 2**63 - 1)
    return (
        st.none()
        | st.lists(integers, **size).map(lambda ids: np.array(ids, np.int64))
        | st.lists(texts, **size).map(np.array)
    )


@st.composite
def graphs(
    draw: st.DrawFn,
    *,
    texts: st.SearchStrategy[str] = PLAIN_TEXT | LOOKS_LIKE_SOMETHING_ELSE,
    weighted: bool | None = None,
    max_nodes: int = 7,
) -> Graph:
    """Draw an undirected graph without self loops, with at least one edge.

    Its classes are as an importer numbers them: at least two, none empty, in sorted order. Only
    labelled nodes are in its splits.
    """
    num_nodes = draw(st.integers(2, max_nodes))
    node = st.integers(0, num_nodes - 1)
    edge = st.tuples(node, node).filter(lambda ends: ends[0] != ends[1])
    ends = np.array(draw(st.lists(edge, min_size=1, max_size=2 * num_nodes)))
    has_weight = draw(st.booleans()) if weighted is None else weighted
    weight = draw(st.lists(WEIGHTS, min_size=len(ends), max_size=len(ends))) if has_weight else None
    labels, class_names = None, None
    if draw(st.booleans()):
        names = draw(
            st.sampled_from(
                [("0", "1"), ("2", "10"), ("a", "b", "c"), ("01", "1"), ('no, "x"', "y z")]
            )
        )
        extra = st.lists(st.integers(-1, len(names) - 1), min_size=num_nodes, max_size=num_nodes)
        values = np.array(draw(extra))
        order = draw(st.permutations(range(num_nodes)))
        if num_nodes >= len(names):
            values[list(order[: len(names)])] = np.arange(len(names))
            labels, class_names = values, names
    features: Any = None
    num_features = draw(st.sampled_from([0, 0, 1, 3, 20]))
    if num_features:
        cells = st.lists(
            st.tuples(node, st.integers(0, num_features - 1), NUMBERS), max_size=3 * num_nodes
        )
        features = np.zeros((num_nodes, num_features))
        for row, column, value in draw(cells):
            features[row, column] = value
        if draw(st.booleans()):
            features = sp.csr_array(features)
    splits = None
    labelled = [] if labels is None else np.flatnonzero(labels >= 0).tolist()
    if len(labelled) >= 3 and draw(st.booleans()):
        masks = np.zeros((3, draw(st.integers(1, 3)), num_nodes), bool)
        for repeat in range(masks.shape[1]):
            order = draw(st.permutations(labelled))
            for place, which in enumerate(order[: draw(st.integers(3, len(order)))]):
                masks[place % 3, repeat, which] = True
        splits = SplitBatch(*masks)
    return Graph.from_edges(
        ends[:, 0],
        ends[:, 1],
        num_nodes=num_nodes,
        weight=weight,
        features=features,
        labels=labels,
        class_names=class_names,
        node_ids=draw(_node_ids(texts, num_nodes)),
        splits=splits,
    )
