"""From a graph, a model and a configuration to the source of its mini-batches."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import scipy.sparse as sp

from heterophily.batches.neighbourhoods import Neighbourhoods
from heterophily.batches.precomputed import ChannelBatches
from heterophily.batches.sampled import SampledBatches
from heterophily.channels.channels import Channels
from heterophily.channels.columns import FeaturePanels, kind_of, scale_of
from heterophily.channels.operator import StreamedOperator
from heterophily.channels.precompute import compute_channels
from heterophily.channels.recipe import ChannelRecipe
from heterophily.channels.rows import AnyGraph, usable_threads
from heterophily.channels.stored import Stored
from heterophily.data.disk.graph import DiskGraph
from heterophily.errors import InputError
from heterophily.layers.feature_scaling import FeatureKind
from heterophily.layers.inputs import GraphInputs, GraphTraits, InputOptions
from heterophily.learning.progress import Progress
from heterophily.models.networks import RowWise
from heterophily.models.spec import ModelSpec

DISK_RUN = 64
"""Consecutive training nodes that stay together in a batch that is read from files."""

CHANNELS_VARIABLE = "HETEROPHILY_CHANNELS"
"""Environment variable: the folder for computed channels, instead of one inside the graph's."""


def channel_batches(
    graph: AnyGraph,
    spec: ModelSpec,
    *,
    columns: Mapping[str, list[float]] | None = None,
    progress: Progress | None = None,
) -> ChannelBatches:
    """Compute the channels that a model sees, or open them, and return batches of them."""
    names = _needed_channels(spec)
    channels = _channels(graph, spec.inputs, names, columns, progress)
    run_length = DISK_RUN if isinstance(graph, DiskGraph) else 1
    return ChannelBatches(channels, names, run_length=run_length)


def _channels(
    graph: AnyGraph,
    inputs: InputOptions,
    names: Sequence[str],
    columns: Mapping[str, list[float]] | None,
    progress: Progress | None = None,
) -> Channels:
    """Compute channels of a graph, scaled as the options say, or open them."""
    recipe = ChannelRecipe.for_names(
        names,
        edge_direction=inputs.edge_direction if graph.is_directed else "given",
        kind=inputs.normalization,
        renormalize=inputs.renormalize,
        features=inputs.features,
        row_normalize=inputs.row_normalize,
    )
    return compute_channels(
        graph,
        recipe,
        folder=os.environ.get(CHANNELS_VARIABLE),
        columns=columns,
        progress=progress,
    )


def traits_of(graph: AnyGraph) -> GraphTraits:
    """Look at a graph, in memory or on disk: what its features are, which types its edges have."""
    if not isinstance(graph, DiskGraph):
        return GraphTraits.of(graph)
    kind = kind_of(FeaturePanels(graph)) if graph.num_features else "counts"
    return GraphTraits(cast(FeatureKind, kind), ())


def row_channels(spec: ModelSpec) -> tuple[str, ...] | None:
    """Return the channels through which a model sees single nodes; None if it looks further.

    >>> from heterophily.models.catalog import MODELS
    >>> row_channels(MODELS["acm-sgc-1"]), row_channels(MODELS["acm-gcn"])
    (('own', 'low-1'), None)
    """
    network = spec.build(num_nodes=2, num_features=2, num_classes=2)
    return network.row_channels if isinstance(network, RowWise) else None


def sampled_layers(spec: ModelSpec) -> int | None:
    """Return the number of layers whose neighbourhoods can be sampled; None for other models.

    >>> from heterophily.models.catalog import MODELS
    >>> sampled_layers(MODELS["acm-gcn"]), sampled_layers(MODELS["gat"])
    (2, None)
    """
    from heterophily.models.networks import StackNetwork
    from heterophily.models.residual import ResidualNetwork

    options = spec.options
    if spec.network is StackNetwork:
        network = spec.build(num_nodes=2, num_features=2, num_classes=2)
        channels = [c for layer in network.backbone.layers for c in layer.channels]  # type: ignore[union-attr]
        is_plain = all(c.source == "features" and c.hops == 1 for c in channels)
        return int(options.depth) if is_plain else None
    if spec.network is ResidualNetwork and options.norm != "batch":
        plain = ("gcn", "sage", "acm", "acmii")
        is_plain = options.convolution in plain and "structure" not in options.layer_channels
        return int(options.depth) if is_plain else None
    return None


