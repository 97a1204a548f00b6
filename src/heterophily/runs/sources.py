"""Where the graphs, splits and models of runs come from, and the tensors made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

from heterophily.errors import InputError
from heterophily.runs.engines import native_buffers
from heterophily.runs.run import Run, canonical, digest

if TYPE_CHECKING:
    from heterophily.channels.rows import AnyGraph
    from heterophily.data.graph import Graph
    from heterophily.data.splits import Split
    from heterophily.engine.buffers import GraphBuffers
    from heterophily.layers.inputs import GraphInputs, InputOptions
    from heterophily.models.spec import ModelSpec


class Sources:
    """What runs refer to, by content; the last graph stays prepared.

    It travels to worker processes without anything that is open or prepared.

    Parameters
    ----------
    graphs
        How to open each graph, by content hash.
    splits
        The splits, by digest.
    models
        Specs that are not of the table, by the hash of what their runs say of them.
    """

    def __init__(
        self,
        graphs: Mapping[str, Callable[[], AnyGraph]] | None = None,
        splits: dict[str, Split] | None = None,
        models: dict[str, ModelSpec] | None = None,
    ) -> None:
        self.graphs: dict[str, Callable[[], AnyGraph]] = dict(graphs or {})
        self.splits, self.models = splits or {}, models or {}
        self.forget()

    def __getstate__(self) -> dict[str, Any]:
        """Return what travels to a worker."""
        return {"graphs": self.graphs, "splits": self.splits, "models": self.models}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with nothing prepared."""
        self.__dict__.update(state)
        self.forget()

    def forget(self) -> None:
        """Let go of the graph that is open and of all that was prepared of it."""
        self._graph: AnyGraph | None = None
        self._inputs: dict[tuple[InputOptions, str], GraphInputs] = {}
        self._buffers: dict[InputOptions, GraphBuffers | None] = {}
        self._lock = RLock()

    def content(self) -> str:
        """Return a hash of all that can be asked for: equal for equal sources."""
        return digest(canonical([sorted(self.graphs), sorted(self.splits), sorted(self.models)]))

    def add_model(self, resolved: Any, spec: ModelSpec) -> None:
        """Remember a spec that is not of the table, under what its runs say of it."""
        self.models[digest(canonical(resolved))] = spec

    def spec(self, run: Run) -> ModelSpec:
        """Return the model of a run."""
        if "source" in run.resolved:
            return self.models[digest(canonical(run.resolved))]
        from heterophily.models.catalog import MODELS

        # what a run does not name: options that runs did not have from the beginning
        unnamed = {"features": "counts", "edge_types": ()}
        return MODELS[run.model].with_options(**{**unnamed, **run.options})

    def split(self, run: Run) -> Split:
        """Return the split of a run."""
        return self.splits[run.split.digest]

    def graph(self, run: Run) -> Graph:
        """Return the graph of a run that is trained in memory."""
        return cast("Graph", self.any_graph(run))

    def any_graph(self, run: Run) -> AnyGraph:
        """Return the graph of a run; the last one is kept, runs come sorted by graph."""
        wanted = run.graph.content_hash
        with self._lock:
            if self._graph is None or self._graph.content_hash != wanted:
                self._graph = None
                graph = self.graphs[wanted]()
                if graph.content_hash != wanted:
                    raise InputError(
                        f"{run.graph.name} changed on disk while the study was running; "
                        "give the command again"
                    )
                self.hold(graph)
                self._graph = graph
            return self._graph

    def hold(self, graph: AnyGraph) -> None:
        """Keep a graph that was just opened as the last one."""
        with self._lock:
            if self._graph is None or self._graph.content_hash != graph.content_hash:
                self._inputs.clear()
                self._buffers.clear()
                self._graph = graph

    def inputs(self, run: Run) -> GraphInputs:
        """Return the graph of a run as tensors, prepared once for each kind of input."""
        from heterophily.layers.inputs import GraphInputs

        with self._lock:
            graph, options = self.graph(run), self.spec(run).inputs
            known = (options, run.device)
            if known not in self._inputs:
                self._inputs[known] = GraphInputs.from_graph(graph, options, device=run.device)
            return self._inputs[known]

    def buffers(self, run: Run) -> GraphBuffers | None:
        """Return what the native engine reads of a graph, or None if it does not train the run."""
        if run.engine == "torch":
            return None
        with self._lock:
            inputs, options = self.inputs(run), self.spec(run).inputs
            if options not in self._buffers:
                graph = self.graph(run)
                self._buffers[options] = native_buffers(inputs, graph.labels, graph.num_classes)
            return self._buffers[options]
