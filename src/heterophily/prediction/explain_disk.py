"""Why a node of a graph on disk got its label: exact, from the part of the graph that it sees."""

from __future__ import annotations

import re
from dataclasses import replace

from heterophily.batches.prepare import row_channels, sampled_layers
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.neighbourhood import neighbourhood, place_of
from heterophily.errors import InputError
from heterophily.prediction.explain import Explanation, explain
from heterophily.prediction.model import TrainedModel
from heterophily.prediction.predict_disk import check_disk_graph


def explain_on_disk(model: TrainedModel, graph: DiskGraph, node: str | int) -> Explanation:
    """Explain a node; nothing but its surroundings is read.

    Means over the nodes of a class (mixing weights, homophily) are not there: they would need all
    nodes.
    """
    check_disk_graph(model, graph)
    place = place_of(graph, node)
    around = neighbourhood(graph, place, hops_seen(model) + 1)  # neighbours are predicted too
    found = explain(model, around, str(graph.node_ids(slice(place, place + 1))[0]))
    shares = tuple(replace(share, class_weight=None) for share in found.channels)
    return replace(found, channels=shares, class_homophily=None)


def hops_seen(model: TrainedModel) -> int:
    """Return how far a model looks from a node; one more where degrees of those nodes matter."""
    most = 0
    for network in model.networks:
        channels = row_channels(network.spec)
        if channels is None:
            layers = sampled_layers(network.spec)
            if layers is None:
                raise InputError(
                    "this model looks at the whole graph; read it into memory to explain a node"
                )
        else:
            layers = max(
                (int(found[1]) for name in channels if (found := re.search(r"-(\d+)$", name))),
                default=0,
            )
        most = max(most, layers + (network.spec.inputs.normalization == "symmetric"))
    return most
