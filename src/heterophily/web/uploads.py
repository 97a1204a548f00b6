"""Files of strangers: saved under names that we choose, within limits, and then read by a task.

The name that a client gives a file serves to recognise its kind and to be shown. It never becomes
a path.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from heterophily.data.source import FILE_KINDS
from heterophily.data.wording import safe_name
from heterophily.errors import InputError
from heterophily.web.refusal import RefusedError
from heterophily.web.settings import WebSettings

TEXT = (".csv", ".tsv", ".tab", ".txt", ".edges", ".edgelist")
TABLES = (*TEXT, ".parquet", ".jsonl")
GRAPHS = tuple(ending for ending, kind in FILE_KINDS.items() if kind != "recipe")
ROLES = {"edges": TABLES, "nodes": TABLES, "graph": GRAPHS}
"""What a file may be, and how its name may then end."""

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Saved:
    """A saved file: its name in the folder, and that of the client without its ending."""

    name: str
    title: str


def save(role: str, client_name: str, stream: BinaryIO, folder: Path, limits: WebSettings) -> Saved:
    """Write a file of a client into a folder as ``edges``, ``nodes`` or ``graph`` and its ending.

    Packed text (``.gz``) is unpacked. Too many bytes or lines are refused while they arrive.
    """
    title, suffix, is_packed = recognise(role, client_name)
    target = folder / f"{role}{suffix}"
    chunks = _unpacked(stream, target.name) if is_packed else _chunks(stream)
    size = lines = 0
    with target.open("xb") as out:
        for chunk in chunks:
            size += len(chunk)
            lines += chunk.count(b"\n") if suffix in TEXT else 0
            if size > (limits.max_unpacked_bytes if is_packed else limits.max_upload_bytes):
                raise RefusedError(
                    413, f"{target.name} is too large; the limit is {_limit(limits)}"
                )
            if lines > limits.max_rows:
                raise RefusedError(
                    413,
                    f"{target.name} has more than {limits.max_rows:,} lines; use the command line "
                    "for tables of this size",
                )
            out.write(chunk)
    return Saved(target.name, title)


def recognise(role: str, client_name: str) -> tuple[str, str, bool]:
    """Return a harmless title, the ending, and whether the file is packed.

    >>> recognise("edges", "../../my edges.CSV.gz")
    ('my-edges', '.csv', True)
    """
    last = client_name.replace("\\", "/").rpartition("/")[2].lower()
    is_packed = last.endswith(".gz")
    stem, dot, ending = last.removesuffix(".gz").rpartition(".")
    suffix = f"{dot}{ending}"
    if suffix not in ROLES[role] or (is_packed and suffix not in TEXT):
        raise InputError(
            f"{safe_name(last)!r} is not a file that can be {'the ' + role!s}: "
            f"its name ends in {', '.join(ROLES[role])}"
        )
    return safe_name(stem), suffix, is_packed


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk


def _unpacked(stream: BinaryIO, name: str) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
            while chunk := unpacked.read(_CHUNK):
                yield chunk
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name}.gz is damaged or not packed by gzip ({error})") from error


def _limit(limits: WebSettings) -> str:
    return f"{limits.max_upload_mb} MB (packed text: {10 * limits.max_upload_mb} MB unpacked)"
