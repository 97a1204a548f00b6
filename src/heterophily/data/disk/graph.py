"""The graph on disk: opened in milliseconds, read where needed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.disk.files import file_sha256, from_bfloat16, mapped
from heterophily.data.disk.manifest import Manifest, PanelEntry, PartEntry, read_manifest
from heterophily.data.disk.sparse import SparsePanel, open_sparse, panels_of
from heterophily.data.disk.verify import anything, ascending, finite, verify, within
from heterophily.data.memory import need
from heterophily.errors import InputError

if TYPE_CHECKING:
    from heterophily.data.graph import Graph

_ROWS = 1 << 20  # rows of a panel that are read at a time


@dataclass(frozen=True)
class DiskPart:
    """Consecutive rows of a CSR matrix, as two memory-mapped arrays."""

    folder: Path
    entry: PartEntry
    index_dtype: str
    num_columns: int

    @property
    def first(self) -> int:
        """The first row."""
        return self.entry.first

    @property
    def last(self) -> int:
        """The row after the last one."""
        return self.entry.last

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self.entry.last - self.entry.first

    @cached_property
    def num_entries(self) -> int:
        """Number of stored entries, from the size of the file."""
        size = (self.folder / self.entry.indices.name).stat().st_size
        return int(size // np.dtype(self.index_dtype).itemsize)

    @property
    def indptr_path(self) -> Path:
        """The file of ``indptr``, once it was compared with its checksum."""
        is_sound = ascending(self.num_rows + 1, self.num_entries)
        return verify(self.folder, self.entry.indptr, "<i8", is_sound)

    @property
    def indices_path(self) -> Path:
        """The file of ``indices``, once it was compared with its checksum."""
        dtype = self.index_dtype
        return verify(self.folder, self.entry.indices, dtype, within(0, self.num_columns))

    @cached_property
    def indptr(self) -> NDArray[np.int64]:
        """Where each row starts, (rows + 1,), counted from 0 in this part."""
        return mapped(self.indptr_path, "<i8", (self.num_rows + 1,))

    @cached_property
    def indices(self) -> NDArray[Any]:
        """The neighbours of each row, ascending; uint32, or int64 beyond 2**32 nodes."""
        return mapped(self.indices_path, self.index_dtype, (self.num_entries,))

    def starts(self, first: int, last: int) -> NDArray[np.int64]:
        """Return where the rows ``first .. last - 1`` start, and where the last one ends."""
        with open(self.indptr_path, "rb") as stream:
            return np.fromfile(stream, "<i8", last - first + 1, offset=8 * first)

    def read(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return some rows of the part as (indptr, indices) in memory, for one pass front to back.

        Unlike the mapped arrays, nothing stays in memory afterwards; ``indptr`` begins anywhere.
        """
        indptr = self.starts(first, last)
        with open(self.indices_path, "rb") as stream:
            dtype = np.dtype(self.index_dtype)
            count = int(indptr[-1] - indptr[0])
            indices = np.fromfile(stream, dtype, count, offset=dtype.itemsize * int(indptr[0]))
        if indices.size != count:
            raise InputError(f"{self.folder / self.entry.indices.name} ends early")
        return indptr, indices

    def matrix(self) -> sp.csr_array:
        """Return the rows as a SciPy matrix in memory, float32 ones."""
        indptr = np.array(self.indptr)
        is_small = max(self.num_columns, self.num_entries) < 2**31
        indices = np.asarray(self.indices).astype(np.int32 if is_small else np.int64)
        return sp.csr_array(
            (np.ones(indices.size, np.float32), indices, indptr.astype(indices.dtype)),
            (self.num_rows, self.num_columns),
        )


@dataclass(frozen=True)
class DiskPanel:
    """Some feature columns of all nodes, as one memory-mapped array."""

    folder: Path
    entry: PanelEntry
    num_nodes: int
    dtype: str  # float32 or bfloat16

    @property
    def columns(self) -> tuple[int, int]:
        """The first column and the one after the last."""
        return self.entry.first, self.entry.last

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.entry.last - self.entry.first

    @cached_property
    def raw(self) -> NDArray[Any]:
        """The file as it is, (N, width): float32, or uint16 that hold the bits of bfloat16."""
        return mapped(self.path, self._raw_dtype, (self.num_nodes, self.width))

    @property
    def path(self) -> Path:
        """The file, once it was compared with its checksum."""
        return verify(self.folder, self.entry.file, self._raw_dtype, finite(self.dtype))

    @property
    def _raw_dtype(self) -> str:
        return "<f4" if self.dtype == "float32" else "<u2"

    def read_rows(self, first: int, last: int) -> NDArray[np.float32]:
        """Return consecutive rows as float32; unlike :meth:`read`, no page stays in memory."""
        with open(self.path, "rb") as stream:
            dtype = np.dtype(self._raw_dtype)
            count = (last - first) * self.width
            raw = np.fromfile(stream, dtype, count, offset=dtype.itemsize * self.width * first)
        raw = raw.reshape(last - first, self.width)
        return raw if self.dtype == "float32" else from_bfloat16(raw)

    def read(self, rows: slice | NDArray[Any] = slice(None)) -> NDArray[np.float32]:
        """Return rows as float32 in memory."""
        chosen = self.raw[rows]
        return np.array(chosen) if self.dtype == "float32" else from_bfloat16(chosen)


