"""``heterophily predict``: a model folder and a graph in, a table of predictions out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heterophily.cli import sources
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.graph import Graph
    from heterophily.data.tables.table import Table
    from heterophily.prediction.model import TrainedModel

Folder = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of heterophily train --out.")]
_SHOWN = 5  # rows that are printed without --out


def predict(
    model: Folder,
    graph: sources.GraphArgument = None,
    edges: sources.Edges = None,
    nodes: sources.Nodes = None,
    ignore: sources.Ignore = "",
    out: Annotated[Path | None, typer.Option(help="Write the table here (.csv).")] = None,
    data_folder: sources.DataFolder = None,
    offline: sources.Offline = False,
    json: sources.Json = False,
) -> None:
    """Predict label, class probabilities and channel weights of every node.

    The tables are read as in training. Nodes that training did not see are welcome, unless a
    weight of the model belongs to every node; labels are not used.
    """
    if out is not None and out.suffix != ".csv":
        raise InputError(f"--out {out}: the file ends in .csv")
    from heterophily.prediction.folder import load_model
    from heterophily.prediction.predict import predict as run

    loaded = load_model(model)
    opened = open_for(loaded, graph, edges, nodes, ignore, data_folder, offline, with_labels=False)
    found = run(loaded, opened)
    if out is not None:
        found.to_csv(out)
    if json:
        import json as json_module

        rows = [dict(zip(found.header, row, strict=True)) for row in found.rows()]
        print(json_module.dumps({"model": loaded.name, "rows": rows, "out": _text(out)}))
        return
    import numpy as np

    counts = np.bincount(found.classes, minlength=len(found.class_names))
    shares = ", ".join(f"{n} ({c})" for n, c in zip(found.class_names, counts, strict=True) if c)
    print(f"{loaded.name} on {opened.name}: {opened.num_nodes} nodes; {shares}")
    if out is not None:
        print(f"wrote {out}")
        return
    import itertools

    from heterophily.report.tables import plain

    print(plain(found.header, list(itertools.islice(found.rows(), _SHOWN))))
    print("the first rows; --out predictions.csv writes all of them")


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def open_for(
    model: TrainedModel,
    graph: str | None,
    edges: Path | None,
    nodes: Path | None,
    ignore: str,
    data_folder: Path | None,
    offline: bool,
    *,
    with_labels: bool,
) -> Graph:
    """Open a graph as the card says that the training graph was read."""
    read: dict[str, Any] = dict(model.card.get("read", {}))
    if graph is not None and edges is None and nodes is None:
        return _open_named(graph, read, data_folder, offline)
    if nodes is None or edges is None:
        return sources.open_source(graph, edges=edges, nodes=nodes)
    if graph is not None:
        raise InputError(f"{graph} and --edges name two graphs; give one of them")
    from heterophily.data.tables import read_tables

    options = _columns(model, read, nodes, ignore, with_labels=with_labels)
    return read_tables(
        edges,
        nodes,
        source=read.get("source"),
        target=read.get("target"),
        weight=read.get("weight"),
        node_id=read.get("node_id"),
        delimiter=sources.delimiter_of(read.get("delimiter")),
        has_header=read.get("has_header", True),
        direction="keep" if read.get("keep_direction") else "drop",
        self_loops="keep" if read.get("keep_self_loops") else "remove",
        **options,
    )


def _open_named(
    graph: str, read: Mapping[str, Any], data_folder: Path | None, offline: bool
) -> Graph:
    """Open a catalog name or a graph file."""
    from heterophily.data.source import open_graph

    kept = {key: read[key] for key in ("self_loops", "fill_unlabelled") if key in read}
    if read.get("keep_direction"):
        kept["direction"] = "keep"
    if read.get("keep_self_loops"):
        kept["self_loops"] = "keep"
    if Path(graph).suffix.lower() in (".graphml", ".gexf"):  # the label is no feature there
        kept["label"] = read.get("label")
    return open_graph(graph, data_folder=data_folder, offline=offline, **kept)


def _columns(
    model: TrainedModel,
    read: Mapping[str, Any],
    nodes: Path,
    ignore: str,
    *,
    with_labels: bool,
) -> dict[str, Any]:
    """Return how to read a node table: its label, and the feature columns of training.

    Columns are found by their names in training; a label column is read only if it is wanted.
    """
    from heterophily.data.tables.columns import LABELS, node_columns
    from heterophily.prediction.fit_graph import check_columns

    if not nodes.is_file():
        raise InputError(f"{nodes}: no such file")
    delimiter = sources.delimiter_of(read.get("delimiter"))
    table = _table(nodes, delimiter, has_header=read.get("has_header", True))
    left_out = {*sources.column_names(ignore), *sources.column_names(read.get("ignore", ""))}
    label = read.get("label")
    if label is None:
        label = next((c for c in table.columns if c.strip().lower() in LABELS), None)
    label = label if label in table.columns else None
    if label is not None and not with_labels:
        left_out, label = {*left_out, label}, None
    options: dict[str, Any] = {
        "label": label,
        "ignore": tuple(name for name in table.columns if name in left_out),
    }
    known = model.trained_on.feature_names
    if known is None:
        return options
    encoder = None
    if model.trained_on.encoder is not None:
        from heterophily.data.encode import Encoder

        encoder = Encoder.from_dict(model.trained_on.encoder)
        known = encoder.names
    if "features" in read:  # chosen by name in training: other columns never mattered
        names = tuple(name for name in known if name in table.columns)
    else:
        node_id = read.get("node_id")
        found = node_columns(table, node_id=node_id, split=None, features=None, **options)
        names = tuple(
            sorted(found.features, key=lambda n: known.index(n) if n in known else len(known))
        )
    if encoder is not None:
        names = tuple(name for name in names if name not in dict(encoder.left_out))
    check_columns(model, names)
    return {**options, "features": known or None, "encoder": encoder}


def _table(nodes: Path, delimiter: str | None, *, has_header: bool) -> Table:
    """Open a node table; nothing but its header is read."""
    from heterophily.data.tables.parquet import ParquetTable
    from heterophily.data.tables.table import suffix_of
    from heterophily.data.tables.text import TextTable

    if suffix_of(nodes) == ".parquet":
        return ParquetTable(nodes)
    return TextTable(nodes, delimiter=delimiter, has_header=has_header)
