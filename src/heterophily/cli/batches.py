"""A graph on disk on the command line, and the way in which a model is trained on it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heterophily.data.source import GraphSource
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.models.spec import ModelSpec

_GB = 2**30


@dataclass(frozen=True, eq=False)
class ChosenWay:
    """How a graph is trained: the graph as it is needed, the settings, and why."""

    graph: Any
    config: Mapping[str, Any]
    is_on_disk: bool = False
    way: str = "full"
    needed: int = 0
    full: int = 0
    limit: int = 0
    is_asked: bool = False

    def sentence(self, model: str) -> str:
        """Say which way was chosen, and why."""
        from heterophily.batches.fits import WAYS

        why = "as asked for"
        if not self.is_asked:
            why = f"the whole graph would need about {self.full / _GB:,.1f} GB"
        return (
            f"{model} on {self.graph.name} ({self.graph.num_nodes:,} nodes, "
            f"{self.graph.num_edges:,} edges): {WAYS[self.way]}, {why}; needs about "
            f"{self.needed / _GB:,.1f} GB of memory, {self.limit / _GB:,.1f} GB may be used"
        )


def is_on_disk(source: GraphSource) -> bool:
    """Whether a source names the folder of a graph on disk."""
    if source.graph is None:
        return False
    from heterophily.data.disk.write import is_disk_graph

    return is_disk_graph(source.graph)


@contextlib.contextmanager
def memory_of_command(source: GraphSource) -> Iterator[None]:
    """Let ``--memory`` hold for all of a command on a graph on disk, its threads included.

    For other graphs it holds while they are read.
    """
    if source.memory is None or not is_on_disk(source):
        yield
        return
    from heterophily.data.memory import VARIABLE, as_bytes

    try:
        as_bytes(source.memory)
    except InputError as error:
        raise InputError(f"--memory {error}") from None
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = source.memory
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def open_any(source: GraphSource) -> Any:
    """Open a graph in memory, or the folder of one on disk."""
    if not is_on_disk(source):
        return source.open()
    from heterophily.data.disk.graph import DiskGraph

    return DiskGraph.open(source.graph or "")


def too_large_for_auto(source: GraphSource) -> bool:
    """Whether a source names a graph on disk on which full batches do not fit memory."""
    if not is_on_disk(source):
        return False
    from heterophily.batches.fits import memory_of, size_of
    from heterophily.data.memory import limit
    from heterophily.models.catalog import MODELS

    graph = open_any(source)
    size = size_of(graph)
    return memory_of("full", MODELS["acm-gcn"], size) > limit()


def choose_batches(
    graph: Any,
    spec: ModelSpec,
    *,
    asked: str,
    numbers: Mapping[str, int],
    config: Mapping[str, Any],
) -> ChosenWay:
    """Choose how a model is trained: in memory as asked (by default full), on disk by size."""
    from heterophily.batches.fits import memory_of, size_of, way_for, ways_of
    from heterophily.batches.prepare import check_way
    from heterophily.data.disk.graph import DiskGraph
    from heterophily.data.memory import limit
    from heterophily.training.config import BATCHES

    if asked not in ("auto", *BATCHES):
        raise InputError(f"--batches {asked}; choose auto, {', '.join(BATCHES)}")
    check_way(spec, asked)
    if not isinstance(graph, DiskGraph):
        way = "full" if asked == "auto" else asked
        return ChosenWay(graph, _settings(graph, way, numbers, config), way=way)
    size = size_of(graph)
    room = limit()
    chosen = asked if asked != "auto" else way_for(spec, size, room)
    if chosen is None:
        ways = ways_of(spec)
        raise InputError(
            f"{graph.name} with {graph.num_nodes:,} nodes and {graph.num_edges:,} edges is too "
            f"large for this model: training it ({' or '.join(ways)}) needs at least "
            f"{memory_of(ways[-1], spec, size) / _GB:,.1f} GB of memory, and {room / _GB:,.1f} GB "
            "may be used; raise --memory, or choose acm-sgc-1, acm-sign or mlp-2"
        )
    needed = memory_of(chosen, spec, size)
    if chosen != "sampled" and needed > room:  # what samples read is mapped, not held
        raise InputError(
            f"--batches {chosen} needs about {needed / _GB:,.1f} GB of memory, and "
            f"{room / _GB:,.1f} GB may be used; raise --memory, or leave out --batches"
        )
    if chosen == "full":
        return ChosenWay(graph.to_graph(), _settings(graph, chosen, numbers, config))
    return ChosenWay(
        graph,
        _settings(graph, chosen, numbers, config),
        is_on_disk=True,
        way=chosen,
        needed=needed,
        full=memory_of("full", spec, size),
        limit=room,
        is_asked=asked != "auto",
    )


def _settings(
    graph: Any, way: str, numbers: Mapping[str, int], config: Mapping[str, Any]
) -> dict[str, Any]:
    if way == "full":
        for name in numbers:
            raise InputError(
                f"--{name.replace('_', '-')} is for mini-batches, and this training sees the whole "
                "graph in every step; add --batches channels or --batches sampled, or leave out "
                f"--{name.replace('_', '-')}"
            )
        return dict(config)
    import numpy as np

    from heterophily.batches.fits import length_of_training

    known = 0 if graph.labels is None else np.count_nonzero(np.asarray(graph.labels) >= 0)
    length = length_of_training(int(known), **numbers)
    return {**length, **config, **numbers, "batches": way}


def disk_facts(graph: Any) -> dict[str, Any]:
    """Return what the card of a model keeps of a graph on disk: the sizes of its classes."""
    import numpy as np

    labels = np.asarray(graph.labels)
    counts = np.bincount(labels[labels >= 0], minlength=len(graph.class_names))
    sizes = dict(zip(graph.class_names, counts.tolist(), strict=True))
    return {"read": {}, "class_sizes": sizes}
