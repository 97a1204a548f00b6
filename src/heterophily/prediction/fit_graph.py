"""Does a graph fit a model? One sentence when it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from heterophily.data.encode import Encoder
from heterophily.data.graph import Graph
from heterophily.errors import InputError
from heterophily.prediction.model import TrainedModel, column_names, ids_digest

_SHOWN = 3


def check_graph(model: TrainedModel, graph: Graph) -> None:
    """Refuse a graph that the model cannot answer for, with the reason.

    Other nodes and edges are welcome when no weight belongs to a node. Features must be the same
    columns: by name where both are known, else by their number.
    """
    known = model.trained_on
    if graph.is_directed != known.is_directed:
        words = {True: "directed", False: "undirected"}
        raise InputError(
            f"{graph.name} is {words[graph.is_directed]}, the model was trained on an "
            f"{words[known.is_directed]} graph; read both in the same way (--directed)"
        )
    check_columns(model, column_names(graph))
    if known.encoder is not None and graph.encoder is not None:
        _check_encoder(known.encoder, graph)
    if graph.num_features != known.num_features:
        raise InputError(
            f"{graph.name} has {graph.num_features} feature columns, the model was trained with "
            f"{known.num_features}; give the columns it was trained with"
        )
    reason = model.why_not_inductive
    if reason is None:
        return
    remedy = "predict on the graph it was trained on, or train again with --inductive"
    if graph.num_nodes != known.num_nodes:
        raise InputError(
            f"{graph.name} has {graph.num_nodes} nodes, the model is bound to the "
            f"{known.num_nodes} nodes it was trained on: {reason}; {remedy}"
        )
    if ids_digest(graph) != known.node_ids:
        raise InputError(
            f"the node ids of {graph.name} are not those of training in the same order, and the "
            f"model is bound to them: {reason}; {remedy}"
        )


def _check_encoder(known: Mapping[str, Any], graph: Graph) -> None:
    """Refuse tables that were encoded by what they hold, not as in training."""
    assert graph.encoder is not None
    if Encoder.from_dict(known) != graph.encoder:
        raise InputError(
            f"the columns of {graph.name} were encoded anew, not as in training; pass the pair of "
            "tables (edges, nodes) itself, or read it with the encoder of the training graph"
        )


def check_columns(model: TrainedModel, names: Sequence[str] | None) -> None:
    """Refuse feature columns that are missing or extra; unknown names pass."""
    wanted = model.trained_on.feature_names
    if names is None or wanted is None:
        return
    if model.trained_on.encoder is not None:  # columns that it leaves out do not matter
        wanted = Encoder.from_dict(model.trained_on.encoder).names
    missing = [name for name in wanted if name not in set(names)]
    extra = [name for name in names if name not in set(wanted)]
    if missing:
        raise InputError(
            f"the node table lacks {_listed(missing)} that the model was trained with; add "
            "them to the table"
        )
    if extra:
        raise InputError(
            f"the node table has {_listed(extra)} that the model does not know; leave them out "
            f"with --ignore {','.join(extra)}"
        )
    if tuple(names) != wanted:
        raise InputError(
            "the feature columns stand in another order than in training; name them in this "
            f"order: --features {','.join(wanted[:_SHOWN])}{',...' * (len(wanted) > _SHOWN)}"
        )


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"the feature column{'s' * (len(names) > 1)} {shown}{more}"