def check_way(spec: ModelSpec, way: str) -> None:
    """Refuse a kind of batches that a model cannot be trained by."""
    if way == "channels":
        _needed_channels(spec)
    if way == "sampled":
        _needed_layers(spec)


def _needed_channels(spec: ModelSpec) -> tuple[str, ...]:
    names = row_channels(spec)
    if names is None:
        raise InputError(
            "this model uses neighbours in every layer, so its channels cannot be computed once "
            "before the training; train it with --batches sampled, or choose acm-sgc-1, acm-sign "
            "or mlp-2"
        )
    return names


def _needed_layers(spec: ModelSpec) -> int:
    layers = sampled_layers(spec)
    if layers is None:
        raise InputError(
            "the neighbourhoods of this model cannot be sampled; those of acm-gcn, acmii-gcn, gcn, "
            "res-acm, res-acmii, res-gcn and res-sage can (without the structure channel: "
            "--option with_structure=false)"
        )
    return layers


def has_exact_first_layer(spec: ModelSpec) -> bool:
    """Whether the averages that the first of several layers needs can be computed once.

    >>> from heterophily.models.catalog import MODELS
    >>> has_exact_first_layer(MODELS["acm-gcn"]), has_exact_first_layer(MODELS["acmii-gcn"])
    (True, False)
    """
    from heterophily.models.networks import StackNetwork

    if spec.network is not StackNetwork or int(spec.options.depth) < 2:
        return False
    network: Any = spec.build(num_nodes=2, num_features=2, num_classes=2)
    return bool(network.backbone.first_channels == ("own", "low-1"))


def sampled_batches(
    graph: AnyGraph,
    spec: ModelSpec,
    fanout: int | None,
    *,
    columns: Mapping[str, list[float]] | None = None,
) -> SampledBatches:
    """Return batches of sampled neighbourhoods for a model; without fanout for exact logits alone.

    Where nodes have more neighbours than are drawn and the first layer filters X itself, ÂX is
    computed once (a channel, see :func:`channel_batches`) and read for the sampled nodes: only
    later layers are sampled. Of sparse features ÂX would be dense; there all neighbours of the
    sampled nodes are read, and their products with the first weight are averaged.
    """
    layers = _needed_layers(spec)
    inputs = spec.inputs
    if graph.is_directed and inputs.edge_direction != "given":
        raise InputError(f"edge_direction={inputs.edge_direction!r} cannot be sampled; use given")
    panels = FeaturePanels(graph)
    scale = scale_of(panels, inputs.features, row_normalize=inputs.row_normalize)
    operator = StreamedOperator.of(graph, kind=inputs.normalization, renormalize=inputs.renormalize)
    scale = scale.with_columns(columns)
    features = panels.stored(scale)
    averages: Stored | Literal["of-neighbours"] = ()
    entries = graph.num_entries if isinstance(graph, DiskGraph) else graph.adjacency.nnz
    is_cut = fanout is not None and entries > fanout * graph.num_nodes
    if is_cut and has_exact_first_layer(spec):
        averages = "of-neighbours"
        if not isinstance(features, sp.csr_array):
            averages = _channels(graph, inputs, ("own", "low-1"), columns).low["low-1"]
    neighbourhoods = Neighbourhoods(
        operator,
        features,
        scale,
        (fanout or 1,) * (layers - (len(averages) > 0)),
        threads=usable_threads(),
        averages=averages,
    )
    if isinstance(graph, DiskGraph):
        return SampledBatches(neighbourhoods, scratch=scratch_of(graph))
    whole = GraphInputs.from_graph(graph, inputs)
    return SampledBatches(neighbourhoods, whole=whole)


def scratch_of(graph: DiskGraph) -> Path:
    """Return a folder for what exact predictions put aside."""
    given = os.environ.get(CHANNELS_VARIABLE)
    return graph.folder if given is None else Path(given)
