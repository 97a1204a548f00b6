"""Which graph, and how it is read: one value for every command, the page and Python."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heterophily.data.options import KIND_NAMES, OPTIONS, checked
from heterophily.data.remedies import remedy
from heterophily.errors import DataNotFoundError, InputError, lookup

if TYPE_CHECKING:
    from heterophily.data.adjacency import Direction, SelfLoops
    from heterophily.data.encode.encoder import Encoder
    from heterophily.data.graph import Graph
    from heterophily.data.tables.ends import UnknownEnds

FILE_KINDS = {
    ".npz": "npz", ".graphml": "markup", ".gexf": "markup", ".toml": "recipe", ".disk": "disk"
}  # fmt: skip
TABLE_SUFFIXES = (
    ".csv", ".tsv", ".tab", ".txt", ".edges", ".edgelist", ".parquet", ".jsonl", ".ndjson", ".gz"
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GraphSource:
    """Where a graph comes from and how it is read: a name, a file or two tables, and options.

    A plain value: it is checked when made, travels as a dictionary or a TOML file, and spells
    itself as words of the command line. Options that are left at their default are left to the
    reader (see :func:`heterophily.open_graph` and :func:`heterophily.read_tables`).

    Parameters
    ----------
    graph
        A catalog name, or a ``.npz``, ``.graphml``, ``.gexf`` file, a ``.disk`` folder that
        ``heterophily convert`` wrote, or a ``.toml`` file that :meth:`write` wrote; the other
        options given here then come before those in it. A table (``.csv``, ...) is taken as
        ``edges``.
    edges, nodes
        Files of tables, instead of ``graph``.
    label, source, target, weight, edge_type, node_id, split, features, ignore, columns
        Columns of the tables, as in :func:`heterophily.read_tables`; ``label`` also for markup.
    unknown_ends, encode, labels_are_classes, delimiter, has_header, direction, self_loops, \
    fill_unlabelled
        How they are read. ``delimiter`` may also be the word ``tab`` or ``space``.
    name
        What to call the graph.
    data_folder, offline
        Where datasets are looked for, and whether they may be downloaded.
    memory
        What reading may take, such as ``"4 GB"``; a file that needs more is refused.

    Examples
    --------
    >>> source = GraphSource(edges="transfers.csv", nodes="all accounts.csv", label="fraud")
    >>> source.arguments()
    "--edges transfers.csv --nodes 'all accounts.csv' --label fraud"
    >>> GraphSource.from_dict(source.to_dict()) == source
    True
    """

    graph: str | None = None
    edges: str | None = None
    nodes: str | None = None
    label: str | None = None
    source: str | None = None
    target: str | None = None
    weight: str | None = None
    edge_type: str | None = None
    node_id: str | None = None
    split: str | None = None
    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    unknown_ends: UnknownEnds = "refuse"
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    encode: bool = True
    labels_are_classes: bool = False
    delimiter: str | None = None
    has_header: bool | None = None
    direction: Direction | None = None
    self_loops: SelfLoops | None = None
    fill_unlabelled: int | None = None
    name: str | None = None
    data_folder: str | None = None
    offline: bool = False
    memory: str | None = None

    def __post_init__(self) -> None:
        """Check every option, and that they go together."""
        for key, value in self._given().items():
            object.__setattr__(self, key, checked(key, value))
        suffix = Path(self.graph or "").suffix.lower()
        is_file = bool(suffix) and suffix not in FILE_KINDS  # a name without one is of the catalog
        if self.edges is None and (suffix in TABLE_SUFFIXES or (is_file and self.nodes)):
            object.__setattr__(self, "edges", self.graph)
            object.__setattr__(self, "graph", None)
        if self.graph is None and self.edges is None and self.nodes is not None:
            raise InputError(
                f"the table of nodes {self.nodes} needs a table of edges: {remedy('send-edges')}; "
                "if its rows name other rows (a parent, a manager), give the same table for both"
            )
        if (self.graph is None) == (self.edges is None):
            raise InputError(
                "name one graph: either GRAPH (a name or a file) or --edges, with --nodes"
            )
        if self.kind == "recipe":
            return  # which options it takes is known when it is read
        for key, value in self._given().items():
            option = OPTIONS[key]
            if self.kind not in option.kinds:
                word = option.flag if isinstance(option.flag, str) else option.flag[value]
                whom = ", ".join(KIND_NAMES[kind] for kind in option.kinds)
                raise InputError(f"{word} is for {whom}, not for {self.graph}")

    # --- what it is ---------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """What it names: ``tables``, ``npz``, ``markup``, ``disk``, ``recipe`` or ``dataset``."""
        if self.edges is not None:
            return "tables"
        return FILE_KINDS.get(Path(self.graph or "").suffix.lower(), "dataset")

    def _given(self) -> dict[str, Any]:
        """Return the options that differ from their default."""
        values = {key: getattr(self, key) for key in OPTIONS}
        return {key: value for key, value in values.items() if value != _DEFAULTS[key]}

    def column_choices(self) -> dict[str, Any]:
        """Return which column is what, as engines beyond memory take it.

        >>> GraphSource(edges="e.csv", label="team", direction="keep").column_choices()["label"]
        'team'
        """
        names = ("source", "target", "node_id", "label", "split", "features", "ignore")
        return {
            **{name: getattr(self, name) for name in names},
            "labels_are_classes": self.labels_are_classes,
            "is_directed": self.direction == "keep",
        }

    def arguments(self) -> str:
        """Return the words of the command line that name this graph, quoted for a shell."""
        given = self._given().items()
        return shlex.join(word for key, value in given for word in OPTIONS[key].words(value))

    # --- other forms of the same value ----------------------------------------------------------

    def replace(self, **changes: Any) -> GraphSource:
        """Return a copy with some options changed."""
        return replace(self, **changes)

    def on(
        self,
        graph: str | Path | None = None,
        *,
        edges: str | Path | None = None,
        nodes: str | Path | None = None,
    ) -> GraphSource:
        """Return the same reading of other files; options that are not for them are left out."""
        named = {"graph": graph, "edges": edges, "nodes": nodes}
        other = GraphSource(**{key: value for key, value in named.items() if value is not None})  # type: ignore[arg-type]
        kept = {
            key: value
            for key, value in self.resolved()._given().items()
            if key not in named and other.kind in (*OPTIONS[key].kinds, "recipe")
        }
        return other.replace(**kept)

    def to_dict(self) -> dict[str, Any]:
        """Return the options that differ from their default, as plain data."""
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in self._given().items()
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GraphSource:
        """Return the value of :meth:`to_dict`; unknown keys are refused."""
        for key in data:
            lookup(OPTIONS, "option of a graph source", key)
        return cls(**data)

    def write(self, path: str | Path) -> None:
        """Write a TOML file that :func:`heterophily.open_graph` and every command open.

        Names of files in it are relative to its folder, unless they were absolute and lie
        elsewhere. The file appears whole or not at all.
        """
        from heterophily.data.recipe import write_recipe

        write_recipe(path, self.resolved().to_dict())

    @classmethod
    def read(cls, path: str | Path) -> GraphSource:
        """Read a TOML file of :meth:`write`."""
        from heterophily.data.recipe import read_recipe

        content = read_recipe(path)
        try:
            found = cls.from_dict(content)
        except (InputError, LookupError) as error:
            raise InputError(f"{Path(path).name}: {error}") from None
        if found.kind == "recipe":
            raise InputError(f"{Path(path).name}: graph = names another recipe; name its files")
        return found

    def resolved(self) -> GraphSource:
        """Return what a recipe says, with the options given here before those in it."""
        if self.kind != "recipe":
            return self
        given = {key: value for key, value in self._given().items() if key != "graph"}
        return GraphSource.read(self.graph or "").replace(**given)

    # --- the graph ----------------------------------------------------------------------------

    def open(self, *, encoder: Encoder | None = None) -> Graph:
        """Read the graph; with ``encoder``, encode its node table as another one was."""
        source = self.resolved()
        if source.memory is not None:
            from heterophily.data.memory import memory_limit

            with memory_limit(source.memory):
                return source.replace(memory=None).open(encoder=encoder)
        if encoder is not None and source.kind != "tables":
            raise InputError(f"encoder= is for tables, not for {source.graph}")
        options = source._given()
        for key in ("graph", "edges", "nodes", "name", "data_folder", "offline"):
            options.pop(key, None)
        if source.edges is not None:
            from heterophily.data.tables import read_tables

            if encoder is not None:
                options["encoder"] = encoder
            return read_tables(source.edges, source.nodes, name=source.name, **options)
        graph = _OPENERS[source.kind](source, options)
        return graph if source.name is None else graph.replace(name=source.name)


_DEFAULTS = {
    each.name: each.default if each.default is not MISSING else {} for each in fields(GraphSource)
}


def _existing(name: str | None) -> Path:
    path = Path(name or "")
    if not path.exists():
        raise DataNotFoundError(f"{path}: no such file")
    return path


def _open_npz(source: GraphSource, options: dict[str, Any]) -> Graph:
    from heterophily.data.npz import read_npz

    return read_npz(_existing(source.graph), **options)


def _open_markup(source: GraphSource, options: dict[str, Any]) -> Graph:
    from heterophily.data.markup import read_markup

    return read_markup(_existing(source.graph), **options)


def _open_disk(source: GraphSource, options: dict[str, Any]) -> Graph:
    from heterophily.data.disk.graph import DiskGraph

    return DiskGraph.open(_existing(source.graph)).to_graph()


def _open_dataset(source: GraphSource, options: dict[str, Any]) -> Graph:
    from heterophily.data.catalog import DATASETS, load

    name = source.graph or ""
    if Path(name).exists() and name not in DATASETS:
        raise InputError(
            f"{name}: unknown kind of graph file; readable are {', '.join(sorted(FILE_KINDS))} "
            f"and {remedy('tables')}"
        )
    dataset = lookup(DATASETS, "dataset or graph file", name)
    return load(dataset.name, data_folder=source.data_folder, offline=source.offline, **options)


_OPENERS: dict[str, Callable[[GraphSource, dict[str, Any]], Graph]] = {
    "npz": _open_npz,
    "markup": _open_markup,
    "disk": _open_disk,
    "dataset": _open_dataset,
}


def open_graph(
    spec: str | Path,
    *,
    data_folder: str | Path | None = None,
    offline: bool = False,
    direction: Direction | None = None,
    self_loops: SelfLoops | None = None,
    fill_unlabelled: int | None = None,
    label: str | None = None,
    labels_are_classes: bool = False,
) -> Graph:
    """Open a graph by catalog name or by the path of its file.

    Files are ``.npz``, ``.graphml`` and ``.gexf``, and ``.toml`` files that say which tables to
    read and how (see :class:`GraphSource`). Without ``direction`` and ``self_loops`` a dataset is
    made undirected and loses its self loops, and a file written by this package comes back as it
    was written. ``label`` names the node attribute that holds the label, for the two markup
    formats; ``labels_are_classes`` takes every distinct label of a file as a class, even if they
    look like numbers on a scale or ids. Tables come in pairs and have their own reader,
    :func:`heterophily.read_tables`.
    """
    return GraphSource(
        graph=checked("graph", spec),
        data_folder=None if data_folder is None else os.fspath(data_folder),
        offline=offline,
        direction=direction,
        self_loops=self_loops,
        fill_unlabelled=fill_unlabelled,
        label=label,
        labels_are_classes=labels_are_classes,
    ).open()
