"""What a model folder knows of reading: kept by train, used by predict and explain."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.data.options import OPTIONS
from heterophily.data.source import GraphSource
from heterophily.data.wording import listed
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.prediction.model import TrainedModel

NAMES_FILES = ("graph", "edges", "nodes", "name", "data_folder", "offline")
NOT_KEPT = (*NAMES_FILES, "split")
"""Options that belong to the files of training, not to the way of reading them."""


def reading(source: GraphSource) -> dict[str, Any]:
    """Return how a graph was read, for the card of a model."""
    found = source.resolved().to_dict()
    return {key: value for key, value in found.items() if key not in NOT_KEPT}


def kept_facts(source: GraphSource, graph: Graph) -> dict[str, Any]:
    """Return what the card of a model keeps: how its graph was read, and the sizes of classes."""
    return {"read": reading(source), "class_sizes": graph.report.class_sizes}


def predict_command(folder: Path, source: GraphSource) -> str:
    """Return the command that predicts on the graph of training."""
    named = {key: value for key, value in source.to_dict().items() if key in NAMES_FILES}
    words = shlex.join(["heterophily", "predict", str(folder)])
    return f"{words} {GraphSource.from_dict(named).arguments()} --out predictions.csv"


def as_trained(model: TrainedModel, given: GraphSource) -> GraphSource:
    """Return a source read as the graph of training was; what is given here comes first."""
    asked = given.resolved()
    kept = {
        key: value
        for key, value in model.card.get("read", {}).items()
        if key in OPTIONS and asked.kind in OPTIONS[key].kinds
    }
    return GraphSource.from_dict({**kept, **asked.to_dict()})


def open_for(model: TrainedModel, given: GraphSource, *, with_labels: bool) -> Graph:
    """Open a graph for a model: columns are found and encoded as in training.

    Labels are read only if they are wanted: a table without them, or with others, is welcome.
    """
    source = as_trained(model, given)
    if source.kind != "tables" or source.nodes is None:
        return source.open()
    columns = _columns(source)
    source = _without_strange_columns(model, source, columns, with_labels=with_labels)
    if model.trained_on.encoder is None:
        return source.open()
    from heterophily.data.encode import Encoder

    encoder = Encoder.from_dict(model.trained_on.encoder)
    if not encoder.names and source.unknown_ends == "refuse":  # a list of labels named some nodes
        source = source.replace(unknown_ends="add")
    if encoder.names and not set(encoder.names) & set(columns):
        raise InputError(
            f"{source.nodes} has none of the columns that the model was trained with: "
            f"{listed(encoder.names)}"
        )
    return source.open(encoder=encoder)


def _without_strange_columns(
    model: TrainedModel, source: GraphSource, found: tuple[str, ...], *, with_labels: bool
) -> GraphSource:
    """Name only columns that the table has; the label is left out unless it is wanted."""
    from heterophily.data.tables.columns import LABELS

    like_labels = [name for name in found if name.strip().lower() in LABELS]
    label = source.label or next(iter(like_labels), None)
    label = label if label in found else None
    ignore = [name for name in source.ignore if name in found]
    if not with_labels:  # nor any other column that would be taken for the label
        ignore, label = [*ignore, *([] if label is None else [label]), *like_labels], None
    known = model.trained_on.feature_names if model.trained_on.encoder is None else None
    return source.replace(
        label=label,
        ignore=tuple(dict.fromkeys(ignore)),
        features=known,
        columns={},
    )


def _columns(source: GraphSource) -> tuple[str, ...]:
    """Return the names of the columns of the node table."""
    from heterophily.data.tables.open import open_table

    assert source.nodes is not None
    table = open_table(
        source.nodes, "nodes", delimiter=source.delimiter, has_header=source.has_header
    )
    return tuple(table.columns)
