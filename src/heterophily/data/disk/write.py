"""A graph in memory to a graph on disk; large tables go through ``heterophily convert``."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.atomic import atomic_path
from heterophily.data.disk.files import encoded, file_sha256, write_blocks
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.manifest import (
    MANIFEST,
    WIDEST_PANEL,
    FeatureEntry,
    FileEntry,
    Manifest,
    PanelEntry,
    PartEntry,
    write_manifest,
)
from heterophily.data.disk.sparse import is_kept_sparse, write_sparse
from heterophily.data.folders import held, sync_folder
from heterophily.data.graph import Graph
from heterophily.errors import InputError

_ROWS = 1 << 18  # rows of features that are written at a time
IDS_FILE, LABELS_FILE = "ids.arrow", "labels.int32"


def write_disk_graph(
    graph: Graph,
    folder: str | os.PathLike[str],
    *,
    rows_per_part: int = 1 << 22,
    panel_width: int = WIDEST_PANEL,
    dtype: str = "float32",
) -> DiskGraph:
    """Write a graph that is in memory as a folder, and open it.

    ``dtype`` is the type of the features, float32 or bfloat16. Sparse features of float32 are
    written by their nonzeros where at most a quarter of the entries is one. The folder appears
    whole or not at all; one that exists is refused.
    """
    target = Path(folder)
    if target.exists():
        raise InputError(f"{target} exists; choose another name or remove it")
    _refuse_unfit(graph, rows_per_part, panel_width, dtype)
    temporary = target.parent / f".{secrets.token_hex(6)}-{target.name}"
    try:
        temporary.mkdir()
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from error
    try:
        with held(temporary):
            manifest = _write_files(temporary, graph, rows_per_part, panel_width, dtype)
            write_manifest(temporary, manifest)
            sync_folder(temporary)
            os.rename(temporary, target)
            sync_folder(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return DiskGraph.open(target)


def is_disk_graph(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a folder with the manifest of a graph on disk."""
    return (Path(path) / MANIFEST).is_file()


def _refuse_unfit(graph: Graph, rows_per_part: int, panel_width: int, dtype: str) -> None:
    if graph.is_weighted:
        raise InputError(f"{graph.name!r} has weighted edges; a graph on disk has no weights")
    if graph.adjacency.diagonal().any():
        raise InputError(f"{graph.name!r} has self loops; a graph on disk has none")
    if rows_per_part < 1 or not 1 <= panel_width <= WIDEST_PANEL:
        raise InputError(
            f"rows_per_part is {rows_per_part} (at least 1) and panel_width {panel_width} "
            f"(1 to {WIDEST_PANEL})"
        )
    if dtype not in ("float32", "bfloat16"):
        raise InputError(f"dtype is {dtype!r}; known: float32, bfloat16")


def _write_files(
    folder: Path, graph: Graph, rows_per_part: int, panel_width: int, dtype: str
) -> Manifest:
    out = write_parts(folder, "out", graph.adjacency, rows_per_part)
    reverse: tuple[PartEntry, ...] = ()
    if graph.is_directed:
        transpose = sp.csr_array(graph.adjacency.T)
        transpose.sort_indices()
        reverse = write_parts(folder, "in", transpose, rows_per_part)
    labels = write_blocks(folder / LABELS_FILE, [graph.labels.astype("<i4")])
    is_plain = np.array_equal(graph.node_ids, np.arange(graph.num_nodes))
    features = None
    if graph.features is not None:
        if is_kept_sparse(graph.features, dtype):
            features = write_sparse(folder, graph.features, _names(graph))
        else:
            features = _write_panels(folder, graph, panel_width, dtype)
    return Manifest(
        num_nodes=graph.num_nodes,
        num_entries=int(graph.adjacency.nnz),
        is_directed=graph.is_directed,
        classes=graph.class_names or None,
        parts=out,
        reverse_parts=reverse,
        labels=labels,
        ids=None if is_plain else write_ids(folder, [pa.array(graph.node_ids)]),
        features=features,
    )


def write_parts(
    folder: Path, stem: str, matrix: sp.csr_array, rows_per_part: int
) -> tuple[PartEntry, ...]:
    """Write the rows of a CSR matrix as parts of ``rows_per_part`` rows."""
    num_nodes = matrix.shape[0]
    index = "<u4" if num_nodes < 2**32 else "<i8"
    entries = []
    for number, first in enumerate(range(0, num_nodes, rows_per_part)):
        last = min(first + rows_per_part, num_nodes)
        indptr = matrix.indptr[first : last + 1].astype("<i8")
        indices = matrix.indices[indptr[0] : indptr[-1]].astype(index)
        name = f"{stem}-{number:05d}"
        entries.append(
            PartEntry(
                first,
                last,
                write_blocks(folder / f"{name}.indptr", [indptr - indptr[0]]),
                write_blocks(folder / f"{name}.indices", [indices]),
            )
        )
    return tuple(entries)


def write_ids(folder: Path, chunks: list[Any]) -> FileEntry:
    """Write the original ids, in the order of the nodes, as an Arrow file with one column."""
    path = folder / IDS_FILE
    with atomic_path(path) as temporary:
        schema = pa.schema([("id", chunks[0].type)])
        with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for chunk in chunks:
                writer.write_batch(pa.record_batch([chunk], schema=schema))
    return FileEntry(path.name, file_sha256(path))


def _names(graph: Graph) -> tuple[str, ...]:
    return graph.feature_names or tuple(f"feature_{at}" for at in range(graph.num_features))


def _write_panels(folder: Path, graph: Graph, width: int, dtype: str) -> FeatureEntry:
    matrix: Any = graph.features
    num_columns = graph.num_features
    suffix = "f32" if dtype == "float32" else "bf16"
    names = _names(graph)
    if sp.issparse(matrix):
        matrix = sp.csc_array(matrix)

    def blocks(first: int, last: int) -> Iterator[NDArray[Any]]:
        columns = matrix[:, first:last]
        rows = columns.tocsr() if sp.issparse(columns) else columns
        for at in range(0, graph.num_nodes, _ROWS):
            block = rows[at : at + _ROWS]
            dense = block.toarray() if sp.issparse(block) else block
            yield encoded(dense, dtype, names[first:last])

    panels = tuple(
        PanelEntry(
            first,
            min(first + width, num_columns),
            write_blocks(
                folder / f"x-{number:03d}.{suffix}",
                blocks(first, min(first + width, num_columns)),
            ),
        )
        for number, first in enumerate(range(0, num_columns, width))
    )
    return FeatureEntry(num_columns, dtype, names, panels)
