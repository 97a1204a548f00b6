"""The manifest of a graph on disk: what the folder holds, with a checksum of every file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heterophily.data.atomic import write_text
from heterophily.data.toml_file import read_text
from heterophily.errors import InputError

FORMAT, VERSION, MANIFEST = "heterophily-disk", 1, "manifest.json"
SPARSE_VERSION = 2
"""Version of folders with sparse features; all others keep version 1."""

WIDEST_PANEL = 16  # columns of one feature panel
_LARGEST_MANIFEST = 256 * 2**20
_ITEM_BYTES = {"float32": 4, "bfloat16": 2}
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of the folder."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class PartEntry:
    """The rows ``first .. last - 1`` of the adjacency matrix, as two files."""

    first: int
    last: int
    indptr: FileEntry
    indices: FileEntry


@dataclass(frozen=True, slots=True)
class PanelEntry:
    """The feature columns ``first .. last - 1``, as one file."""

    first: int
    last: int
    file: FileEntry


@dataclass(frozen=True, slots=True)
class SparseEntry:
    """The nonzeros of sparse features, row by row, as three files."""

    num_entries: int
    indptr: FileEntry
    indices: FileEntry
    values: FileEntry


@dataclass(frozen=True, slots=True)
class FeatureEntry:
    """The features: how many, of which type, under which names, in which panels or sparse."""

    num_columns: int
    dtype: str  # float32 or bfloat16
    names: tuple[str, ...]
    panels: tuple[PanelEntry, ...]
    sparse: SparseEntry | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a graph folder holds; written last, so a folder without it is unfinished."""

    num_nodes: int
    num_entries: int
    is_directed: bool
    classes: tuple[str, ...] | None
    parts: tuple[PartEntry, ...]
    reverse_parts: tuple[PartEntry, ...] = ()
    labels: FileEntry | None = None
    ids: FileEntry | None = None
    features: FeatureEntry | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)  # what the importer counted

    @property
    def index_dtype(self) -> str:
        """The type of the neighbour numbers."""
        return "<u4" if self.num_nodes < 2**32 else "<i8"

    def files(self) -> dict[str, tuple[str, int | None]]:
        """Return each file with its checksum and its size in bytes (None: not known)."""
        found: dict[str, tuple[str, int | None]] = {}
        for part in (*self.parts, *self.reverse_parts):
            found[part.indptr.name] = (part.indptr.sha256, 8 * (part.last - part.first + 1))
            found[part.indices.name] = (part.indices.sha256, None)
        if self.labels is not None:
            found[self.labels.name] = (self.labels.sha256, 4 * self.num_nodes)
        if self.ids is not None:
            found[self.ids.name] = (self.ids.sha256, None)
        if self.features is not None:
            size = _ITEM_BYTES[self.features.dtype] * self.num_nodes
            for panel in self.features.panels:
                width = panel.last - panel.first
                found[panel.file.name] = (panel.file.sha256, size * width)
            if (rows := self.features.sparse) is not None:
                found[rows.indptr.name] = (rows.indptr.sha256, 8 * (self.num_nodes + 1))
                for entry in (rows.indices, rows.values):
                    found[entry.name] = (entry.sha256, 4 * rows.num_entries)
        return found


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest of a folder whose files are all in place and flushed to the disk."""
    values = _as_json(manifest)
    values["sha256"] = _own_sha256(values)
    write_text(folder / MANIFEST, json.dumps(values, indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a graph folder."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; a graph on disk is a folder")
    try:
        values = json.loads(read_text(path, most=_LARGEST_MANIFEST))
    except FileNotFoundError:
        raise InputError(
            f"{folder} has no {MANIFEST}: it is not a graph on disk, or its conversion was not "
            "finished; run the same convert command again"
        ) from None
    except InputError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}") from None
    try:
        return _from_json(values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = error if isinstance(error, InputError) else f"{type(error).__name__} {error}"
        raise InputError(f"{path} is damaged or not of this format: {what}") from None


def _own_sha256(values: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in values.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _as_json(manifest: Manifest) -> dict[str, Any]:
    def parts(entries: tuple[PartEntry, ...]) -> list[dict[str, Any]]:
        return [
            {
                "rows": [entry.first, entry.last],
                "indptr": entry.indptr.name,
                "indices": entry.indices.name,
                "sha256": {"indptr": entry.indptr.sha256, "indices": entry.indices.sha256},
            }
            for entry in entries
        ]

    values: dict[str, Any] = {
        "format": FORMAT,
        "version": SPARSE_VERSION if _is_sparse(manifest.features) else VERSION,
        "num_nodes": manifest.num_nodes,
        "num_entries": manifest.num_entries,
        "is_directed": manifest.is_directed,
        "classes": None if manifest.classes is None else list(manifest.classes),
        "parts": parts(manifest.parts),
    }
    if manifest.is_directed:
        values["reverse_parts"] = parts(manifest.reverse_parts)
    for key, entry in (("labels", manifest.labels), ("ids", manifest.ids)):
        if entry is not None:
            values[key] = {"file": entry.name, "sha256": entry.sha256}
    if manifest.features is not None:
        of = manifest.features
        values["features"] = {
            "num_columns": of.num_columns,
            "dtype": of.dtype,
            "names": list(of.names),
            "panels": [
                {
                    "columns": [panel.first, panel.last],
                    "file": panel.file.name,
                    "sha256": panel.file.sha256,
                }
                for panel in of.panels
            ],
        }
        if of.sparse is not None:
            values["features"]["sparse"] = {
                "num_entries": of.sparse.num_entries,
                **{
                    key: {"file": entry.name, "sha256": entry.sha256}
                    for key, entry in _files_of(of.sparse).items()
                },
            }
    if manifest.notes:
        values["notes"] = dict(manifest.notes)
    return values


def _from_json(values: Any) -> Manifest:
    if values["format"] != FORMAT:
        raise InputError(f"its format is {values['format']!r}, expected {FORMAT!r}")
    if values["version"] not in (VERSION, SPARSE_VERSION):
        raise InputError(
            f"it has version {values['version']!r}, this program reads up to {SPARSE_VERSION}; "
            "use the version of heterophily that wrote it, or convert again"
        )
    if values["sha256"] != _own_sha256(values):
        raise InputError("its checksum does not agree with its content")
    num_nodes, num_entries = _count(values["num_nodes"]), _count(values["num_entries"])
    is_directed = values["is_directed"]
    if not isinstance(is_directed, bool):
        raise InputError("is_directed must be true or false")
    classes = values["classes"]
    return Manifest(
        num_nodes=num_nodes,
        num_entries=num_entries,
        is_directed=is_directed,
        classes=None if classes is None else tuple(str(name) for name in classes),
        parts=_parts(values["parts"], num_nodes),
        reverse_parts=_parts(values["reverse_parts"], num_nodes) if is_directed else (),
        labels=_file(values["labels"]) if values.get("labels") else None,
        ids=_file(values["ids"]) if values.get("ids") else None,
        features=_features(values["features"]) if values.get("features") else None,
        notes=dict(values.get("notes") or {}),
    )


def _is_sparse(features: FeatureEntry | None) -> bool:
    return features is not None and features.sparse is not None


def _files_of(entry: SparseEntry) -> dict[str, FileEntry]:
    return {"indptr": entry.indptr, "indices": entry.indices, "values": entry.values}


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        raise InputError(f"{value!r} is not a count")
    return value


def _range(value: Any) -> tuple[int, int]:
    first, last = value
    return _count(first), _count(last)


def _entry(name: Any, sha256: Any) -> FileEntry:
    if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
        raise InputError(f"{name!r} is not the plain name of a file in the folder")
    if not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):
        raise InputError(f"the checksum of {name} is not a sha256")
    return FileEntry(name, sha256)


def _file(value: Mapping[str, Any]) -> FileEntry:
    return _entry(value["file"], value["sha256"])


def _ranges(pairs: list[tuple[int, int]], end: int, what: str) -> None:
    """Check that ranges follow each other without a gap from 0 to ``end``."""
    at = 0
    for first, last in pairs:
        if first != at or last <= first:
            raise InputError(f"{what} {first} to {last} do not continue at {at}")
        at = last
    if at != end:
        raise InputError(f"{what} end at {at}, expected {end}")


def _parts(values: list[Any], num_nodes: int) -> tuple[PartEntry, ...]:
    entries = tuple(
        PartEntry(
            *_range(value["rows"]),
            _entry(value["indptr"], value["sha256"]["indptr"]),
            _entry(value["indices"], value["sha256"]["indices"]),
        )
        for value in values
    )
    _ranges([(entry.first, entry.last) for entry in entries], num_nodes, "rows")
    return entries


def _features(value: Mapping[str, Any]) -> FeatureEntry:
    num_columns, dtype = _count(value["num_columns"]), value["dtype"]
    if dtype not in _ITEM_BYTES:
        raise InputError(f"features of type {dtype!r}; known: {', '.join(_ITEM_BYTES)}")
    names = tuple(str(name) for name in value["names"])
    if len(names) != num_columns:
        raise InputError(f"{len(names)} names for {num_columns} feature columns")
    panels = tuple(PanelEntry(*_range(panel["columns"]), _file(panel)) for panel in value["panels"])
    if (given := value.get("sparse")) is not None:
        files = (_file(given[key]) for key in ("indptr", "indices", "values"))
        sparse = SparseEntry(_count(given["num_entries"]), *files)
        if panels or dtype != "float32":
            raise InputError("sparse features are float32 and have no panels")
        return FeatureEntry(num_columns, dtype, names, (), sparse)
    _ranges([(panel.first, panel.last) for panel in panels], num_columns, "columns")
    if any(panel.last - panel.first > WIDEST_PANEL for panel in panels):
        raise InputError(f"a panel has more than {WIDEST_PANEL} columns")
    return FeatureEntry(num_columns, dtype, names, panels)
