"""Portraits made by hand: what a trained model would leave, without training."""

from __future__ import annotations

from typing import Any

import numpy as np

from heterophily.comparison.portrait import Portrait
from heterophily.data.graph import Graph
from heterophily.runs.record import Outcome, Record
from heterophily.runs.run import GraphRef, Run, SplitRef

HOSTILE = (
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "</script><script>alert(3)</script>",
    "]]>--><svg onload=alert(4)>",
    "$x \\frac{$",
)


def ring(count: int = 40, **parts: Any) -> Graph:
    """Return a ring whose nodes have the classes 0 0 1 1 0 0 1 1 ...: local homophily is 1/2."""
    labels = (np.arange(count) // 2) % 2
    features = np.eye(2)[labels] + 0.01 * np.arange(count)[:, None]
    given = {"labels": labels, "features": features, "name": "ring"} | parts
    return Graph.from_edges(np.arange(count), (np.arange(count) + 1) % count, **given)


def portrait(
    graph: Graph,
    *,
    model: str = "acm-gcn",
    split: int = 0,
    predictions: Any = None,
    test: Any = None,
    channels: tuple[str, ...] = ("low", "high", "identity"),
    layers: int = 2,
    epochs: int = 30,
) -> Portrait:
    """Return a portrait; by default every prediction is right."""
    rng = np.random.default_rng(split)
    count, classes = graph.num_nodes, graph.num_classes
    mask = np.arange(count) % 2 == 0 if test is None else np.asarray(test, bool)
    guessed = graph.labels if predictions is None else np.asarray(predictions)
    weights = tuple(
        rng.dirichlet([5] * len(channels), count).astype(np.float32)
        for _ in range(layers if channels else 0)
    )
    accuracy = float((guessed == graph.labels)[mask].mean())
    run = Run(
        model=model,
        options={},
        config={},
        graph=GraphRef(graph.name, graph.content_hash),
        split=SplitRef("random", split, 0, f"split{split}"),
        seed=split,
        resolved={"network": model},
    )
    outcome = Outcome("stopped", epochs, epochs // 2, 0.5, 0.6, 0.8, accuracy, 1.0, 100.0)
    return Portrait(
        record=Record.of(run, outcome),
        train_nodes=count - int(mask.sum()),
        labels=graph.labels,
        test=mask,
        predictions=guessed,
        logits=rng.normal(size=(count, classes)).astype(np.float32),
        train_loss=np.linspace(2, 0.5, epochs),
        validation_loss=np.linspace(2, 0.6, epochs),
        validation_accuracy=np.linspace(0.2, 0.8, epochs),
        channels=channels,
        weights=weights,
        outputs=tuple(rng.normal(size=(count, classes)).astype(np.float32) for _ in channels),
    )
