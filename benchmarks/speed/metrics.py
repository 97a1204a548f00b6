"""Metrics: ratios of time and memory, measured in one run.

    python benchmarks/speed/metrics.py [--nodes 1000000] [--edges 10000000] [--data-folder FOLDER]

1. all eight metrics of the paper on squirrel against a dense N x N version in float32;
2. all label metrics on a large graph, native and with SciPy, against one SciPy product A @ Z;
3. edge, node and class homophily and the compatibility matrix there, native and with SciPy, against
   torch_geometric.utils.homophily, on one and on two threads each.

Every repeat counts the edges afresh; the best of the repeats is printed.
"""

from __future__ import annotations

import copy
import os
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from shared import Spent, Ways, best, interleaved, machine, parser, times

from heterophily.data import catalog
from heterophily.data.graph import Graph
from heterophily.metrics import neighbour_classes
from heterophily.metrics.catalog import METRICS
from heterophily.metrics.class_compatibility import class_compatibility
from heterophily.native.library import ISA_VARIABLE

LABEL_METRICS = [
    name for name, metric in METRICS.items() if metric.needs == "labels" and metric.is_brief
]
PAPER_METRICS = [name for name, metric in METRICS.items() if metric.origin == "the paper"]


def fresh(graph: Graph) -> Graph:
    """Return the graph without anything remembered about it."""
    other = copy.copy(graph)
    other.__dict__.pop("is_weighted", None)
    return other


def spent(action: Callable[[], Any], repeats: int) -> Spent:
    return best(interleaved({"": action}, repeats, warm=False)[""])


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


def against_dense(graph: Graph) -> None:

    def ours() -> dict[str, float]:
        other = fresh(graph)
        return {name: METRICS[name](other) for name in PAPER_METRICS}

    for name, value in dense_metrics(graph).items():
        print(f"   {name:<36} {ours()[name]:.4f}   dense {value:.4f}")
    fast, slow = spent(ours, 20).wall, spent(lambda: dense_metrics(graph), 2).wall
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


@contextmanager
def engine(isa: str, threads: int = 4) -> Iterator[None]:
    """Count natively (``""``) or with SciPy (``"none"``), on at most so many threads."""
    before = os.environ.get(ISA_VARIABLE, ""), neighbour_classes._MAX_THREADS
    os.environ[ISA_VARIABLE], neighbour_classes._MAX_THREADS = isa, threads
    try:
        yield
    finally:
        os.environ[ISA_VARIABLE], neighbour_classes._MAX_THREADS = before


PATHS = {"native": "", "SciPy": "none"}


def against_product(graph: Graph) -> None:
    one_hot = np.eye(5)[graph.labels]
    product = spent(lambda: graph.adjacency @ one_hot, 3)

    def ours() -> dict[str, float]:
        other = fresh(graph)
        return {name: METRICS[name](other) for name in LABEL_METRICS}

    print(f"   one product A @ Z              {product}")
    for path, isa in PATHS.items():
        with engine(isa):
            together = spent(ours, 5)
            alone = spent(lambda: METRICS["aggregation_homophily"](fresh(graph)), 5)
            print(f"   seven label metrics, {path:8}  {together}   {peak_megabytes(ours):.0f} MB")
            print(f"   aggregation homophily, {path:6}  {alone}")


def against_pyg(graph: Graph, rounds: int) -> None:
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
        class_compatibility(other)
        return [METRICS[f"{name}_homophily"](other) for name in ("edge", "node", "class")]

    pairs = " ".join(f"{a:.4f}/{b:.4f}" for a, b in zip(ours(), theirs(), strict=True))
    print(f"   edge, node, class: {pairs}; ours with the compatibility matrix, theirs without")
    for threads in sorted({1, min(2, os.cpu_count() or 1)}):
        torch.set_num_threads(threads)
        ways: Ways = {"PyTorch Geometric": theirs}
        for path, isa in PATHS.items():
            ways |= {path: lambda isa=isa, threads=threads: in_engine(ours, isa, threads)}
        found = {way: best(turns) for way, turns in interleaved(ways, rounds).items()}
        slow = found["PyTorch Geometric"]
        for way, fast in found.items():
            ratio = f"ratio {times(slow.wall, fast.wall)} wall, {times(slow.cpu, fast.cpu)} CPU"
            print(f"   {threads} thread(s), {way:17} {fast}   {ratio}")


def in_engine(action: Callable[[], Any], isa: str, threads: int) -> None:
    with engine(isa, threads):
        action()


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--nodes", type=int, default=1_000_000)
    options.add_argument("--edges", type=int, default=10_000_000)
    options.add_argument("--data-folder", type=Path, default=None)
    options.add_argument("--only-large", action="store_true", help="leave squirrel out")
    options.add_argument("--rounds", type=int, default=3, help="of part 3")
    given = options.parse_args()
    if given.quick:
        given.nodes, given.edges, given.rounds = 1_000, 5_000, 1
    print(f"{machine()['processors']} processors")
    if not given.only_large:
        name = "texas" if given.quick else "squirrel"
        print(f"1. {name}, eight metrics, against dense N x N in float32")
        against_dense(catalog.load(name, data_folder=given.data_folder))
    graph = large_graph(given.nodes, given.edges)
    print(f"2. {graph.num_nodes:,} nodes, {graph.num_edges:,} edges, against one SciPy product")
    against_product(graph)
    print(f"3. {graph.adjacency.nnz:,} directed edges, against torch_geometric.utils.homophily")
    against_pyg(graph, given.rounds)


if __name__ == "__main__":
    main()
