"""Statistics straight from tables of edges and nodes, whatever their size: nothing is converted."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heterophily.data.disk.convert.edge_batches import BATCH, EdgeTable
from heterophily.data.disk.convert.ids import NodeIds, read_node_ids
from heterophily.data.disk.convert.nodes import read_classes, table_of
from heterophily.data.disk.convert.runs import Tell, ahead
from heterophily.data.memory import room_on_disk
from heterophily.data.tables.columns import edge_columns, node_columns
from heterophily.data.wording import short
from heterophily.errors import InputError
from heterophily.metrics.collect.blocks import collect_blocks
from heterophily.metrics.statistics import LabelStatistics
from heterophily.native.node_sums import NodeBlock
from heterophily.native.tally import MOST_COLUMNS, Tally, TallyPlan, can_tally

_ROWS = 1 << 17  # nodes of a block
_READ = 1 << 23  # edges of a task
_BASE = 300 * 2**20  # of the interpreter, its libraries and the batches that are read


class NeedsConversionError(InputError):
    """The tables cannot be counted as they are; ``heterophily convert`` and a graph on disk can."""


def table_statistics(
    edges: str | os.PathLike[str],
    nodes: str | os.PathLike[str],
    *,
    source: str | None = None,
    target: str | None = None,
    node_id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    labels_are_classes: bool = False,
    delimiter: str | None = None,
    has_header: bool | None = None,
    is_directed: bool = False,
    memory: int | str | None = None,
    scratch: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    tell: Tell | None = None,
) -> LabelStatistics:
    """Count a graph that lies in two tables; duplicates and self loops are left out.

    Every edge is read once and waits in a file without a name (8 bytes an edge) until its
    duplicates are known. Memory holds ``C + 1`` bytes a node, and buffers.

    Parameters
    ----------
    edges, nodes
        Parquet or text. Ids are integers, best the row numbers of the node table.
    source, target, node_id, label, split, features, ignore, labels_are_classes
        Columns, as in :func:`heterophily.data.disk.convert.convert.convert_tables`.
    memory
        Bytes, or a text such as ``"4GB"``; by default most of what is free.
    scratch
        The folder of the file; by default ``TMPDIR``, else the current folder.
    threads
        By default as many as there are processors. The result does not depend on it.
    tell
        Is called with a stage, what is done of it, and how much there is.

    Examples
    --------
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "e.csv").write_text("source,target\\n0,1\\n1,0\\n1,2\\n2,2\\n")
    >>> _ = (folder / "n.csv").write_text("id,y\\n0,a\\n1,a\\n2,b\\n")
    >>> table_statistics(folder / "e.csv", folder / "n.csv", scratch=folder).class_pairs
    array([[2., 1.],
           [1., 0.]])
    """
    edge_file, node_file = (table_of(Path(path), delimiter, has_header) for path in (edges, nodes))
    ends = edge_columns(edge_file, source=source, target=target, weight=None)
    table = EdgeTable(edge_file, ends.source, ends.target)
    columns = node_columns(
        node_file, node_id=node_id, label=label, split=split, features=features, ignore=ignore
    )
    if columns.label is None:
        raise InputError(f"{node_file.path.name} has no column of labels; name it with --label")
    most = room_on_disk(memory)
    _need_library(table)
    tell = tell or (lambda *_: None)
    tell("node ids", 0, 1)
    ids = read_node_ids(node_file, columns.node_id, most)
    if ids.need_mapping:
        raise NeedsConversionError(
            f"the ids in {node_file.path.name} are not numbers in a narrow range"
        )
    labels, names = read_classes(node_file, columns.label, ids.count, labels_are_classes)
    workers = threads or os.cpu_count() or 1
    plan = _plan(labels, len(names), is_directed, workers, most)
    folder = Path(scratch or os.environ.get("TMPDIR") or ".")
    _need_space(folder, 8 * table.table.num_rows)
    with tempfile.TemporaryFile(dir=folder) as spill, Tally(plan, spill.fileno()) as tally:
        for at in range(0, labels.size, BATCH):
            block = labels[at : at + BATCH]
            tally.set_labels(np.where(block < 0, len(names), block), at)
        del labels, block
        try:
            _add_edges(tally, table, ids, tell)
            tell("counting", 0, 1)
            num_edges = tally.finish()
        except OSError as error:
            raise InputError(
                f"{folder}, where {8 * table.table.num_rows / 1e9:,.1f} GB of edges wait for their "
                f"duplicates: {error.strerror}; name another folder: TMPDIR=FOLDER"
            ) from None
        return collect_blocks(
            lambda: _blocks(tally, len(names)),
            name=edge_file.path.stem,
            is_directed=is_directed,
            num_nodes=ids.count,
            num_edges=num_edges,
            class_names=names,
            threads=workers,
        )


def _need_library(table: EdgeTable) -> None:
    if not can_tally():
        raise NeedsConversionError("counting tables as they are needs the native library")
    if not table.are_integers():
        raise NeedsConversionError(f"the ids in {table.table.path.name} are not integers")


def _plan(
    labels: NDArray[np.int32], num_classes: int, is_directed: bool, threads: int, memory: int
) -> TallyPlan:
    columns = num_classes + bool(labels.size and labels.min() < 0)
    if columns > MOST_COLUMNS:
        raise NeedsConversionError(
            f"{num_classes} classes are too many to count tables as they are"
        )
    plan = TallyPlan(labels.size, max(columns, 1), is_directed, threads)
    free = memory - plan.memory - labels.nbytes - _BASE
    most_keys = free // (20 * threads)  # the keys of a tile, twice, and a table
    if most_keys < 1 << 16:
        needed = (memory - free + (20 << 16) * threads) / 2**30
        raise NeedsConversionError(
            f"counting {labels.size:,} nodes in {columns} columns needs {needed:,.1f} GB"
        )
    return TallyPlan(labels.size, plan.columns, is_directed, threads, most_keys)


def _need_space(folder: Path, needed: int) -> None:
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder} for temporary files; set TMPDIR")
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"counting puts {needed / 1e9:,.1f} GB of edges aside in {folder.resolve()}, which has "
            f"{free / 1e9:,.1f} GB free; name another folder: TMPDIR=FOLDER"
        )


def _add_edges(tally: Tally, table: EdgeTable, ids: NodeIds, tell: Tell) -> None:
    done, total = 0, table.table.num_rows
    for task in table.tasks(_READ):  # Arrow keeps what it read until a task ends
        for given in ahead(table.pieces(task, BATCH)):
            ends = ids.map_ends(given)
            found = tally.add(*ends)
            if found.first_bad >= 0:
                side = int(0 <= int(ends[0][found.first_bad]) < ids.count)
                raise InputError(
                    f"{table.table.path.name}, column {short((table.source, table.target)[side])}: "
                    f"node {given[side][found.first_bad]} is not in the node table; add it there "
                    "or remove the edge"
                )
            done += ends[0].size
            tell("edges", min(done, total), total)


def _blocks(tally: Tally, num_classes: int) -> Iterator[Callable[[], NodeBlock]]:
    def job(range_: int, first: int, last: int) -> Callable[[], NodeBlock]:
        def count() -> NodeBlock:
            labels, counts = tally.rows(range_, first, last)
            degrees = counts.sum(axis=1, dtype=np.int64)
            return NodeBlock(labels, counts[:, :num_classes], degrees)

        return count

    for range_, size in enumerate(tally.ranges()):
        for first in range(0, size, _ROWS):
            yield job(range_, first, min(first + _ROWS, size))