@dataclass(frozen=True)
class DiskGraph:
    """A graph in a folder: symmetric unless directed, no loops, no duplicates, no weights.

    Opening reads the manifest alone and looks at the sizes of the files; arrays are mapped into
    memory on first use, and each file is compared with its checksum before. :meth:`check` compares
    all of them now.

    >>> import tempfile
    >>> from heterophily import Graph
    >>> from heterophily.data.disk.write import write_disk_graph
    >>> folder = Path(tempfile.mkdtemp()) / "graph.disk"
    >>> graph = write_disk_graph(Graph.from_edges([0, 1], [1, 2], labels=[0, 0, 1]), folder)
    >>> graph
    DiskGraph('graph', nodes=3, edges=2, features=0, classes=2)
    >>> graph.parts[0].indices.tolist(), graph.labels.tolist()
    ([1, 0, 2, 1], [0, 0, 1])
    """

    folder: Path
    manifest: Manifest

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> DiskGraph:
        """Open a folder; refuse one that is unfinished, or whose files have other sizes."""
        graph = cls(Path(folder), read_manifest(Path(folder)))
        graph._check_sizes()
        return graph

    @property
    def name(self) -> str:
        """The name of the folder, without its ending."""
        return self.folder.resolve().name.removesuffix(".disk")

    @cached_property
    def content_hash(self) -> str:
        """A hash of the content: of the sizes, the classes and the checksums of all files."""
        files = sorted((name, sha) for name, (sha, _) in self.manifest.files().items())
        facts = ["disk", self.num_nodes, self.is_directed, list(self.class_names), files]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return self.manifest.num_nodes

    @property
    def num_entries(self) -> int:
        """Number of stored entries: an undirected edge has two."""
        return self.manifest.num_entries

    @property
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.manifest.is_directed

    @property
    def num_edges(self) -> int:
        """Number of edges: pairs when undirected, ordered pairs when directed."""
        return self.num_entries if self.is_directed else self.num_entries // 2

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes; none where the graph has no labels."""
        return self.manifest.classes or ()

    @property
    def num_classes(self) -> int:
        """Number of classes C."""
        return len(self.class_names)

    @property
    def num_features(self) -> int:
        """Number of feature columns F."""
        return 0 if self.manifest.features is None else self.manifest.features.num_columns

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Name of each feature column."""
        return () if self.manifest.features is None else self.manifest.features.names

    @property
    def splits(self) -> None:
        """None: a graph on disk brings no splits of its own."""
        return None

    @property
    def bytes_in_memory(self) -> int:
        """About how much memory :meth:`to_graph` takes, while it works."""
        return 16 * self.num_entries + self.num_nodes * (32 + 4 * self.stored_per_node)

    @property
    def stored_per_node(self) -> int:
        """Numbers of four bytes that the features take for each node: F, or two a nonzero."""
        of = self.manifest.features
        if of is None or of.sparse is None:
            return self.num_features
        return -(-2 * of.sparse.num_entries // max(1, self.num_nodes))

    @cached_property
    def parts(self) -> tuple[DiskPart, ...]:
        """The rows of A: row u holds the targets of the edges that start in u."""
        return self._parts(self.manifest.parts)

    @cached_property
    def reverse_parts(self) -> tuple[DiskPart, ...]:
        """The rows of the transpose of A; the same as ``parts`` when undirected."""
        return self._parts(self.manifest.reverse_parts) if self.is_directed else self.parts

    @cached_property
    def labels(self) -> NDArray[np.int32]:
        """The class of each node, (N,); -1 = unlabelled."""
        if self.manifest.labels is None:
            return np.full(self.num_nodes, -1, np.int32)
        path = verify(self.folder, self.manifest.labels, "<i4", within(-1, self.num_classes))
        return mapped(path, "<i4", (self.num_nodes,))

    @cached_property
    def sparse_features(self) -> sp.csr_array | None:
        """X (N, F) over mapped files, where it is stored sparse; else None."""
        of = self.manifest.features
        if of is None or of.sparse is None:
            return None
        return open_sparse(self.folder, of, self.num_nodes)

    @cached_property
    def panels(self) -> tuple[DiskPanel | SparsePanel, ...]:
        """The features in panels of at most 16 columns."""
        if self.sparse_features is not None:
            return panels_of(self.sparse_features)
        of = self.manifest.features
        panels = () if of is None else of.panels
        return tuple(
            DiskPanel(self.folder, entry, self.num_nodes, of.dtype)  # type: ignore[union-attr]
            for entry in panels
        )

    def node_ids(self, rows: slice | NDArray[Any] = slice(None)) -> NDArray[Any]:
        """Return the ids by which the user knows some nodes; their numbers where none are kept."""
        if self.manifest.ids is None:
            return np.arange(self.num_nodes)[rows] if isinstance(rows, slice) else rows
        import pyarrow as pa

        path = verify(self.folder, self.manifest.ids, "u1", anything)
        try:
            source = pa.memory_map(str(path))
            column = pa.ipc.open_file(source).read_all().column(0)
            column.validate(full=True)
        except (pa.ArrowException, OSError, IndexError) as error:
            raise InputError(f"{path} is damaged: {error}") from None
        if len(column) != self.num_nodes:
            raise InputError(f"{path} has {len(column):,} ids, expected {self.num_nodes:,}")
        with source:
            if isinstance(rows, slice):
                first, last, step = rows.indices(self.num_nodes)
                rows = np.arange(first, last, step)
            return np.asarray(column.take(pa.array(rows)).to_numpy())

    def check(self, progress: Callable[[str], None] | None = None) -> None:
        """Compare every file with its checksum; an error names the first that differs."""
        for name, (sha256, _) in self.manifest.files().items():
            if progress is not None:
                progress(name)
            if file_sha256(self.folder / name) != sha256:
                raise InputError(
                    f"{self.folder / name} is damaged: its checksum differs from the manifest; "
                    "convert the graph again"
                )

    def to_graph(self) -> Graph:
        """Return the graph in memory, as every other part of the package takes it."""
        from heterophily.data.graph import Graph

        need(
            self.bytes_in_memory,
            f"{self.folder.name} with {self.num_nodes:,} nodes and {self.num_edges:,} edges",
        )
        features: Any = None
        if self.sparse_features is not None:
            features = self.sparse_features.copy()
        elif self.num_features:
            features = np.empty((self.num_nodes, self.num_features), np.float32)
            for panel in self.panels:
                for at in range(0, self.num_nodes, _ROWS):
                    rows = slice(at, at + _ROWS)
                    features[rows, slice(*panel.columns)] = panel.read(rows)
        blocks = [part.matrix() for part in self.parts]
        adjacency = sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, 0))
        ids = self.node_ids()
        return Graph(
            adjacency=adjacency,
            features=features,
            labels=np.asarray(self.labels, np.int64),
            class_names=self.class_names,
            node_ids=ids.astype(str) if ids.dtype == object else ids,
            name=self.name,
            is_directed=self.is_directed,
            feature_names=self.feature_names if self.num_features else None,
        )

    def _parts(self, entries: tuple[PartEntry, ...]) -> tuple[DiskPart, ...]:
        dtype = self.manifest.index_dtype
        return tuple(DiskPart(self.folder, entry, dtype, self.num_nodes) for entry in entries)

    def _check_sizes(self) -> None:
        """Refuse files that are missing, cut or longer than they should be."""
        for name, (_, size) in self.manifest.files().items():
            try:
                held = (self.folder / name).stat().st_size
            except OSError as error:
                raise InputError(
                    f"{self.folder / name}: {error.strerror}; convert the graph again"
                ) from None
            if size is not None and held != size:
                raise InputError(
                    f"{self.folder / name} has {held:,} bytes, expected {size:,}; "
                    "convert the graph again"
                )
        for parts in (self.parts, self.reverse_parts):
            held = sum(part.num_entries for part in parts)
            if held != self.num_entries:
                raise InputError(
                    f"{self.folder}: the parts hold {held:,} entries, the manifest says "
                    f"{self.num_entries:,}; convert the graph again"
                )

    def __repr__(self) -> str:
        """Return the name and the sizes."""
        return (
            f"DiskGraph({self.name!r}, nodes={self.num_nodes}, edges={self.num_edges}, "
            f"features={self.num_features}, classes={self.num_classes})"
        )
