"""Raw arrays as files: flushed, renamed into place, with their checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heterophily.data.atomic import atomic_path
from heterophily.data.disk.manifest import FileEntry
from heterophily.errors import InputError

_BLOCK = 8 * 2**20
_LARGEST_BFLOAT16 = 3.3895e38


class HashedFile:
    """A file that is written in pieces, and the checksum of what was written."""

    def __init__(self, path: Path) -> None:
        self._digest = hashlib.sha256()
        self._stream = open(path, "wb", buffering=0)  # noqa: SIM115  # closed by close()

    def write(self, values: NDArray[Any]) -> None:
        """Append the bytes of an array."""
        if not values.size:
            return
        view = np.ascontiguousarray(values).data.cast("B")
        self._digest.update(view)
        while view:  # one write takes at most 2 GB
            view = view[self._stream.write(view) :]

    def close(self) -> None:
        """Close the file, so that it can be flushed and take its name."""
        self._stream.close()

    def __enter__(self) -> HashedFile:
        """Return the file; it is closed at the end of the block."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the file."""
        self.close()

    @property
    def sha256(self) -> str:
        """The checksum."""
        return self._digest.hexdigest()


def write_blocks(path: Path, blocks: Iterable[NDArray[Any]]) -> FileEntry:
    """Write arrays one after the other as raw bytes; the file appears whole or not at all."""
    with atomic_path(path) as temporary, HashedFile(temporary) as file:
        for block in blocks:
            file.write(block)
    return FileEntry(path.name, file.sha256)


def file_sha256(path: Path) -> str:
    """Return the checksum of a file."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def mapped(path: Path, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a file as a read-only array without reading it."""
    if 0 in shape:  # an empty file cannot be mapped
        return np.empty(shape, dtype)
    return np.memmap(path, dtype=dtype, mode="r", shape=shape)


def encoded(values: NDArray[Any], dtype: str, names: Sequence[str]) -> NDArray[Any]:
    """Return a block of features, (n, F), as the file holds them; refuse what it cannot hold."""
    limit = np.finfo(np.float32).max if dtype == "float32" else _LARGEST_BFLOAT16
    if values.size and (values.max() > limit or values.min() < -limit):
        row, column = np.argwhere(np.abs(values) > limit)[0]
        raise InputError(
            f"the feature {names[column]!r} holds {values[row, column]:g}, and features on disk "
            "are at most 3.4e38 in size (float32); divide the column by a number first"
        )
    return values.astype("<f4") if dtype == "float32" else to_bfloat16(values)


def to_bfloat16(values: NDArray[Any]) -> NDArray[np.uint16]:
    """Return float values as the bits of bfloat16, rounded to the nearest (ties to even).

    >>> to_bfloat16(np.array([1.0, -2.5]))
    array([16256, 49184], dtype=uint16)
    """
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return np.asarray(rounded >> np.uint32(16), np.uint16)


def from_bfloat16(bits: NDArray[Any]) -> NDArray[np.float32]:
    """Return the float32 values of bfloat16 bits; exact.

    >>> from_bfloat16(to_bfloat16(np.array([1.0, -2.5]))).tolist()
    [1.0, -2.5]
    """
    wide: NDArray[np.uint32] = np.asarray(bits, np.uint16).astype(np.uint32)
    wide <<= np.uint32(16)
    return wide.view(np.float32)
