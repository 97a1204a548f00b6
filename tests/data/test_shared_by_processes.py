"""A graph is the same in processes that were forked and in those that were spawned."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest

from heterophily import Graph, random_splits
from heterophily.metrics.catalog import METRICS


def _graph() -> Graph:
    rng = np.random.default_rng(0)
    return Graph.from_edges(
        *rng.integers(0, 50, (2, 200)),
        num_nodes=50,
        labels=np.arange(50) % 3,
        features=rng.normal(size=(50, 4)),
        class_names=("a", "b", "c"),
        splits=random_splits(np.arange(50) % 3, repeats=2, seed=0),
    )


def _arrays(graph: Graph) -> list[Any]:
    matrix, split = graph.adjacency, graph.splits
    parts = [matrix.data, matrix.indices, matrix.indptr, graph.features, graph.labels]
    assert split is not None
    return [*parts, graph.node_ids, split.train, split.validation, split.test]


def _facts(graph: Graph) -> tuple[str, bool, float]:
    return (
        graph.content_hash,
        any(part.flags.writeable for part in _arrays(graph)),
        float(METRICS["edge_homophily"](graph)),
    )


def _answer(graph: Graph, out: Connection) -> None:
    out.send(_facts(graph))
    out.close()


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_see_the_same_frozen_graph(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"{sys.platform} cannot {method}")
    context = multiprocessing.get_context(method)
    graph = _graph()
    wanted = _facts(graph)
    assert not wanted[1]
    pipes = [context.Pipe(duplex=False) for _ in range(2)]
    processes = [context.Process(target=_answer, args=(graph, end)) for _, end in pipes]
    for process in processes:
        process.start()
    for (_, end), (start, _), process in zip(pipes, pipes, processes, strict=True):
        end.close()
        assert start.recv() == wanted
        process.join(60)
        assert process.exitcode == 0
