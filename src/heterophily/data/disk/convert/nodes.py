"""The node table of any size to labels, original ids and feature panels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.atomic import atomic_path
from heterophily.data.disk.convert.edge_batches import BATCH, BigTable
from heterophily.data.disk.convert.runs import Tell
from heterophily.data.disk.convert.workspace import Workspace
from heterophily.data.disk.files import HashedFile, encoded, file_sha256
from heterophily.data.disk.manifest import WIDEST_PANEL, FeatureEntry, FileEntry, PanelEntry
from heterophily.data.disk.write import IDS_FILE, LABELS_FILE
from heterophily.data.encode.encoder import Encoder
from heterophily.data.labels import encode_words
from heterophily.data.tables.columns import NodeColumns
from heterophily.data.wording import short
from heterophily.errors import InputError

_LOOKED_AT = 1_000_000  # labels by which the kind of the label column is judged
_COPIES = 16  # of a block of rows while it is encoded, in float64, and room for all else
SAMPLED = 200_000
"""Rows from which the encoder learns; all of them where the table has no more."""


@dataclass(frozen=True)
class NodeWriter:
    """Writes what a node table says; finished files are not written again."""

    table: BigTable
    columns: NodeColumns
    workspace: Workspace
    num_nodes: int
    dtype: str
    kinds: Mapping[str, str]
    labels_are_classes: bool
    memory: int

    def write_labels(self) -> tuple[FileEntry, tuple[str, ...]] | None:
        """Write the classes; None where the table has no label column."""
        if self.columns.label is None:
            return None
        before = self.workspace.done("labels")
        if before is None:
            labels, names = read_classes(
                self.table, self.columns.label, self.num_nodes, self.labels_are_classes
            )
            path = self.workspace.target / LABELS_FILE
            with atomic_path(path) as temporary, HashedFile(temporary) as file:
                file.write(labels)
            before = {"sha256": file.sha256, "names": names}
            self.workspace.note("labels", before)
        return FileEntry(LABELS_FILE, before["sha256"]), tuple(before["names"])

    def write_ids(self) -> FileEntry:
        """Write the original ids in the order of the nodes."""
        before = self.workspace.done("ids")
        path = self.workspace.target / IDS_FILE
        if before is None:
            schema = pa.schema([("id", self.table.schema().field(self.columns.node_id).type)])
            with (
                atomic_path(path) as temporary,
                pa.OSFile(str(temporary), "wb") as sink,
                pa.ipc.new_file(sink, schema) as writer,
            ):
                for batch in self.table.batches([self.columns.node_id]):
                    writer.write_batch(pa.record_batch([batch.column(0)], schema=schema))
            before = {"sha256": file_sha256(path)}
            self.workspace.note("ids", before)
        return FileEntry(IDS_FILE, before["sha256"])

    def write_panels(self, tell: Tell) -> tuple[FeatureEntry | None, dict[str, Any]]:
        """Write the feature columns, encoded, and return them with the state of the encoder."""
        if not self.columns.features:
            return None, {}
        before = self.workspace.done("features")
        if before is None:
            before = self._write_panels(tell)
            self.workspace.note("features", before)
        if not before["names"]:
            return None, before
        panels = tuple(
            PanelEntry(panel["first"], panel["last"], FileEntry(panel["file"], panel["sha256"]))
            for panel in before["panels"]
        )
        names = tuple(before["names"])
        return FeatureEntry(len(names), self.dtype, names, panels), before

    def _write_panels(self, tell: Tell) -> dict[str, Any]:
        sample = self._sample()
        encoder, _ = Encoder.fit(sample, kinds=self.kinds)
        names = encoder.feature_names
        suffix = "f32" if self.dtype == "float32" else "bf16"
        cuts = [
            (at, min(at + WIDEST_PANEL, len(names))) for at in range(0, len(names), WIDEST_PANEL)
        ]
        files = [f"x-{number:03d}.{suffix}" for number in range(len(cuts))]
        with ExitStack() as stack:
            streams = [
                stack.enter_context(
                    HashedFile(stack.enter_context(atomic_path(self.workspace.target / file)))
                )
                for file in files
            ]
            done = 0
            for dense in self._encoded(encoder) if names else ():
                for (first, last), stream in zip(cuts, streams, strict=True):
                    stream.write(encoded(dense[:, first:last], self.dtype, names[first:last]))
                done += dense.shape[0]
                tell("features", done, self.num_nodes)
        return {
            "names": list(names),
            "rows_learnt_from": min(SAMPLED, self.num_nodes),
            "encoder": encoder.to_dict(),
            "panels": [
                {"first": first, "last": last, "file": file, "sha256": stream.sha256}
                for (first, last), file, stream in zip(cuts, files, streams, strict=True)
            ],
        }

    def _encoded(self, encoder: Encoder) -> Iterator[NDArray[Any]]:
        rows = self._rows(max(len(encoder.names), len(encoder.feature_names)))
        for batch in self.table.batches(list(encoder.names), rows=rows):
            columns = {
                name: pa.chunked_array([batch.column(place)])
                for place, name in enumerate(batch.schema.names)
            }
            found: Any = encoder.transform(columns, batch.num_rows).features
            dense = found.toarray() if sp.issparse(found) else np.asarray(found)
            if not np.isfinite(dense).all():
                raise InputError(f"{self.table.path.name}: a feature is not a finite number")
            yield dense

    def _rows(self, columns: int) -> int:
        """Return how many rows of so many columns are looked at at a time."""
        return min(max(self.memory // (_COPIES * 8 * columns), 1 << 10), 1 << 18)

    def _sample(self) -> dict[str, Any]:
        """Return rows from the whole table, evenly, as columns."""
        every = -(-self.num_nodes // SAMPLED)
        pieces = []
        at = 0
        names = self.columns.features
        for batch in self.table.batches(list(names), rows=self._rows(len(names))):
            first = -at % every
            rows = np.arange(first, batch.num_rows, every)
            pieces.append(batch if every == 1 else batch.take(pa.array(rows)))
            at += batch.num_rows
        table = pa.Table.from_batches(pieces)
        return {name: table.column(name) for name in table.column_names}


def read_classes(
    table: BigTable, column: str, num_nodes: int, labels_are_classes: bool
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return the class of every node, (N,), or -1, and the names of the classes."""
    words: dict[str | None, int] = {}
    codes = np.empty(num_nodes, "<i4")
    at = 0
    for batch in table.batches([column]):
        coded = pc.dictionary_encode(_whole(batch.column(0)), null_encoding="encode")
        found = coded.dictionary.cast(pa.string()).to_pylist()
        places = coded.indices.to_numpy(zero_copy_only=False)
        numbers = np.array([words.setdefault(word, len(words)) for word in found], np.int32)
        np.take(numbers, places, out=codes[at : at + places.size])
        at += places.size
        if len(words) > 1_000_000:
            raise InputError(
                f"{table.path.name}, column {short(column)}: over a million different labels; "
                "name the column of the classes with --label"
            )
    real = [word for word in words if word]
    renumber = np.full(len(words), -1, np.int64)
    renumber[[words[word] for word in real]] = np.arange(len(real))
    # Every word once, after some of the nodes: enough to tell classes from other numbers.
    every = -(-num_nodes // _LOOKED_AT)
    some = np.concatenate([renumber[codes[::every]], np.arange(len(real))])
    encoded = encode_words(
        real,
        some,
        cell=lambda node: f"{table.path.name}, data row {node * every + 1}",
        place=f"{table.path.name}, column {short(column)}",
        labels_are_classes=labels_are_classes,
    )
    class_of = np.full(len(words), -1, "<i4")
    class_of[[words[word] for word in real]] = encoded.labels[some.size - len(real) :]
    for at in range(0, codes.size, BATCH):
        codes[at : at + BATCH] = class_of[codes[at : at + BATCH]]
    return codes, encoded.names


def _whole(cells: Any) -> Any:
    """Return labels that are whole numbers in a column of floats as integers."""
    if not pa.types.is_floating(cells.type):
        return cells
    values = cells.drop_null().to_numpy(zero_copy_only=False)
    is_whole = bool((np.isfinite(values) & (values == np.floor(values))).all())
    return cells.cast(pa.int64()) if is_whole else cells


def table_of(path: Path, delimiter: str | None, has_header: bool | None) -> BigTable:
    """Open a table of any size."""
    names = {"tab": "\t", "space": " "}
    given = None if delimiter is None else names.get(delimiter, delimiter)
    return BigTable(path, given, has_header is not False)
