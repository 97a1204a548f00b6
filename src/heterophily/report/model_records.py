"""Everything the report draws of trained models, as one plain record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from heterophily.comparison.portrait import Portrait
from heterophily.data.graph import Graph
from heterophily.errors import HeterophilyError, InputError
from heterophily.metrics.node_homophily import node_homophily_values
from heterophily.report.figures.accuracy_by_homophily import by_bin
from heterophily.report.figures.alpha import histograms
from heterophily.report.figures.embedding import embed, feature_rows
from heterophily.report.figures.request import runs_of, sample
from heterophily.report.figures.ternary import CORNERS, points
from heterophily.report.figures.training_curves import curves

MOST_MAPS = 3  # outputs that are embedded, besides the input
_FEWEST_NODES = 12


def model_records(
    portraits: Mapping[str, Sequence[Portrait]],
    graph: Graph,
    *,
    nodes: int = 2000,
    with_maps: bool = True,
    seed: int = 0,
) -> dict[str, Any]:
    """Sum up portraits of models on one graph.

    Parameters
    ----------
    portraits
        Model -> one portrait per split, of :func:`~heterophily.comparison.portraits.portraits`.
    graph
        The graph, for local homophily, node ids and input features.
    nodes
        At most so many nodes are drawn one by one and embedded (up to 5,000).
    with_maps
        Whether t-SNE maps are made: seconds for 2,000 nodes each, a minute for 5,000.
    """
    homophily = node_homophily_values(graph)
    every = {model: list(found) for model, found in portraits.items() if found}
    reasons: dict[str, str] = {}
    makers: dict[str, Callable[[], Any]] = {
        "accuracy": lambda: [by_bin(found, homophily) for found in every.values()],
        "weights": lambda: [
            _weights(found, homophily, nodes=nodes, seed=seed)
            for found in every.values()
            if found[0].weights
        ],
        "curves": lambda: [curves(found[0]) for found in every.values()],
        "maps": lambda: _maps(every, graph, nodes=nodes, seed=seed) if with_maps else None,
    }
    sections: dict[str, Any] = {}
    for name, make in makers.items():  # a part that fails costs that part
        try:
            sections[name] = make()
        except Exception as error:
            sections[name], reasons[name] = None, reason(error)
    return {
        "graph": graph.name,
        **sections,
        "runs": [run for found in every.values() for run in runs_of(found)],
        "reasons": reasons,
    }


def reason(error: Exception) -> str:
    """Say why a part is missing: our own sentence, or the kind of a fault that nobody foresaw.

    >>> reason(InputError("there is no labelled node")), reason(ZeroDivisionError("division"))
    ('there is no labelled node', 'an internal error (ZeroDivisionError: division)')
    """
    if isinstance(error, HeterophilyError):
        return str(error)
    return f"an internal error ({type(error).__name__}: {error})"


def _weights(found: list[Portrait], homophily: Any, *, nodes: int, seed: int) -> dict[str, Any]:
    first = found[0]
    places = {0: "hidden", -1: "output"} if len(first.weights) > 1 else {-1: "only"}
    has_triangle = set(first.channels) == set(CORNERS)
    return {
        "model": first.model,
        "layers": [(name, histograms(found, layer=layer)) for layer, name in places.items()],
        "triangle": points(first, homophily, most=nodes, seed=seed) if has_triangle else None,
    }


def _maps(
    every: dict[str, list[Portrait]], graph: Graph, *, nodes: int, seed: int
) -> dict[str, Any] | None:
    chosen = sample(graph.num_nodes, nodes, seed=seed)
    if chosen.size < _FEWEST_NODES:
        return None
    best = sorted(every.values(), key=lambda found: -np.mean([p.test_accuracy for p in found]))
    maps: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    if graph.features is not None and graph.features.shape[1] > 0:
        x, y = embed(feature_rows(graph, chosen, seed=seed), seed=seed)
        maps["input features"] = {"x": x, "y": y}
    for first in (found[0] for found in best[:MOST_MAPS]):
        title = f"output of {first.model}, split 0"
        try:
            x, y = embed(first.logits[chosen], seed=seed)
        except InputError as error:
            reasons[title] = str(error)
            continue
        guessed = first.predictions[chosen].tolist()
        maps[title] = {"x": x, "y": y, "predicted": guessed}
    return {
        "nodes": graph.num_nodes,
        "classes": list(graph.class_names),
        "ids": graph.node_ids[chosen].tolist(),
        "labels": graph.labels[chosen].tolist(),
        "maps": maps,
        "reasons": reasons,
    }
