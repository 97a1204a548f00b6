"""The diagnosis of a graph whose tables stay in their engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.report import GraphReport
from heterophily.data.warehouse.connect import load_ibis
from heterophily.data.warehouse.features import EngineFeatures, engine_features
from heterophily.data.warehouse.graph import WarehouseGraph
from heterophily.data.wording import capital
from heterophily.diagnosis.beyond_memory import Held, check_classes, report_of
from heterophily.diagnosis.diagnose import Diagnosis
from heterophily.diagnosis.engine_columns import EngineColumns
from heterophily.diagnosis.probe import MAX_NODES
from heterophily.diagnosis.sampled_columns import numbered
from heterophily.diagnosis.shuffle import MAX_EDGES, EdgeChance, chance_of
from heterophily.diagnosis.sources import SECRET
from heterophily.errors import UndefinedError
from heterophily.metrics.collect.relational import relational_statistics
from heterophily.metrics.collect.relational_features import similarity_counts
from heterophily.metrics.statistics import LabelStatistics


def diagnose_tables(
    graph: WarehouseGraph,
    *,
    quick: bool = False,
    seed: int = 0,
    kinds: Mapping[str, str] | None = None,
    encode: bool = True,
    next_command: str = "",
    max_nodes: int = MAX_NODES,
) -> Diagnosis:
    """Say whether the heterophily of a graph in an engine is harmful.

    Metrics are computed from sums over classes, the probe on a sample of labelled nodes whose
    neighbourhoods the engine aggregates. Arguments are those of
    :func:`~heterophily.diagnosis.diagnose.diagnose`; ``kinds`` and ``encode`` say how columns
    become features, ``next_command`` what to run next.
    """
    counted = relational_statistics(graph)
    check_classes(counted)
    features = engine_features(graph, kinds=kinds, encode=encode)
    counted = _with_similarities(counted, features)
    remarks = features.remarks if features else ()
    held = Held(
        counted,
        _report(graph, counted, features),
        lambda: EngineColumns(graph, counted.sizes, features, seed, quick, max_nodes),
        lambda: sampled_chance(graph, counted, seed=seed),
        graph.where,
        (
            f"The tables stayed in {graph.where}: it counted every edge, and only sums over "
            "classes and a sample of nodes and edges were fetched.",
            *(f"{capital(remark)}." for remark in remarks),
        ),
    )
    return held.diagnose(quick=quick, seed=seed, next_command=next_command)


def _with_similarities(
    counted: LabelStatistics, features: EngineFeatures | None
) -> LabelStatistics:
    if features is None:
        return replace(counted, undefined={"similarities": "the graph has no features"})
    found = similarity_counts(features, counted.sizes)
    if isinstance(found, UndefinedError):
        return replace(counted, undefined={"similarities": found.why})
    return replace(counted, similarities=found)


def sampled_chance(
    graph: WarehouseGraph, counted: LabelStatistics, *, seed: int
) -> EdgeChance | None:
    """Compare the labels at both ends of at most 50,000 edges with shuffles, as in memory."""
    both = 1 if graph.is_directed else 2
    count = int(counted.class_pairs.sum()) // both
    if count == 0:
        return None
    ibis = load_ibis()
    pairs = graph.pairs
    first = graph.nodes.select(a=graph.nodes.id, ya=graph.nodes.y)
    second = graph.nodes.select(b=graph.nodes.id, yb=graph.nodes.y)
    edges = pairs.join(first, "a").join(second, "b").select("a", "b", "ya", "yb")
    edges = edges.filter(edges.ya.notnull() & edges.yb.notnull())
    if count > MAX_EDGES:
        text = ibis.literal(f"{seed}:") + edges.a.cast("string") + "-" + edges.b.cast("string")
        drawn = edges.order_by(text.hash()).limit(MAX_EDGES)
        try:
            graph.connection.compile(drawn)
        except Exception:  # ibis has no hash for this engine
            drawn = edges.order_by(ibis.random()).limit(MAX_EDGES)
        edges = drawn
    found = graph.ask(edges, "drawing edges")
    order = np.lexsort((found["b"], found["a"]))
    (source, target), size = numbered(found["a"][order], found["b"][order])
    labels: NDArray[np.int64] = np.zeros(size, np.int64)
    labels[source], labels[target] = found["ya"][order], found["yb"][order]
    if count <= MAX_EDGES:  # labels are shuffled among all labelled nodes
        others = counted.sizes - np.bincount(labels, minlength=counted.num_classes)
        labels = np.concatenate([labels, np.repeat(np.arange(counted.num_classes), others)])
    rng = np.random.default_rng([SECRET, seed, 1])
    return chance_of((source, target), labels, count, is_directed=graph.is_directed, rng=rng)


def _report(
    graph: WarehouseGraph, counted: LabelStatistics, features: EngineFeatures | None
) -> GraphReport:
    notes: Any = graph.notes
    return report_of(
        counted,
        features=0 if features is None else features.width,
        edge_rows=notes.rows,
        duplicates_merged=notes.duplicates,
        one_way_edges=notes.one_way,
        direction_dropped=notes.one_way > 0 and not notes.direction_kept,
        self_loops_found=notes.self_loops,
        self_loops_removed=notes.self_loops,
        remarks=graph.remarks,
    )
