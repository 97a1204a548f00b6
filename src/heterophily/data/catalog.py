"""Datasets by name: where each is found, and the check that it is the right one."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from heterophily.data.adjacency import Direction, SelfLoops
from heterophily.data.datasets import DATASETS, Dataset
from heterophily.data.graph import Graph
from heterophily.data.npz import read_pieces, write_pieces
from heterophily.data.npz_fields import SPLIT_FIELDS
from heterophily.data.pieces import Pieces
from heterophily.data.splits import PARTS, SplitBatch, random_splits
from heterophily.errors import DataNotFoundError, InputError, MemoryLimitError, lookup

__all__ = ["DATASETS", "Dataset", "cache_folder", "check", "find", "load", "split_sets"]

FOLDER_VARIABLE = "HETEROPHILY_DATA"
DOWNLOADS = ".downloads.json"  # checksums of downloaded files, in the cache


def load(
    name: str,
    *,
    data_folder: str | os.PathLike[str] | None = None,
    offline: bool = False,
    direction: Direction = "drop",
    self_loops: SelfLoops = "remove",
    fill_unlabelled: int | None = None,
    progress: bool = False,
    mirror: str | None = None,
) -> Graph:
    """Return a dataset by name; its content is checked.

    The file ``<name>.npz`` is looked for in ``data_folder``, then in the folder that the
    environment variable ``HETEROPHILY_DATA`` names, then in the user's cache. Found nowhere, it
    is made from the public files and kept in the cache, unless ``offline``.

    >>> load("davis")
    Graph('davis', nodes=32, edges=89, features=0, classes=2)
    """
    dataset = lookup(DATASETS, "dataset", name)
    pieces, checked = _load(dataset, data_folder, offline, progress, mirror)
    if (direction, self_loops, fill_unlabelled) == ("drop", "remove", None):
        return checked
    return pieces.graph(direction=direction, self_loops=self_loops, fill_unlabelled=fill_unlabelled)


def split_sets(
    name: str,
    *,
    data_folder: str | os.PathLike[str] | None = None,
    offline: bool = False,
    fill_unlabelled: int | None = None,
    progress: bool = False,
    mirror: str | None = None,
) -> dict[str, SplitBatch]:
    """Return all fixed splits of a dataset: ``"fixed"``, and ``"public"`` for Planetoid's own."""
    dataset = lookup(DATASETS, "dataset", name)
    pieces, _ = _load(dataset, data_folder, offline, progress, mirror)
    return pieces.usable_split_sets(fill_unlabelled)[0]


