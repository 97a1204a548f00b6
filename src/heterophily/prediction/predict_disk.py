"""Predictions on a graph on disk: exact, block by block, into a table that is never in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.batches.prepare import (
    channel_batches,
    row_channels,
    sampled_batches,
    sampled_layers,
)
from heterophily.data.atomic import atomic_path
from heterophily.data.disk.graph import DiskGraph
from heterophily.errors import InputError
from heterophily.prediction.calibration import tempered
from heterophily.prediction.members import Sizes, softmax
from heterophily.prediction.model import TrainedModel, Vote

ROWS = 1 << 17  # of one block of the table


@dataclass(frozen=True, eq=False)
class PredictedBlock:
    """What a model says about consecutive nodes."""

    rows: slice
    probabilities: NDArray[np.float64]  # (n, C), calibrated
    channel_weights: NDArray[np.float64] | None  # (n, K) of the last layer, mean over the members

    @property
    def classes(self) -> NDArray[np.int64]:
        """Most probable class of each node, (n,)."""
        return np.asarray(self.probabilities.argmax(1))


def can_read_in_parts(model: TrainedModel) -> bool:
    """Whether a model answers for a graph that stays on disk; others need it in memory."""
    specs = [network.spec for network in model.networks]
    return not model.why_not_inductive and all(
        row_channels(spec) is not None or sampled_layers(spec) is not None for spec in specs
    )


def check_disk_graph(model: TrainedModel, graph: DiskGraph) -> None:
    """Refuse a graph that the model cannot answer for, with the reason."""
    known = model.trained_on
    if graph.num_features != known.num_features:
        raise InputError(
            f"{graph.name} has {graph.num_features} feature columns, the model was trained with "
            f"{known.num_features}; give the columns it was trained with"
        )
    if graph.is_directed != known.is_directed:
        words = {True: "directed", False: "undirected"}
        raise InputError(
            f"{graph.name} is {words[graph.is_directed]}, the model was trained on an "
            f"{words[known.is_directed]} graph; convert both in the same way"
        )
    if known.encoder is not None:
        raise InputError(
            "the model encodes the columns of a table, which a graph on disk no longer has; train "
            "on the graph on disk"
        )
    if reason := model.why_not_inductive:
        raise InputError(f"the model is bound to the nodes it was trained on: {reason}")


def predict_blocks(model: TrainedModel, graph: DiskGraph) -> Iterator[PredictedBlock]:
    """Iterate over all nodes; nothing is sampled.

    One member is summed up after the other: the probabilities of all nodes are in memory, (N, C)
    in float32, and nothing else of that size.
    """
    check_disk_graph(model, graph)
    count, names = graph.num_nodes, model.channel_names
    total = np.zeros((count, len(model.class_names)), np.float32)
    mixed = np.zeros((count, len(names)), np.float32)
    mixing = 0
    for vote in model.votes:
        channels = model.networks[vote.network].channel_names
        places = [names.index(name) for name in channels]
        has_weights = False
        for rows, logits, weights in _member(model, graph, vote):
            total[rows] += softmax(logits)
            if weights and places:
                here = mixed[rows]  # a view
                here[:, places] += weights[-1].float().numpy()
                has_weights = True
        mixing += has_weights
    for at in range(0, count, ROWS):
        rows = slice(at, min(at + ROWS, count))
        votes = total[rows].astype(np.float64) / len(model.votes)
        yield PredictedBlock(
            rows,
            tempered(votes, model.temperature),
            mixed[rows].astype(np.float64) / mixing if mixing else None,
        )


def _member(model: TrainedModel, graph: DiskGraph, vote: Vote) -> Iterator[Any]:
    """Iterate over rows, logits and mixing weights of one member."""
    network = model.networks[vote.network]
    sizes = Sizes(graph.num_nodes, graph.num_features, len(model.class_names))
    built = model.network(vote, sizes)
    columns: Any = model.trained_on.columns
    if row_channels(network.spec) is not None:
        return channel_batches(graph, network.spec, columns=columns).exact_weights(built, None)
    return sampled_batches(graph, network.spec, None, columns=columns).exact_weights(built)


def write_predictions(
    model: TrainedModel, graph: DiskGraph, path: Path | None
) -> NDArray[np.int64]:
    """Write the table of all nodes (.csv or .parquet), whole or not at all.

    Returns how many nodes were given to each class, (C,). The rows come in the order of the nodes.
    """
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    counts = np.zeros(len(model.class_names), np.int64)
    if path is None:
        for block in predict_blocks(model, graph):
            counts += np.bincount(block.classes, minlength=counts.size)
        return counts
    openers = {".csv": pa_csv.CSVWriter, ".parquet": pq.ParquetWriter}
    if path.suffix not in openers:
        raise InputError(f"--out {path}: the file ends in .csv or .parquet")
    names = np.array(model.class_names)
    writer: Any = None
    with atomic_path(path) as temporary:
        try:
            for block in predict_blocks(model, graph):
                counts += np.bincount(block.classes, minlength=counts.size)
                columns: dict[str, Any] = {
                    "node": graph.node_ids(block.rows),
                    "label": names[block.classes],
                }
                for place, name in enumerate(model.class_names):
                    columns[f"p({name})"] = block.probabilities[:, place].astype(np.float32)
                if block.channel_weights is not None:
                    for place, name in enumerate(model.channel_names):
                        weights = block.channel_weights[:, place]
                        columns[f"channel({name})"] = weights.astype(np.float32)
                table = pa.table(columns)
                if writer is None:
                    writer = openers[path.suffix](str(temporary), table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
    return counts
