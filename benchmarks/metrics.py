"""Metrics: ratios of time and memory, measured in one run.

    python benchmarks/metrics.py [--nodes 1000000] [--edges 10000000] [--data-folder FOLDER]

1. all eight metrics of the paper on squirrel against a dense N x N version in float32;
2. all label metrics on a large graph against one SciPy product A @ Z;
3. edge, node and class homophily there against torch_geometric.utils.homophily.

Every repeat counts the edges afresh; the best of the repeats is printed.
"""

from __future__ import annotations

import argparse
import copy
import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from heterophily.data import catalog
from heterophily.data.graph import Graph
from heterophily.metrics.catalog import LABEL_METRICS, METRICS

PAPER_METRICS = [
    name for name in METRICS if name not in ("adjusted_homophily", "label_informativeness")
]


def fresh(graph: Graph) -> Graph:
    """Return the graph without anything remembered about it."""
    other = copy.copy(graph)
    other.__dict__.pop("is_weighted", None)
    return other


def seconds(action: Callable[[], Any], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return best


def peak_megabytes(action: Callable[[], Any]) -> float:
    tracemalloc.start()
    action()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def dense_metrics(graph: Graph) -> dict[str, float]:
    """Return the eight metrics from dense N x N matrices in float32."""
    labels, adjacency = graph.labels, graph.adjacency.toarray().astype(np.float32)
    features = sp.csr_array(graph.features).toarray().astype(np.float32)
    one_hot = np.eye(graph.num_classes, dtype=np.float32)[labels]
    is_same = labels[:, None] == labels[None, :]
    degree = adjacency.sum(axis=1)
    matching = (adjacency * is_same).sum(axis=1)
    sizes, nodes = one_hot.sum(axis=0), len(labels)
    class_share = (matching @ one_hot) / (degree @ one_hot)
    operator = adjacency + np.eye(nodes, dtype=np.float32)
    operator /= operator.sum(axis=1, keepdims=True)

    def means(signal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        similarity = signal @ signal.T
        same = (similarity * is_same).sum(axis=1)
        count = is_same.sum(axis=1)
        return same / count, (similarity.sum(axis=1) - same) / (nodes - count)

    def score(signal: np.ndarray) -> float:
        own, other = means(signal)
        return float((own >= other - 1e-7).mean())

    h_agg = score(operator @ one_hot)
    aggregated = operator @ features
    own, other = means(features - aggregated)
    return {
        "edge_homophily": float(matching.sum() / degree.sum()),
        "node_homophily": float((matching[degree > 0] / degree[degree > 0]).mean()),
        "class_homophily": float(
            np.maximum(class_share - sizes / nodes, 0).sum() / (graph.num_classes - 1)
        ),
        "aggregation_homophily": h_agg,
        "modified_aggregation_homophily": max(0.0, 2 * h_agg - 1),
        "aggregation_similarity": score(aggregated),
        "feature_similarity": score(features),
        "diversification_distinguishability": float(((own >= 0) & (other <= 0)).mean()),
    }


def against_dense(data_folder: Path | None) -> None:
    graph = catalog.load("squirrel", data_folder=data_folder)

    def ours() -> dict[str, float]:
        other = fresh(graph)
        return {name: METRICS[name](other) for name in PAPER_METRICS}

    for name, value in dense_metrics(graph).items():
        print(f"   {name:<36} {ours()[name]:.4f}   dense {value:.4f}")
    fast, slow = seconds(ours, 20), seconds(lambda: dense_metrics(graph), 2)
    small = peak_megabytes(ours)
    large = peak_megabytes(lambda: dense_metrics(graph))
    print(
        f"   time    {fast * 1e3:9.1f} ms   dense {slow * 1e3:9.1f} ms   ratio {slow / fast:.0f}x"
    )
    print(f"   memory  {small:9.1f} MB   dense {large:9.1f} MB   ratio {large / small:.0f}x")


def large_graph(nodes: int, edges: int) -> Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, nodes, (2, edges), dtype=np.int32)
    return Graph.from_edges(*ends, labels=rng.integers(0, 5, nodes))


def against_product(graph: Graph) -> None:
    one_hot = np.eye(5)[graph.labels]
    product = seconds(lambda: graph.adjacency @ one_hot, 3)

    def ours() -> dict[str, float]:
        other = fresh(graph)
        return {name: metric(other) for name, metric in LABEL_METRICS.items()}

    together = seconds(ours, 3)
    print(f"   one product A @ Z          {product:7.3f} s")
    print(f"   all seven label metrics    {together:7.3f} s   {together / product:.2f} products")
    alone = seconds(lambda: METRICS["aggregation_homophily"](fresh(graph)), 3)
    print(f"   aggregation homophily      {alone:7.3f} s")
    print(f"   memory of the seven        {peak_megabytes(ours):7.0f} MB")


def against_pyg(graph: Graph) -> None:
    try:
        import torch
        from torch_geometric.utils import homophily
    except ImportError:
        print("   torch_geometric is not installed: skipped")
        return
    edges = graph.adjacency.tocoo()
    index = torch.from_numpy(np.stack(edges.coords).astype(np.int64))
    labels = torch.from_numpy(graph.labels.copy())

    def theirs() -> list[float]:
        return [
            homophily(index, labels, method=method)
            for method in ("edge", "node", "edge_insensitive")
        ]

    def ours() -> list[float]:
        other = fresh(graph)
        return [METRICS[f"{name}_homophily"](other) for name in ("edge", "node", "class")]

    pairs = " ".join(f"{a:.4f}/{b:.4f}" for a, b in zip(ours(), theirs(), strict=True))
    fast, slow = seconds(ours, 3), seconds(theirs, 2)
    print(
        f"   edge, node, class: {pairs} (PyTorch Geometric with {torch.get_num_threads()} threads)"
    )
    print(f"   ours {fast:.3f} s   PyTorch Geometric {slow:.3f} s   ratio {slow / fast:.0f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and memory of the metrics.")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--data-folder", type=Path, default=None)
    options = parser.parse_args()
    print(f"{os.cpu_count()} processors")
    print("1. squirrel, eight metrics, against dense N x N in float32")
    against_dense(options.data_folder)
    graph = large_graph(options.nodes, options.edges)
    print(f"2. {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, against one SciPy product")
    against_product(graph)
    print(f"3. {graph.adjacency.nnz:,} directed edges, against torch_geometric.utils.homophily")
    against_pyg(graph)


if __name__ == "__main__":
    main()
