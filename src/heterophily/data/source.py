"""One graph argument: a catalog name, a graph file, or a pair of tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from heterophily.data.adjacency import Direction, SelfLoops
from heterophily.data.graph import Graph
from heterophily.errors import DataNotFoundError, InputError, lookup


def _read_npz(path: Path, **options: Any) -> Graph:
    from heterophily.data.npz import read_npz

    if options.pop("label", None) is not None:
        raise InputError(f"{path.name}: --label is for tables and markup; an .npz holds its labels")
    return read_npz(path, **options)


def _read_markup(path: Path, **options: Any) -> Graph:
    from heterophily.data.markup import read_markup

    if options.pop("fill_unlabelled", None) is not None:
        raise InputError(f"{path.name}: fill_unlabelled is for .npz files and catalog names")
    return read_markup(path, **options)


READERS: dict[str, Callable[..., Graph]] = {
    ".npz": _read_npz,
    ".graphml": _read_markup,
    ".gexf": _read_markup,
}
TABLE_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".gz")


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
    """Open a graph by catalog name or by the path of a ``.npz``, ``.graphml`` or ``.gexf`` file.

    Without ``direction`` and ``self_loops`` a dataset is made undirected and loses its self loops,
    and a file written by this package comes back as it was written. ``label`` names the node
    attribute that holds the label, for the two markup formats; ``labels_are_classes`` takes every
    distinct label of a file as a class, even if they look like numbers on a scale or ids. Tables
    come in pairs and have their own reader, :func:`heterophily.read_tables`.
    """
    from heterophily.data.catalog import DATASETS, load

    given = {
        "direction": direction,
        "self_loops": self_loops,
        "fill_unlabelled": fill_unlabelled,
    }
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    path = Path(spec)
    reader = READERS.get(path.suffix.lower())
    if reader is not None:
        if not path.exists():
            raise DataNotFoundError(f"{path}: no such file")
        if label is not None:
            options["label"] = label
        if labels_are_classes:
            options["labels_are_classes"] = True
        return reader(path, **options)
    if path.suffix.lower() in TABLE_SUFFIXES:
        raise InputError(
            f"{path.name} is a table: pass it as --edges (and a node table as --nodes); "
            "in Python use heterophily.read_tables"
        )
    if path.exists() and str(spec) not in DATASETS:
        raise InputError(
            f"{path}: unknown kind of graph file; readable are {', '.join(sorted(READERS))} "
            "and tables (--edges, --nodes)"
        )
    dataset = lookup(DATASETS, "dataset or graph file", str(spec))
    if label is not None:
        raise InputError(f"{spec}: --label is for tables and markup; a dataset holds its labels")
    return load(dataset.name, data_folder=data_folder, offline=offline, **options)
