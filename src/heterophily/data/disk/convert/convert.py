"""Tables of any size to a graph on disk, step by step; run again, it goes on where it stopped."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from heterophily.data.disk.convert.edge_batches import BigTable, EdgeTable
from heterophily.data.disk.convert.ids import NodeIds, map_with_duckdb, read_node_ids
from heterophily.data.disk.convert.nodes import NodeWriter, table_of
from heterophily.data.disk.convert.parts import PartMaker
from heterophily.data.disk.convert.runs import RunMaker, Runs, Tell
from heterophily.data.disk.convert.workspace import Workspace
from heterophily.data.disk.graph import DiskGraph
from heterophily.data.disk.manifest import Manifest, PartEntry, write_manifest
from heterophily.data.folders import sync_folder
from heterophily.data.memory import enough, in_units, room_on_disk
from heterophily.data.remedies import Remedy
from heterophily.data.tables.columns import NodeColumns, edge_columns, node_columns
from heterophily.errors import InputError, MemoryLimitError
from heterophily.native.buckets import Buckets, Ways

_WAYS: dict[bool, dict[str, Ways]] = {
    False: {"out": "both"},
    True: {"out": "forward", "in": "backward"},
}


_BASE = 136 * 2**20  # of the interpreter and its libraries


@dataclass(frozen=True, slots=True)
class Budget:
    """How large the pieces are in which edges are read, sorted and written."""

    run_rows: int  # edges of a run
    sorted_keys: int  # entries that one thread sorts at once
    part_keys: int  # entries of a part, about

    @classmethod
    def of(cls, memory: int, threads: int) -> Budget:
        """Divide so much memory."""
        return cls(
            run_rows=min(max(memory // 160, 1 << 16), 1 << 21),  # more gain nothing
            sorted_keys=max(memory // (48 * threads), 1 << 16),
            part_keys=min(max(memory // 64, 1 << 16), 1 << 26),
        )


def convert_tables(
    edges: str | os.PathLike[str],
    nodes: str | os.PathLike[str] | None,
    out: str | os.PathLike[str],
    *,
    source: str | None = None,
    target: str | None = None,
    node_id: str | None = None,
    label: str | None = None,
    split: str | None = None,
    features: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    labels_are_classes: bool = False,
    delimiter: str | None = None,
    has_header: bool | None = None,
    is_directed: bool = False,
    dtype: str = "float32",
    memory: int | str | None = None,
    threads: int | None = None,
    budget: Budget | None = None,
    tell: Tell | None = None,
) -> DiskGraph:
    """Write Parquet or text tables as a graph on disk, and open it.

    Edges are dealt to buckets of rows in files, and every bucket is sorted by itself: memory does
    not grow with the edges. Self loops and duplicates are removed; without ``is_directed`` an edge
    is stored both ways. A conversion that was stopped, by a signal or a full disk, goes on when it
    is called again with the same arguments. Splits and weights are not kept.

    Parameters
    ----------
    edges, nodes
        Files, Parquet or text. Node numbers are the rows of the node table; without one, the ids
        of edges are the numbers themselves, 0, 1, 2, ...
    out
        The folder to write.
    source, target, node_id, label, split, features, ignore, columns, labels_are_classes
        Columns, as in :func:`heterophily.read_tables`, but chosen by name alone.
    dtype
        Type of the features: float32, or bfloat16 for half the space.
    memory
        Bytes, or a text such as ``"4GB"``; by default most of what is free.
    threads
        By default as many as there are processors. The result does not depend on it.
    tell
        Is called with a stage, what is done of it, and how much there is.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "e.csv").write_text("source,target\\n0,1\\n1,0\\n1,2\\n2,2\\n")
    >>> _ = (folder / "n.csv").write_text("id,y,age\\n0,a,20\\n1,b,30\\n2,a,40\\n")
    >>> convert_tables(folder / "e.csv", folder / "n.csv", folder / "g.disk")
    DiskGraph('g', nodes=3, edges=2, features=1, classes=2)
    """
    bytes_ = room_on_disk(memory)
    if dtype not in ("float32", "bfloat16"):
        raise InputError(f"dtype={dtype!r}; known: float32, bfloat16")
    workers = threads or os.cpu_count() or 1
    edge_file = table_of(Path(edges), delimiter, has_header)
    node_file = None if nodes is None else table_of(Path(nodes), delimiter, has_header)
    chosen = edge_columns(edge_file, source=source, target=target, weight=None)
    edge_table = EdgeTable(edge_file, chosen.source, chosen.target)
    node_names: NodeColumns | None = None
    if node_file is not None:
        node_names = node_columns(
            node_file,
            node_id=node_id,
            label=label,
            split=split,
            features=features,
            ignore=ignore,
        )
    _need_memory_of_groups(edge_file, (chosen.source, chosen.target), bytes_)
    if node_file is not None and node_names is not None:
        _need_memory_of_groups(node_file, node_names.features, bytes_)
    workspace = Workspace(Path(out))
    plan = {
        "version": 1,
        "files": [_identity(file) for file in (edge_file, node_file) if file is not None],
        "columns": [
            chosen.source,
            chosen.target,
            None if node_names is None else node_names.remark,
        ],
        "options": [is_directed, dtype, dict(columns or {}), labels_are_classes],
    }
    is_new = not workspace.target.exists()
    if is_new:
        _need_space(edge_table, node_file, node_names, workspace.target, dtype)
    with workspace.opened(plan), _cleared_if_useless(workspace, is_new):
        return _Conversion(
            edge_table,
            node_file,
            node_names,
            workspace,
            _kept_budget(workspace, budget or Budget.of(bytes_, workers)),
            bytes_,
            workers,
            is_directed,
            tell or (lambda *_: None),
            {"weight": chosen.weight} if chosen.weight else {},
        ).run(dtype, columns or {}, labels_are_classes)


@contextlib.contextmanager
def _cleared_if_useless(workspace: Workspace, is_new: bool) -> Iterator[None]:
    """Remove a new folder again when the input is refused before any edge was stored."""
    try:
        yield
    except InputError:
        if is_new and not any(workspace.folder.glob("task-*.json")):
            shutil.rmtree(workspace.target, ignore_errors=True)
        raise


def _kept_budget(workspace: Workspace, wanted: Budget) -> Budget:
    """Return the sizes with which a conversion began: runs must be cut alike until the end."""
    before = workspace.done("budget")
    if before is None:
        before = asdict(wanted)
        workspace.note("budget", before)
    return Budget(**before)


@dataclass(frozen=True)
class _Conversion:
    edges: EdgeTable
    nodes: BigTable | None
    columns: NodeColumns | None
    workspace: Workspace
    budget: Budget
    memory: int
    threads: int
    is_directed: bool
    tell: Tell
    notes: dict[str, Any]

    def run(self, dtype: str, kinds: Mapping[str, str], labels_are_classes: bool) -> DiskGraph:
        """Do every step that is not done yet."""
        ids = self._node_ids()
        if ids.count >= 2**32:
            raise InputError(
                f"{ids.count:,} nodes; convert takes fewer than {2**32:,}, because each node "
                "number is stored in 4 bytes"
            )
        parts: dict[str, Any] = {"classes": None}
        notes = dict(self.notes)
        if self.nodes is not None and self.columns is not None:
            writer = NodeWriter(
                self.nodes,
                self.columns,
                self.workspace,
                ids.count,
                dtype,
                kinds,
                labels_are_classes,
                self.memory,
            )
            found = writer.write_labels()
            if found is not None:
                parts["labels"], parts["classes"] = found
            parts["ids"] = None if ids.are_numbers else writer.write_ids()
            parts["features"], facts = writer.write_panels(self.tell)
            notes |= {key: facts[key] for key in ("encoder", "rows_learnt_from") if key in facts}
        edges = self._numbered_edges(ids)
        buckets = Buckets(ids.count)
        directions = self._make_runs(edges, ids, buckets)
        tasks = edges.tasks(self.budget.run_rows)
        rows, loops, keys = (
            sum(self.workspace.done(f"task-{task.number:05d}")[key] for task in tasks)
            for key in ("rows", "loops", "keys")
        )
        made: dict[str, tuple[PartEntry, ...]] = {}
        entries = 0
        for name in directions if ids.count else ():
            made[name] = PartMaker(
                name,
                Runs.of(self.workspace, name, tasks, buckets),
                buckets,
                self.workspace,
                self.budget.sorted_keys,
                self.budget.part_keys,
                self.threads,
            ).make(self.tell)
            entries = sum(
                self.workspace.done(f"part-{name}-{number:05d}")["entries"]
                for number in range(len(made[name]))
            )
        kept = len(directions) * entries
        notes |= {"rows": rows, "self_loops": loops, "duplicates": (keys - kept) // 2}
        manifest = Manifest(
            num_nodes=ids.count,
            num_entries=entries,
            is_directed=self.is_directed,
            parts=made.get("out", ()),
            reverse_parts=made.get("in", ()),
            notes=notes,
            **parts,
        )
        sync_folder(self.workspace.target)
        write_manifest(self.workspace.target, manifest)
        self.workspace.remove()
        return DiskGraph.open(self.workspace.target)

    def _node_ids(self) -> NodeIds:
        if self.nodes is not None and self.columns is not None:
            self.tell("node ids", 0, 1)
            return read_node_ids(self.nodes, self.columns.node_id, self.memory)
        if not self.edges.are_integers():
            raise InputError(
                f"{self.edges.table.path.name}: ids that are not integers need a node table "
                "(--nodes) that lists the nodes"
            )
        return NodeIds(self.edges.largest() + 1, True)

    def _numbered_edges(self, ids: NodeIds) -> EdgeTable:
        if not ids.need_mapping and self.edges.are_integers():
            return self.edges
        assert self.nodes is not None
        assert self.columns is not None
        self.tell("mapping ids", 0, 1)
        return map_with_duckdb(
            self.edges, self.nodes, self.columns.node_id, self.workspace, self.memory, self.threads
        )

    def _make_runs(self, edges: EdgeTable, ids: NodeIds, buckets: Buckets) -> list[str]:
        ways = _WAYS[self.is_directed]
        is_mapped = edges is not self.edges
        RunMaker(
            edges,
            self.workspace,
            buckets,
            ways,
            self.budget.run_rows,
            (lambda ends: ends) if is_mapped else ids.map_ends,
            self.threads,
        ).make(self.tell)
        return list(ways)


def _identity(table: BigTable) -> list[Any]:
    """Return what changes when a file is replaced."""
    found = table.path.stat()
    return [str(table.path.resolve()), found.st_size, found.st_mtime_ns]


def space_for(
    edges: str | os.PathLike[str],
    nodes: str | os.PathLike[str] | None,
    *,
    source: str | None = None,
    target: str | None = None,
    delimiter: str | None = None,
    has_header: bool | None = None,
    **columns: Any,
) -> int:
    """Return about how many bytes of disk :func:`convert_tables` takes with these arguments."""
    edge_file = table_of(Path(edges), delimiter, has_header)
    chosen = edge_columns(edge_file, source=source, target=target, weight=None)
    node_file = None if nodes is None else table_of(Path(nodes), delimiter, has_header)
    names = None if node_file is None else node_columns(node_file, **columns)
    table = EdgeTable(edge_file, chosen.source, chosen.target)
    return space_needed(table, node_file, names, "float32")


def space_needed(
    edges: EdgeTable, nodes: BigTable | None, columns: NodeColumns | None, dtype: str
) -> int:
    """Return about how many bytes of disk a conversion takes at its height."""
    rows = edges.table.num_rows
    size = 24 * rows  # runs: two keys of 8 bytes; parts: two entries of 4 bytes
    if not edges.are_integers():
        size += 8 * rows
    if nodes is not None and columns is not None:
        width = 4 if dtype == "float32" else 2
        size += nodes.num_rows * (8 + 4 + 8 + width * len(columns.features))
    return int(1.02 * size) + 2**20


def _need_memory_of_groups(table: BigTable, columns: Sequence[str], memory: int) -> None:
    """Refuse rows that Arrow reads together and that would not fit the limit."""
    size = table.largest_group(columns)
    needed = int(1.5 * size) + _BASE
    if size > memory // 8 and needed > memory:
        raise MemoryLimitError(
            f"{table.path.name} has a row group of {in_units(size)}, which must be read at once, "
            f"but the limit is {in_units(memory)}; write the file with smaller row groups, or "
            f"{Remedy('raise-memory', (('size', enough(needed)),))}"
        )


def _need_space(
    edges: EdgeTable,
    nodes: BigTable | None,
    columns: NodeColumns | None,
    target: Path,
    dtype: str,
) -> None:
    folder = target.parent
    if not folder.is_dir():
        raise InputError(f"cannot write {target}: there is no folder {folder}")
    needed, free = space_needed(edges, nodes, columns, dtype), shutil.disk_usage(folder).free
    if needed > free:
        raise InputError(
            f"{target} needs about {in_units(needed)} while it is written, {folder} has "
            f"{in_units(free)} free; free some space or choose another folder"
        )
