"""SNAP's ``deezer_europe.zip`` (FEATHER) and the splits of Lim et al."""

from __future__ import annotations

import json
import zipfile
import zlib
from pathlib import Path, PurePosixPath

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from heterophily.data.pieces import Pieces
from heterophily.data.readers.safe_pickle import load_object_array
from heterophily.data.splits import Split, SplitBatch
from heterophily.errors import InputError

ARCHIVE, SPLITS = "deezer_europe.zip", "deezer-europe-splits.npy"
EDGES, FEATURES, TARGET = (
    f"deezer_europe_{part}" for part in ("edges.csv", "features.json", "target.csv")
)
LIMIT_BYTES = 2**28  # the real members have 1 to 8 MB
SPLIT_KEYS = ("train", "valid", "test")


def read_deezer(folder: Path) -> Pieces:
    """Read the archive (edges, artists that each user likes, gender) and, if there, the splits."""
    archive = folder / ARCHIVE
    texts = read_zip_texts(archive, (EDGES, FEATURES, TARGET))
    target = _table(texts[TARGET], f"{archive}: {TARGET}", ("id", "target"))
    num_nodes = target.shape[0]
    labels = np.full(num_nodes, -1, np.int64)
    if not np.array_equal(np.sort(target[:, 0]), np.arange(num_nodes)):
        raise InputError(f"{archive}: {TARGET} must list every user 0 .. {num_nodes - 1} once")
    labels[target[:, 0]] = target[:, 1]
    edges = _table(texts[EDGES], f"{archive}: {EDGES}", ("node_1", "node_2"))
    if edges.size and (edges.min() < 0 or edges.max() >= num_nodes):
        row = int(np.flatnonzero(((edges < 0) | (edges >= num_nodes)).any(axis=1))[0])
        raise InputError(
            f"{archive}: {EDGES}, line {row + 2} names a user outside 0 .. {num_nodes - 1}"
        )
    splits = folder / SPLITS
    return Pieces(
        edge_index=edges.T,
        labels=labels,
        features=_features(texts[FEATURES], f"{archive}: {FEATURES}", num_nodes),
        split_sets={"fixed": _splits(splits, num_nodes)} if splits.is_file() else {},
        name="deezer-europe",
        is_directed=False,
    )


def read_zip_texts(path: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Return text members of a zip by file name, whatever folder of the archive they are in.

    Nothing is unpacked to the disk; an archive with a member that would leave the folder, or one
    that claims an absurd size, is refused.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {}
            for member in archive.infolist():
                parts = PurePosixPath(member.filename.replace("\\", "/"))
                if parts.is_absolute() or ".." in parts.parts or ":" in member.filename:
                    raise InputError(
                        f"{path}: member {member.filename!r} lies outside the archive's folder; "
                        "the file is refused"
                    )
                members[parts.name] = member
            texts = {}
            for name in names:
                if name not in members:
                    raise InputError(f"{path} has no member {name!r}")
                if members[name].file_size > LIMIT_BYTES:
                    raise InputError(
                        f"{path}: member {name!r} says it unpacks to "
                        f"{members[name].file_size:,} bytes; the file is refused"
                    )
                texts[name] = archive.read(members[name]).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: a member is not UTF-8 text") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path} is damaged or not a zip archive; get it again") from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    return texts


def _table(text: str, place: str, header: tuple[str, str]) -> NDArray[np.int64]:
    """Return the (rows, 2) whole numbers of a CSV text with this header."""
    lines = text.split()
    if not lines or tuple(lines[0].split(",")) != header:
        raise InputError(f"{place}: the first line must be {','.join(header)!r}")
    rows = [line.split(",") for line in lines[1:]]
    for number, row in enumerate(rows, start=2):
        if len(row) != 2 or not all(value.isdecimal() and len(value) < 16 for value in row):
            raise InputError(f"{place}, line {number}: expected two whole numbers, got {row}")
    return np.array(rows, np.int64).reshape(-1, 2)


def _features(text: str, place: str, num_nodes: int) -> sp.csr_array:
    """Return (N, largest number + 1), 1 where a user likes an artist; users may be missing."""
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is not JSON ({str(error).splitlines()[0]})") from error
    if not isinstance(listed, dict):
        raise InputError(f"{place} must map each user to a list of feature numbers")
    rows, columns = [], []
    for user, numbers in listed.items():
        is_user = user.isdecimal() and len(user) < 16 and int(user) < num_nodes
        is_list = isinstance(numbers, list) and all(
            type(number) is int and 0 <= number < 10**7 for number in numbers
        )
        if not (is_user and is_list):
            raise InputError(f"{place}: entry {user!r} is not a user with feature numbers")
        rows += [int(user)] * len(numbers)
        columns += numbers
    shape = (num_nodes, 1 + max(columns, default=-1))
    matrix = sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape)
    matrix.data[:] = 1  # an artist listed twice is liked once
    return matrix


def _splits(path: Path, num_nodes: int) -> SplitBatch:
    """Read the object array of dictionaries of node numbers."""
    splits = []
    for index, entry in enumerate(load_object_array(path).tolist()):
        if not isinstance(entry, dict) or not set(SPLIT_KEYS) <= entry.keys():
            raise InputError(f"{path}: split {index} has no parts {', '.join(SPLIT_KEYS)}")
        parts = [np.asarray(entry[key]) for key in SPLIT_KEYS]
        try:
            splits.append(Split.from_parts(*parts, num_nodes=num_nodes))
        except InputError as error:
            raise InputError(f"{path}: split {index}: {error}") from error
    try:
        return SplitBatch.stack(splits)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
