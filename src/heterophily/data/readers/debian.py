"""Debian's package index (a ``Packages`` file): packages, what they ask for, and their section."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from heterophily.data.pieces import Pieces
from heterophily.data.splits import random_splits
from heterophily.errors import InputError

RELATIONS = ("Depends", "Pre-Depends", "Recommends", "Suggests", "Enhances")
"""Fields whose packages become edges; the field is the type of the edge."""

WORD_COLUMNS = 4096
SMALLEST_SECTION = 20
"""Packages of smaller sections have no label."""

_OPEN: Mapping[str, Callable[..., Any]] = {
    ".xz": lzma.open,
    ".gz": gzip.open,
    ".bz2": bz2.open,
}
_NAME = re.compile(r"\s*([a-z0-9][a-z0-9+.\-]*)")
_WORD = re.compile(r"[a-z0-9]+")
_KEPT = {"package", "section", "description", *(name.lower() for name in RELATIONS)}


def read_debian(path: Path, *, smallest: int = SMALLEST_SECTION) -> Pieces:
    """Read a ``Packages`` file, plain or ``.xz``, ``.gz``, ``.bz2``, as a directed typed graph.

    Node: package (of several versions the first). Edge: from a package to each one that it names
    under a field of :data:`RELATIONS`, alternatives (``a | b``) included; names that are no package
    of the file (virtual ones, other architectures) are left out. Features: the words of the
    one-line description, hashed to 4,096 columns by CRC-32. Label: the section; sections with
    fewer than ``smallest`` packages give none. Ten stratified 60/20/20 splits, drawn with seed 0.
    """
    packages: dict[str, Mapping[str, str]] = {}
    for entry in _entries(path):
        if "package" not in entry:
            raise InputError(f"{path}: a paragraph has no field Package; is it a Packages file?")
        packages.setdefault(entry["package"], entry)
    if not packages:
        raise InputError(f"{path}: there is no package in it; is it a Packages file?")
    number = {name: place for place, name in enumerate(packages)}
    sections = [entry.get("section", "") for entry in packages.values()]
    sizes = Counter(sections)
    names = sorted(name for name, size in sizes.items() if name and size >= smallest)
    if len(names) < 2:
        raise InputError(
            f"{path}: {len(names)} sections have {smallest} packages or more; classes need two"
        )
    code = {name: place for place, name in enumerate(names)}
    labels = np.array([code.get(section, -1) for section in sections], np.int64)
    edges, types, missing = _edges(packages, number)
    remark = f"{missing:,} names of packages that the file does not hold were left out"
    return Pieces(
        edge_index=edges,
        edge_type=types,
        type_names=tuple(name.lower() for name in RELATIONS),
        labels=labels,
        class_names=tuple(names),
        features=_words([entry.get("description", "") for entry in packages.values()]),
        node_ids=np.array(list(packages), np.str_),
        split_sets={"fixed": random_splits(labels, repeats=10, seed=0)},
        name="debian",
        is_directed=True,
        remarks=(remark,) if missing else (),
    )


def _entries(path: Path) -> Iterator[dict[str, str]]:
    """Yield the fields of each paragraph that are of use, by lower-case name, first lines only."""
    try:
        with _OPEN.get(path.suffix, open)(path, "rt", encoding="utf-8") as lines:
            entry: dict[str, str] = {}
            last = ""
            for line in lines:
                if not line.strip():
                    if entry:
                        yield entry
                    entry, last = {}, ""
                elif line[0] in " \t":
                    if last and last != "description":  # a folded list of packages
                        entry[last] += line.rstrip("\n")
                else:
                    key, colon, value = line.partition(":")
                    if not colon:
                        raise InputError(
                            f"{path}: {line.strip()[:60]!r} is not a field of a Packages file"
                        )
                    last = key.lower() if key.lower() in _KEPT else ""
                    if last:
                        entry[last] = value.strip()
            if entry:
                yield entry
    except (EOFError, lzma.LZMAError, zlib.error, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is damaged or no Packages file ({error}); get it again"
        ) from error
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error


def _edges(
    packages: Mapping[str, Mapping[str, str]], number: Mapping[str, int]
) -> tuple[Any, Any, int]:
    """Return edges (2, E), their types (E,), and how many names no package has."""
    found: set[tuple[int, int, int]] = set()
    missing = 0
    for source, entry in enumerate(packages.values()):
        for kind, field in enumerate(RELATIONS):
            for text in re.split(r"[,|]", entry.get(field.lower(), "")):
                name = _NAME.match(text)
                if name is None:
                    continue
                target = number.get(name[1])
                if target is None:
                    missing += 1
                elif target != source:
                    found.add((source, target, kind))
    rows = np.array(sorted(found), np.int64).reshape(-1, 3)
    return rows[:, :2].T, rows[:, 2], missing


def _words(descriptions: list[str]) -> sp.csr_array:
    """Return which hashed words each description has, (N, 4096) of ones."""
    columns: list[list[int]] = []
    for text in descriptions:
        words = {zlib.crc32(word.encode()) % WORD_COLUMNS for word in _WORD.findall(text.lower())}
        columns.append(sorted(words))
    indptr = np.cumsum([0, *map(len, columns)])
    indices = np.fromiter((place for row in columns for place in row), np.int32, int(indptr[-1]))
    shape = (len(columns), WORD_COLUMNS)
    return sp.csr_array((np.ones(indices.size, np.float32), indices, indptr), shape=shape)
