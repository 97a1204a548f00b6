"""What is asked for: graphs, models, seeds; and what figures need of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.catalog import DATASETS
from heterophily.data.graph import Graph
from heterophily.data.source import open_graph
from heterophily.errors import InputError, lookup
from heterophily.evaluation.split_rules import SPLIT_RULES, default_rule
from heterophily.learning.progress import Progress
from heterophily.metrics.label_counts import label_counts, need_edges

if TYPE_CHECKING:
    from heterophily.comparison.portrait import Portrait

MOST_NODES = 5000
"""Nodes that are embedded or drawn one by one; more are sampled down, and the figure says so."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What to draw. Fields that a figure has no use for are ignored.

    Parameters
    ----------
    graphs
        Catalog names, files, or graphs.
    models, repeats, splits, seed, preset, engine, max_epochs
        What is trained, see :func:`~heterophily.comparison.portraits.portraits`.
    nodes
        At most so many nodes are embedded or drawn one by one.
    results, store
        Where results of ours are read from.
    runs
        The store where models are trained, a file or a URL.
    only_finished
        Draw only what needs no new training.
    workers, executor
        Where to train.
    """

    graphs: tuple[str | Graph, ...] = ()
    models: tuple[str, ...] = ()
    repeats: int = 1
    splits: str | None = None
    seed: int = 0
    preset: str | None = "paper"
    engine: str = "auto"
    max_epochs: int | None = None
    nodes: int = 2000
    results: tuple[Path, ...] = ()
    store: str | Path | None = None
    runs: str | Path = "memory:"
    only_finished: bool = False
    executor: str = "local"
    workers: int | None = None
    data_folder: Path | None = None
    offline: bool = False
    progress: Progress | None = None
    opened: dict[str, Graph] = field(default_factory=dict, repr=False)

    def identity(self, options: tuple[str, ...]) -> dict[str, Any]:
        """Return what the records depend on, as plain data: equal requests have equal records."""
        found: dict[str, Any] = {}
        for name in options:
            value = getattr(self, name)
            if name == "graphs":
                value = [{"name": name_of(g), "sha256": self._hash(g)} for g in value]
            elif name in ("results", "store"):
                value = (
                    [_digest(path) for path in (value or ())]
                    if name == "results"
                    else (None if value is None else _digest(value))
                )
            elif name == "splits":
                value = SPLIT_RULES[self.split_rule].stored
            found[name] = list(value) if isinstance(value, tuple) else value
        return found

    @property
    def split_rule(self) -> str:
        """The split rule: named, or that of the preset."""
        rule = self.splits or default_rule(self.preset)
        lookup(SPLIT_RULES, "split rule", rule)
        return rule

    def _hash(self, graph: str | Graph) -> str:
        """Return the content of a graph; catalog names are pinned and need no data."""
        if isinstance(graph, str) and graph in DATASETS:
            return DATASETS[graph].content_hash or ""
        return self.open(graph).content_hash

    def open(self, graph: str | Graph) -> Graph:
        """Return a graph; what was opened once is kept."""
        if isinstance(graph, Graph):
            return graph
        if graph not in self.opened:
            self.opened[graph] = open_graph(
                graph, data_folder=self.data_folder, offline=self.offline
            )
        return self.opened[graph]

    def portraits_of(self, graph: str | Graph) -> dict[str, list[Portrait]]:
        """Return the portraits of the models on a graph; trains those that are missing."""
        from heterophily.comparison.portraits import portraits
        from heterophily.runs.executors.choose import executor_of
        from heterophily.runs.stores.url import open_store

        check_classes(self.open(graph))
        with open_store(self.runs) as store:
            return portraits(
                graph,
                self.models,
                repeats=self.repeats,
                splits=self.split_rule,
                seed=self.seed,
                preset=self.preset,
                engine=self.engine,
                only_finished=self.only_finished,
                data_folder=self.data_folder,
                offline=self.offline,
                max_epochs=self.max_epochs,
                progress=self.progress,
                store=store,
                executor=executor_of(self.executor, self.workers, is_short=True),
            )


def name_of(graph: str | Graph) -> str:
    """Return what to call a graph: its name, or the name of its file.

    >>> name_of("data/mine.npz"), name_of("cora")
    ('mine', 'cora')
    """
    if isinstance(graph, Graph):
        return graph.name
    return graph if graph in DATASETS else Path(graph).stem


def check_classes(graph: Graph, what: str = "this figure") -> None:
    """Refuse a graph without labels, with a single class, or without edges."""
    present = np.unique(graph.labels[graph.is_labelled])
    if present.size == 0:
        raise InputError(
            f"{graph.name!r} has no labelled node, and {what} needs labels; heterophily convert "
            "--label makes a file that has them"
        )
    if present.size < 2:
        raise InputError(
            f"all labelled nodes of {graph.name!r} are of one class "
            f"({graph.class_names[int(present[0])]!r}); {what} needs at least two classes"
        )
    need_edges(label_counts(graph), graph, what)


def sample(count: int, most: int, *, seed: int) -> NDArray[np.int64]:
    """Return at most so many node numbers, in order, drawn without replacement.

    >>> sample(3, 5, seed=0).tolist(), sample(100, 2, seed=0).size
    ([0, 1, 2], 2)
    """
    if not 1 <= most <= MOST_NODES:
        raise InputError(f"nodes={most}; choose 1 to {MOST_NODES:,}")
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


def shares(values: NDArray[Any], bins: int) -> list[int]:
    """Count values of [0, 1] in bins of equal width; values that are not a number are left out.

    >>> shares(np.array([0.0, 0.5, 1.0, np.nan]), 2)
    [1, 2]
    """
    kept = values[np.isfinite(values)]
    return [int(n) for n in np.histogram(kept, bins=bins, range=(0.0, 1.0))[0]]


def runs_of(portraits: list[Portrait]) -> list[dict[str, Any]]:
    """Say which runs a record was made from."""
    return [
        {
            "model": p.model,
            "graph": p.graph,
            "sha256": p.record.run["graph"]["content_hash"],
            "split": p.split,
            "engine": p.record.run["engine"],
            "epochs": len(p.train_loss),
            "test_accuracy": round(p.test_accuracy, 6),
            "key": p.record.key,
        }
        for p in portraits
    ]


def _digest(path: Path) -> str:
    """Return a hash of a file, or of the JSON files of a folder."""
    if not path.exists():
        raise InputError(f"{path}: no such file or folder of results")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    found = hashlib.sha256()
    for file in files:
        found.update(file.read_bytes())
    return found.hexdigest()[:32]