def cache_folder() -> Path:
    """Return the folder in which downloaded datasets are kept."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("heterophily"))


def find(name: str, data_folder: str | os.PathLike[str] | None = None) -> tuple[str, Path | None]:
    """Say where a dataset is: ``"embedded"``, ``"folder"``, ``"cache"`` or ``"to download"``."""
    dataset = lookup(DATASETS, "dataset", name)
    if dataset.embedded is not None:
        return "embedded", None
    for place, folder in _folders(data_folder):
        if (path := folder / dataset.file_name).is_file():
            return place, path
    return "to download", None


def check(pieces: Pieces, dataset: Dataset, *, place: str, remedy: str) -> Graph:
    """Return the default graph of ``pieces`` if it is the declared one; else say what differs."""
    try:
        graph = pieces.graph()
    except MemoryLimitError:
        raise
    except InputError as error:
        raise InputError(f"{place}: {error}; {remedy}") from error
    sets = {key: len(batch) for key, batch in pieces.split_sets.items()}
    facts = (
        ("nodes", dataset.nodes, graph.num_nodes),
        ("edges", dataset.edges, graph.num_edges),
        ("features", dataset.features, graph.num_features),
        ("classes", dataset.classes, graph.num_classes),
        *((f"{key} splits", dataset.splits.get(key, 0), sets.get(key, 0)) for key in SPLIT_FIELDS),
    )
    for fact, expected, found in facts:
        if expected != found:
            raise InputError(
                f"{place}: dataset {dataset.name!r} should have {expected:,} {fact}, found "
                f"{found:,}; {remedy}"
            )
    hashes = (
        ("content hash", dataset.content_hash, graph.content_hash),
        ("hash of the splits", dataset.splits_hash, splits_hash(pieces.split_sets)),
    )
    for fact, wanted, got in hashes:
        if wanted is not None and wanted != got:
            raise InputError(
                f"{place}: dataset {dataset.name!r} has the declared counts but {fact} "
                f"{str(got)[:16]} instead of {str(wanted)[:16]}: it is another variant or was "
                f"changed; {remedy}"
            )
    return graph


def splits_hash(sets: Mapping[str, SplitBatch]) -> str | None:
    """Return the sha256 of split sets as they stand in the file (``None`` without any)."""
    if not sets:
        return None
    digest = hashlib.sha256(b"heterophily splits 1")
    for key in sorted(sets):
        for part in PARTS:
            masks = getattr(sets[key], part)
            digest.update(f"|{key} {part} {masks.shape}|".encode())
            digest.update(np.packbits(masks, axis=1).tobytes())
    return digest.hexdigest()


# --- finding, reading, making -----------------------------------------------------------------


def _folders(data_folder: str | os.PathLike[str] | None) -> list[tuple[str, Path]]:
    """Return the folders to look in, in order; a folder that was asked for must exist."""
    asked = {
        "data_folder": data_folder,
        f"the environment variable {FOLDER_VARIABLE}": os.environ.get(FOLDER_VARIABLE) or None,
    }
    folders = []
    for who, folder in asked.items():
        if folder is None:
            continue
        if not Path(folder).is_dir():
            raise InputError(f"{who} names {str(folder)!r}, which is not a folder")
        folders.append(("folder", Path(folder)))
    return [*folders, ("cache", cache_folder())]


def _load(
    dataset: Dataset,
    data_folder: str | os.PathLike[str] | None,
    offline: bool,
    progress: bool,
    mirror: str | None,
) -> tuple[Pieces, Graph]:
    if dataset.embedded is not None:
        pieces = dataset.embedded()
        remedy = "install the version of the package that constraints name"
        return pieces, check(pieces, dataset, place=dataset.origin, remedy=remedy)
    _, path = find(dataset.name, data_folder)
    if path is None:
        return _download(dataset, offline, progress, mirror)
    pieces = _named(dataset, read_pieces(path))
    remedy = f"move the file away and run: heterophily data fetch {dataset.name}"
    return pieces, check(pieces, dataset, place=str(path), remedy=remedy)


def _named(dataset: Dataset, pieces: Pieces) -> Pieces:
    is_directed = False if dataset.lists_edges_once else pieces.is_directed
    sets = pieces.split_sets
    if dataset.drawn and not sets and pieces.labels is not None:
        drawn = random_splits(pieces.labels.astype(np.int64), repeats=dataset.drawn, seed=0)
        sets = {"fixed": drawn}
    return replace(pieces, name=dataset.name, is_directed=is_directed, split_sets=sets)


def _download(
    dataset: Dataset, offline: bool, progress: bool, mirror: str | None
) -> tuple[Pieces, Graph]:
    """Make the dataset from the public files, check it, keep it in the cache."""
    from heterophily.data.download import fetch_files, remember

    assert dataset.source is not None
    cache = cache_folder()
    advice = f"put {dataset.file_name} into {cache} or into the folder that {FOLDER_VARIABLE} names"
    if offline:
        raise DataNotFoundError(
            f"dataset {dataset.name!r} is not on this machine and offline mode forbids the "
            f"download; {advice}"
        )
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as folder:
            try:
                sums = fetch_files(
                    dataset.source.files,
                    Path(folder),
                    mirror=mirror,
                    progress=progress,
                    known=cache / DOWNLOADS,
                )
            except DataNotFoundError as error:
                raise DataNotFoundError(
                    f"dataset {dataset.name!r} is not on this machine: {error}; check the network, "
                    f"or {advice}"
                ) from error
            pieces = _named(dataset, dataset.source.read(Path(folder)))
    except OSError as error:
        if isinstance(error, DataNotFoundError):
            raise
        raise InputError(f"cannot write into {cache}: {error.strerror or error}") from error
    remedy = f"the public files have changed: {advice}"
    graph = check(pieces, dataset, place="downloaded files", remedy=remedy)
    write_pieces(pieces, cache / dataset.file_name)
    remember(sums, cache / DOWNLOADS)
    return pieces, graph
